"""The solver: waves of starts, second-order steps, discrete weights, and a choice by fresh rows alone.

It sees the architecture, rows to fit and fresh rows from the same range. It does not see the operation, the
range, or any row from outside it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import torch
from torch import Tensor

from nalm.second_order.discretise import discretise
from nalm.second_order.flat import Flat
from nalm.second_order.levenberg_marquardt import Path, minimise
from nalm.second_order.quality import Quality, qualities
from nalm.second_order.solution import Cost, Found
from nalm.second_order.starts import Wave, waves

_TRIED = 3
"""Candidates of a wave, the best on fresh rows first, that are made discrete."""
_PATIENCE = 2
"""Sizes in a row that bring nothing, after which growing ends."""
_WORTH = 0.99
"""A size brings something if it lowers the error below this part of the lowest so far."""


@dataclass(frozen=True)
class Rows:
    """Rows to fit, `n x in` and `n x out`, and fresh ones to choose by."""

    fit: tuple[Tensor, Tensor]
    fresh: tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Result:
    """What was chosen: the weights, how they came about step by step, and the cost."""

    vector: Tensor
    path: list[Tensor]
    cost: Cost


@dataclass(frozen=True)
class _Candidate:
    """Weights on offer: continuous ones, or discrete ones made of them."""

    vector: Tensor
    quality: Quality
    before: Quality
    path: list[Tensor]
    start: str
    discrete: bool


@dataclass
class _Search:
    """What has been found so far."""

    continuous: list[_Candidate] = field(default_factory=list)
    discrete: list[_Candidate] = field(default_factory=list)
    starts: int = 0
    steps: int = 0

    @property
    def lowest(self) -> float:
        return min((c.quality.error for c in self.continuous), default=torch.inf)


def solve_rows(flat: Flat, rows: Rows, seed: int, *, starts: int, grow: bool, steps: int) -> Result:
    """Find weights for one set of rows.

    Args:
        flat: the architecture.
        rows: to fit and to choose by.
        seed: of the starts that are drawn.
        starts: how many are drawn.
        grow: whether there are grown ones as well.
        steps: steps at most of each stage of a member.
    """
    began, search = time.perf_counter(), _Search()
    growing = _Growing()
    for wave in waves(flat, *rows.fit, seed, starts, grow):
        if growing.is_over(wave):
            continue
        before = search.lowest
        _train(flat, wave, rows, steps, search)
        growing.note(wave, search.lowest < _WORTH * before)
        if any(candidate.quality.fits for candidate in search.discrete):
            break
    return _chosen(search, time.perf_counter() - began)


class _Growing:
    """Ends the growth of a stack's size where more brings nothing."""

    def __init__(self) -> None:
        self.in_vain: dict[bool, int] = {}

    def is_over(self, wave: Wave) -> bool:
        return wave.size is not None and self.in_vain.get(_measure(wave), 0) >= _PATIENCE

    def note(self, wave: Wave, brought: bool) -> None:
        if wave.size is not None:
            measure = _measure(wave)
            self.in_vain[measure] = 0 if brought else self.in_vain.get(measure, 0) + 1


def _measure(wave: Wave) -> bool:
    return bool(wave.logarithmic[0])


def _train(flat: Flat, wave: Wave, rows: Rows, steps: int, search: _Search) -> None:
    """Train the members of a wave, and make the best of them discrete."""
    paths = _paths(flat, wave, rows, steps)
    search.starts += len(wave.vectors)
    search.steps += sum(int(path.steps.sum()) for path in paths)
    offered: list[_Candidate] = []
    walked: list[Tensor] = []
    for path in paths:
        walked += path.vectors if not walked else path.vectors[1:]
        for k, quality in enumerate(qualities(flat, path.end, *rows.fresh)):
            members = [vectors[k] for vectors in walked]
            offered.append(_Candidate(path.end[k], quality, quality, members, wave.name, discrete=False))
    offered.sort(key=lambda candidate: candidate.quality.error)
    search.continuous += offered[:_TRIED]
    for candidate in offered[:_TRIED]:
        found = discretise(flat, candidate.vector, candidate.quality, rows.fit, rows.fresh)
        if found is not None:
            vector, quality, more = found
            search.steps += more
            path = [*candidate.path, vector]
            search.discrete.append(
                _Candidate(vector, quality, candidate.quality, path, wave.name, discrete=True)
            )
            if quality.fits:
                return


def _paths(flat: Flat, wave: Wave, rows: Rows, steps: int) -> list[Path]:
    """One stage with all parameters free, or one before it with some of them held."""
    everything = flat.trainable().expand(len(wave.vectors), -1)
    if wave.held is None:
        return [minimise(flat, wave.vectors, *rows.fit, wave.logarithmic, everything, steps)]
    first = minimise(flat, wave.vectors, *rows.fit, wave.logarithmic, everything & ~wave.held, steps)
    second = minimise(flat, first.end, *rows.fit, wave.logarithmic, everything, steps)
    return [first, second]


def _chosen(search: _Search, seconds: float) -> Result:
    """The discrete candidate of the lowest error if it is as good as all others, else the continuous one."""
    reference = min(search.continuous, key=lambda candidate: candidate.quality.error)
    good = [c for c in search.discrete if c.quality.as_good_as(reference.quality)]
    chosen = min(good, key=lambda candidate: candidate.quality.error) if good else reference
    if chosen.quality.failed:
        found = Found.FAILED
    else:
        found = Found.EXACT if chosen.discrete else Found.APPROXIMATE
    cost = Cost(
        found=str(found),
        start=chosen.start,
        starts=search.starts,
        steps=search.steps,
        chosen_steps=len(chosen.path) - 1 - chosen.discrete,
        seconds=seconds,
        error=chosen.quality.error,
        error_before=chosen.before.error,
    )
    return Result(chosen.vector, chosen.path, cost)
