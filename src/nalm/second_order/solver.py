"""The solver: waves of starts, second-order steps, discrete weights, and a choice by fresh rows alone.

It sees the architecture, rows to fit and fresh rows from the same range. It does not see the operation, the
range, or any row from outside it.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from nalm.second_order.discretise import discretise
from nalm.second_order.flat import Flat
from nalm.second_order.levenberg_marquardt import minimise
from nalm.second_order.quality import Quality, qualities
from nalm.second_order.solution import Cost, Found
from nalm.second_order.starts import Wave, drawn, grown

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
    def solved(self) -> bool:
        return any(candidate.quality.fits for candidate in self.discrete)

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
    for wave in _waves(flat, rows, seed, starts, grow, search):
        _train(flat, wave, rows, steps, search)
        if search.solved:
            break
    return _chosen(search, time.perf_counter() - began)


def _waves(flat: Flat, rows: Rows, seed: int, starts: int, grow: bool, search: _Search) -> Iterator[Wave]:
    """Grown starts, then what they have come to with nothing held any more, then drawn starts."""
    if grow:
        yield from _grown(flat, rows, seed, starts, search)
    if starts:
        yield drawn(flat, seed, starts)


def _grown(flat: Flat, rows: Rows, seed: int, starts: int, search: _Search) -> Iterator[Wave]:
    in_vain: dict[Hashable, int] = {}
    held = False
    for wave in grown(flat, *rows.fit, seed, starts):
        before, so_far = search.lowest, in_vain.get(wave.series, 0)
        if so_far < _PATIENCE:
            yield wave
            brought = search.lowest < _WORTH * before
            in_vain[wave.series] = 0 if brought else so_far + 1
            held = held or wave.held is not None
    if held:
        best = sorted(search.continuous, key=lambda candidate: candidate.quality.error)[:_TRIED]
        vectors = torch.stack([candidate.vector for candidate in best])
        yield Wave("grown, then all free", vectors, torch.zeros(len(vectors), dtype=torch.bool))


def _train(flat: Flat, wave: Wave, rows: Rows, steps: int, search: _Search) -> None:
    """Train the members of a wave, and make the best of them discrete."""
    search.starts += len(wave.vectors)
    begun = _offers(flat, wave.name, [[vector] for vector in wave.vectors], rows)
    if begun[0].quality.fits and _discretised(flat, begun[0], rows, search):
        return  # a start may be the solution
    everything = flat.trainable().expand(len(wave.vectors), -1)
    free = everything if wave.held is None else everything & ~wave.held
    path = minimise(flat, wave.vectors, *rows.fit, wave.logarithmic, free, steps)
    paths = [[vectors[k] for vectors in path.vectors[: int(n) + 1]] for k, n in enumerate(path.steps)]
    search.steps += int(path.steps.sum())
    offers = _offers(flat, wave.name, paths, rows)
    if wave.held is not None and offers[0].quality.fits:
        offers = [_released(flat, offers[0], rows, steps, search)]
    for offer in offers[:_TRIED]:
        if _discretised(flat, offer, rows, search):
            return


def _offers(flat: Flat, start: str, paths: list[list[Tensor]], rows: Rows) -> list[_Candidate]:
    """The ends of these paths, the best on fresh rows first."""
    found = qualities(flat, torch.stack([path[-1] for path in paths]), *rows.fresh)
    offers = [_Candidate(path[-1], q, q, path, start, discrete=False) for path, q in zip(paths, found)]
    return sorted(offers, key=lambda candidate: candidate.quality.error)


def _released(flat: Flat, held: _Candidate, rows: Rows, steps: int, search: _Search) -> _Candidate:
    """A member that fits with some parameters held goes on with all of them free."""
    plain, free = torch.zeros(1, dtype=torch.bool), flat.trainable()[None]
    path = minimise(flat, held.vector[None], *rows.fit, plain, free, steps)
    search.steps += int(path.steps[0])
    walked = [*held.path, *(vectors[0] for vectors in path.vectors[1:])]
    return _offers(flat, held.start, [walked], rows)[0]


def _discretised(flat: Flat, candidate: _Candidate, rows: Rows, search: _Search) -> bool:
    """Note a candidate, and what it is with discrete weights; whether that leaves nothing to explain."""
    search.continuous.append(candidate)
    found = discretise(flat, candidate.vector, candidate.quality, rows.fit, rows.fresh)
    if found is None:
        return False
    vector, quality, steps = found
    search.steps += steps
    path = [*candidate.path, vector]
    search.discrete.append(
        _Candidate(vector, quality, candidate.quality, path, candidate.start, discrete=True)
    )
    return quality.fits


def _chosen(search: _Search, seconds: float) -> Result:
    """The discrete candidate of the lowest error if it is as good as all others, else the continuous one."""
    reference = min(search.continuous, key=lambda candidate: candidate.quality.error)
    good = [c for c in search.discrete if c.quality.as_good_as(reference.quality)]
    chosen = min(good, key=lambda candidate: candidate.quality.error) if good else reference
    explained = Found.EXACT if chosen.discrete else Found.APPROXIMATE
    found = Found.FAILED if chosen.quality.failed else explained
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
