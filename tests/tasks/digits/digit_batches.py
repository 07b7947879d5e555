"""What the tests of tasks on digits share: batches, the labels behind pictures, readers that cannot err."""

import functools
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from nalm.data import load_digits
from nalm.models import ModelSpec
from nalm.recipes import StepState
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks.sampling import stacked

NOW = StepState(torch.zeros(1), torch.zeros(1))
LARGEST = 1 - 2.0**-24
"""The largest uniform number in float32."""
SMALLEST = 2.0**-24
_FOLDER = Path(os.environ.get("NALM_DATA") or "/no/such/folder")
needs_mnist = pytest.mark.skipif(
    not [*_FOLDER.glob("train-images-idx3-ubyte*"), *_FOLDER.glob("mnist/train-images-idx3-ubyte*")],
    reason="the files of MNIST are not in the folder that NALM_DATA names",
)


def uniforms(task, split="train", n=8, seed=0, dtype=torch.float32):
    """Uniform numbers for `n` samples of one run, `1 x draws x n`."""
    stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.DATA, 3)
    return uniform(stream, counters(task.draws_in(split), n), dtype)


def numbers_of(task, split="train", seed=0, *, evaluating=False, dtype=torch.float32):
    """The numbers and constants of a split as a program has them, in evaluation with the block."""
    held = {**stacked([task.numbers(seed, split)], dtype), **task.constants(split)}
    return {**held, "block": torch.zeros(1, dtype=torch.int32)} if evaluating else held


def batch(task, split="train", n=8, seed=0, *, evaluating=False, dtype=torch.float32):
    """One batch of one run."""
    numbers = numbers_of(task, split, seed, evaluating=evaluating, dtype=dtype)
    return task.batch(uniforms(task, split, n, seed, dtype), numbers)


@functools.cache
def _labels():
    sets = load_digits("drawn")
    return {
        image.tobytes(): int(label)
        for part in (sets.train, sets.test)
        for image, label in zip(part.images.numpy(), part.labels)
    }


def label_of(picture):
    """The label of a drawn digit that is shown with brightness from 0 to 1."""
    return _labels()[(picture.double() * 255).round().to(torch.uint8).numpy().tobytes()]


def labels_of(pictures):
    """The labels of pictures `... x 28 x 28`, as numpy has them."""
    flat = pictures.reshape(-1, 28, 28)
    return np.array([label_of(each) for each in flat]).reshape(pictures.shape[:-2])


class KnowingReader(nn.Module):
    """Reads every drawn digit rightly: as one number, or as a one-hot vector of ten."""

    def __init__(self, values=1):
        super().__init__()
        self.values = values

    def forward(self, images):
        labels = torch.from_numpy(labels_of(images)).to(images.device)
        hot = nn.functional.one_hot(labels, 10) if self.values == 10 else labels[:, None]
        return hot.to(images.dtype)


def built(task, model):
    """The network of a task with a model that is given by name in it."""
    return task.network(ModelSpec.parse(model).build(*task.unit_features))


def predictor(network):
    """What applies a network to inputs with the leading axis of one model."""

    def predict(x):
        inputs = x if isinstance(x, tuple) else (x,)
        return network(*(each[0] for each in inputs))[None]

    return predict


def errors_of(task, network, split="test", n=20, seed=0, dtype=torch.float32):
    """The errors of a network on `n` samples of a split, by the names of the measures."""
    numbers = numbers_of(task, split, seed, evaluating=True, dtype=dtype)
    with torch.no_grad():
        totals = task.totals(predictor(network.eval()), uniforms(task, split, n, seed, dtype), numbers)
    return {
        measure.name: (total[0] / (n * measure.per_sample(task.target_shape))).numpy()
        for measure, total in zip(task.measures, totals, strict=True)
    }
