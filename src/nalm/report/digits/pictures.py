"""What networks see and read: the first test samples of a run, and images that it misreads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models.digit_networks import DigitSequence
from nalm.models.patience import ESCAPES
from nalm.report.digits.confusion import reads_digits
from nalm.report.digits.images import as_image
from nalm.tasks import MnistColour, MnistParity, Split
from nalm.tasks.digits._base import DigitTask
from nalm.tasks.digits.pools import pool, shown
from nalm.tasks.digits.sequences import SequenceTask
from nalm.tasks.sampling import sample

SHOWN_DIGITS, SHOWN_SAMPLES, SHOWN_MISREAD = 8, 3, 8
SEARCHED = 500
"""Among so many of the first test images, misread ones are looked for."""


@dataclass(frozen=True)
class Tile:
    """An image and what became of it.

    Attributes:
        image: the image, as an address that contains it.
        digit: what it shows.
        read: what was read; empty if nothing was.
        wrong: whether that is another digit.
        result: the result so far; empty if there is none after this image.
        true: the true result so far, or what should have been read.
    """

    image: str
    digit: str
    read: str = ""
    wrong: bool = False
    result: str = ""
    true: str = ""


@dataclass(frozen=True)
class Pictures:
    """What one run saw and read.

    Attributes:
        samples: the first test samples, each in as many images as it has.
        misread: images that were misread.
        about: how many were misread, in a sentence.
        large: whether an image shows several digits.
    """

    samples: list[list[Tile]]
    misread: list[Tile]
    about: str
    large: bool = False


def pictures_of(case: Case, record: Record) -> Pictures | None:
    """What a run saw and read; None if its network cannot be made here.

    Args:
        case: its case.
        record: the run, with its chosen parameters.
    """
    try:
        network = network_of(case, record)
        if network is None:
            return None
        with torch.no_grad():
            return _pictures(case.task, network, record)
    except ESCAPES:
        if case.model.is_users:
            return None
        raise


def network_of(case: Case, record: Record) -> nn.Module | None:
    """The whole network of a run at its chosen step, in evaluation; None if it has other parameters."""
    network = case.build().to(getattr(torch, record.identity["precision"]))
    held = {name: tuple(parameter.shape) for name, parameter in network.named_parameters()}
    if held != {name: value.shape for name, value in record.chosen_parameters.items()}:
        return None
    stored = {name: torch.from_numpy(value) for name, value in record.chosen_parameters.items()}
    network.load_state_dict(stored, strict=False)  # buffers are not stored
    return network.eval()


def _pictures(task: object, network: nn.Module, record: Record) -> Pictures:
    assert isinstance(task, DigitTask)
    dtype = getattr(torch, record.identity["precision"])
    x, y = _test_samples(task, record.seed, dtype)
    if isinstance(task, (MnistColour, MnistParity)):
        return _whole_images(task, network, x, y)
    samples = _sequence if isinstance(task, SequenceTask) else _pairs
    return Pictures(samples(task, network, x, y), *_misread(task, network, record.model, dtype))


@functools.lru_cache(maxsize=1)
def _test_samples(task: DigitTask, seed: int, dtype: torch.dtype) -> tuple[Any, Tensor]:
    """The first block of what a run was tested on, which the models of a table mostly share."""
    return sample(task, seed, Split.TEST, task.block(Split.TEST), dtype=dtype)


# -- several images to a sample --------------------------------------------------------------------


def _sequence(task: DigitTask, network: nn.Module, x: tuple[Tensor, Tensor], y: Tensor) -> list[list[Tile]]:
    """The beginning of the first sequence, with the result after each digit."""
    index = x[1][0, :SHOWN_DIGITS]
    images, digits = x[0][index], task.constants(Split.TEST)["labels"][index]
    results, true = (each[0, :SHOWN_DIGITS, : task.results] for each in (network(images[None]), y[:1]))
    place = digits[:, None] if task.results > 1 else torch.zeros_like(digits)[:, None]
    results, true = (each.gather(1, place)[:, 0] for each in (results, true))
    tiles = zip(images, digits, readings(network, images), results, true)
    return [[_tile(image, digit, read, value(r), value(t)) for image, digit, read, r, t in tiles]]


def _pairs(
    task: DigitTask, network: nn.Module, x: Tensor | tuple[Tensor, Tensor], y: Tensor
) -> list[list[Tile]]:
    """The first pairs, with the result after the second digit."""
    images = x[:SHOWN_SAMPLES] if isinstance(x, Tensor) else x[0][x[1][:SHOWN_SAMPLES]]
    made = []
    reads = hasattr(network, "reader")
    for pair, out, true in zip(images, network(images), y):
        first, second = out[1:3] if reads else (None, None)
        after = {"result": value(out[0]), "true": value(true[0])}
        made.append([_tile(pair[0], true[1], first), _tile(pair[1], true[2], second, **after)])
    return made


def _tile(image: Tensor, digit: Tensor, read: Tensor | None, result: str = "", true: str = "") -> Tile:
    shows = int(digit)
    if read is None:
        return Tile(as_image(image), str(shows), result=result, true=true)
    return Tile(as_image(image), str(shows), value(read), rounded(read) != shows, result, true)


def _alone(tile: Tile) -> Tile:
    """The image without a result, if it was read: beside what was read stands what it shows."""
    return replace(tile, result="", true=tile.digit) if tile.read else tile


def readings(network: nn.Module, images: Tensor) -> Tensor:
    """The digit that is read in each of the images `n x 28 x 28`: a number that need not be whole.

    A network that does not show it has read what it computes of a sequence of that image alone.
    """
    if not isinstance(network, DigitSequence) or network.shows_readings:
        result: Tensor = network.reader(images)[:, 0]  # type: ignore[operator]
        return result
    first = network(images[:, None])[:, 0]
    return first.argmax(-1) if network.results > 1 else first[:, 0]


def _misread(task: DigitTask, network: nn.Module, model: str, dtype: torch.dtype) -> tuple[list[Tile], str]:
    if not reads_digits(model):
        return [], ""
    held = pool(task.digits, Split.TEST, zeros=getattr(task, "zeros", True), most=SEARCHED)
    images = shown(held.images, dtype)
    read = readings(network, images)
    wrong = [k for k, digit in enumerate(held.labels) if rounded(read[k]) != digit]
    tiles = [_alone(_tile(images[k], held.labels[k], read[k])) for k in wrong[:SHOWN_MISREAD]]
    return tiles, _about(len(wrong), len(images), "misread")


# -- one image to a sample -------------------------------------------------------------------------


def _whole_images(task: DigitTask, network: nn.Module, x: Tensor, y: Tensor) -> Pictures:
    colour = isinstance(task, MnistColour)
    tile: Callable[[Tensor, Tensor], Tile] = _colour_tile if colour else _counted_tile
    tiles = [tile(out, true) for out, true in zip(network(x), y)]
    wrong = [k for k, each in enumerate(tiles) if each.wrong]
    about = _about(len(wrong), len(tiles), "misread" if colour else "counted wrongly")

    def with_image(k: int) -> Tile:
        return replace(tiles[k], image=as_image(x[k]))

    first = [[with_image(k)] for k in range(SHOWN_SAMPLES)]
    return Pictures(first, [_alone(with_image(k)) for k in wrong[:SHOWN_MISREAD]], about, large=True)


def _colour_tile(out: Tensor, true: Tensor) -> Tile:
    digits, read = [int(each) for each in true[1:3]], out[1:3]
    wrong = [rounded(each) for each in read] != digits
    shows, says = (" and ".join(each) for each in (map(str, digits), map(value, read)))
    return Tile("", shows, says, wrong, value(out[0]), value(true[0]))


def _counted_tile(out: Tensor, true: Tensor) -> Tile:
    counted, even = int(out.argmax()), int(true.argmax())
    return Tile("", "several digits", "", counted != even, str(counted), str(even))


# -- words -----------------------------------------------------------------------------------------


def rounded(reading: Tensor) -> int:
    """The digit that a reading means."""
    return int(reading.double().nan_to_num().round().clamp(0, 9))


def value(number: Tensor | float) -> str:
    """A number as text: four digits, or all before the point."""
    held = float(number)
    if abs(held) < 1000:
        return f"{held:.2f}" if held != round(held) else f"{held:.0f}"
    return f"{held:,.0f}" if abs(held) < 1e9 else f"{held:.2e}"


def _about(wrong: int, of: int, how: str) -> str:
    if not wrong:
        return f"None of the first {of} test images is {how}."
    first = " The first of them:" if wrong > 1 else " It is:"
    return f"{wrong} of the first {of} test images {'is' if wrong == 1 else 'are'} {how}.{first}"
