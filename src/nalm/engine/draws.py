"""Random numbers inside a batch's programs: counters, keys made one step ahead, the noise of units."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from nalm.engine.program import Tensors
from nalm.streams import Key, Purpose, counters, key, uniform


@functools.lru_cache(maxsize=64)
def elements_of(draws: int, samples: int, device: torch.device) -> Tensor:
    """The counters of a block of samples, `draws x samples`."""
    return counters(draws, samples, device=device)


def unit_noise(
    seed: Tensor, step: Tensor, unit: int
) -> Callable[[torch.Size, torch.dtype, torch.device], Tensor]:
    """The noise of one unit: a source of uniform numbers `models x ...`."""

    def draw(shape: torch.Size, dtype: torch.dtype, device: torch.device) -> Tensor:
        # Stacked, the keys are made once per model; otherwise the program would make them for every sample.
        stream = Key(*torch.stack(key(seed, Purpose.NOISE, step, unit)).unbind())
        return uniform(stream, counters(*shape[1:], device=device), dtype)

    return draw


def keyed_step(seed: Tensor, purpose: Tensor | int, step: Tensor) -> Tensors:
    """A step, or a block of samples, and the key of its data.

    The key is made one step ahead and carried in the state. If it were made where it is used, the compiler
    would repeat that in every loop over samples, which costs time to run and far more time to compile.
    """
    first, second = key(seed, purpose, step)
    return {"step": step, "key/first": first, "key/second": second}


def key_of(state: Tensors) -> Key:
    """The key that `keyed_step` put into a state."""
    return Key(state["key/first"], state["key/second"])
