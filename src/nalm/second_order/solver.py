"""The solver: waves of starts, second-order steps, discrete weights, and selection on fresh rows alone.

It sees the architecture, rows to fit and fresh rows from the same range. It does not see the operation, the
range, or any row outside that range.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nalm.errors import ArgumentError
from nalm.second_order.discretise import discretise
from nalm.second_order.flat import Flat
from nalm.second_order.levenberg_marquardt import minimise
from nalm.second_order.quality import Quality, qualities
from nalm.second_order.solution import Cost, Found
from nalm.second_order.starts import Wave, drawn, grown
from nalm.second_order.verdict import Verdict, meets_every_row, unexplained, verdict

_TRIED = 3
"""How many candidates of a wave, the best on fresh rows first, are made discrete."""
_PATIENCE = 2
"""A series ends after this many consecutive waves without improvement."""
_PROMISING = 0.99
"""The share of the variance that a start must explain to be considered as a solution."""
_FAILED = 0.5
"""Continuous weights that leave more of the variance unexplained than this have failed."""
_WORTH = 0.99
"""A wave is an improvement if it lowers the error below this fraction of the lowest so far."""
_FEW_ROWS, _FEW_PER_PARAMETER = 1000, 10
"""Enough rows to locate the solution: in total, and per parameter."""
_LEAST_ROWS, _PER_FREE, _PROBED = 256, 5, 32
"""Rows while some parameters are fixed: at least, per free parameter, and to see which have an effect."""


@dataclass(frozen=True)
class Rows:
    """Rows to fit, `n x in` and `n x out`, fresh rows for selection, and all rows in their given order."""

    fit: tuple[Tensor, Tensor]
    fresh: tuple[Tensor, Tensor]
    given: tuple[Tensor, Tensor]

    @classmethod
    def of(cls, fit: tuple[Tensor, Tensor], fresh: tuple[Tensor, Tensor]) -> Rows:
        """Rows to fit and fresh rows, which were given in this order."""
        return cls(fit, fresh, (torch.cat([fit[0], fresh[0]]), torch.cat([fit[1], fresh[1]])))

    def fewer(self, count: int) -> Rows:
        """The same with at most `count` rows to fit."""
        x, y = self.fit
        return replace(self, fit=(x[:count], y[:count]))

    @property
    def judged_by(self) -> tuple[Tensor, Tensor, Tensor]:
        """Fresh inputs and targets, and all targets, relative to which errors are small."""
        return (*self.fresh, self.given[1])


@dataclass(frozen=True)
class Result:
    """The chosen weights.

    Attributes:
        vector: the weights.
        path: the weights after each step that led to them.
        quality: how good they are on fresh rows.
        cost: the cost of finding them.
        verdict: what may be claimed of discrete weights; None for continuous ones.
    """

    vector: Tensor
    path: list[Tensor]
    quality: Quality
    cost: Cost
    verdict: Verdict | None

    def judged(self, said: Verdict) -> Result:
        """The same result with another verdict, from other rows."""
        cost = replace(self.cost, found=str(said.found), unexplained=said.unexplained)
        return replace(self, cost=cost, verdict=said)


def solve_rows(flat: Flat, rows: Rows, seed: int, *, starts: int, grow: bool, steps: int) -> Result:
    """Find weights for one set of rows.

    The population uses only as many rows as are enough if the targets are exact. If they are noisy, no
    candidate explains everything, and the best are then fitted to all rows.

    Args:
        flat: the architecture.
        rows: rows to fit, and rows for selection.
        seed: the seed of drawn starts.
        starts: the number of drawn starts.
        grow: whether to use grown starts as well.
        steps: the maximum number of steps of each stage of a member.
    """
    began = time.perf_counter()
    few = rows.fewer(max(_FEW_ROWS, _FEW_PER_PARAMETER * flat.size))
    search = _Search(flat, few, steps)
    if grow:
        _grow(search, seed, starts)
    if starts and not search.solved:
        search.train(search.begin(drawn(flat, seed, starts)))
    if not search.continuous:
        raise ArgumentError("starts", "1 or more for a model that cannot grow", repr(starts))
    if not search.solved and len(few.fit[0]) < len(rows.fit[0]):
        search.refine(rows)
    return search.choose(time.perf_counter() - began)


def _grow(search: _Search, seed: int, starts: int) -> None:
    """Train grown waves, each series while it improves; then the best candidates with nothing fixed."""
    in_vain: dict[Hashable, int] = {}
    for wave in grown(search.flat, *search.rows.fit, seed, starts):
        before, so_far = search.lowest, in_vain.get(wave.series, 0)
        if so_far < _PATIENCE:
            search.train(search.begin(wave))
            brought = search.lowest < _WORTH * before
            in_vain[wave.series] = 0 if brought else so_far + 1
        if search.solved:
            return
    best = search.best()
    if any(candidate.held is not None for candidate in best):
        search.train([replace(candidate, held=None, logarithmic=False) for candidate in best])


@dataclass(frozen=True)
class _Candidate:
    """Candidate weights: continuous, or discrete ones made from them."""

    path: list[Tensor]
    start: str
    quality: Quality
    before: Quality
    held: Tensor | None
    logarithmic: bool
    discrete: bool = False
    meets: bool = False
    """Whether its formula fits every given row."""

    @property
    def vector(self) -> Tensor:
        return self.path[-1]


class _Search:
    """The candidates found so far, and the methods to find more."""

    def __init__(self, flat: Flat, rows: Rows, steps: int) -> None:
        self.flat, self.rows, self.steps = flat, rows, steps
        self.continuous: list[_Candidate] = []
        self.discrete: list[_Candidate] = []
        self.starts = self.taken = 0
        self.refined = False

    @property
    def solved(self) -> bool:
        """Whether some discrete weights leave nothing to explain."""
        return any(c.meets or c.quality.fits for c in self._good())

    @property
    def lowest(self) -> float:
        """The lowest error of continuous weights."""
        return min((candidate.quality.error for candidate in self.continuous), default=torch.inf)

    def needed(self, parameters: int) -> int:
        """The number of rows that are enough to fit `parameters`; all rows once candidates are refined."""
        return len(self.rows.fit[0]) if self.refined else max(_LEAST_ROWS, _PER_FREE * parameters)

    def best(self) -> list[_Candidate]:
        """The continuous candidates with the lowest errors."""
        return sorted(self.continuous, key=_error)[:_TRIED]

    def begin(self, wave: Wave) -> list[_Candidate]:
        """The members of a wave, the best on fresh rows first."""
        self.starts += len(wave.vectors)
        found = zip(wave.vectors, wave.logarithmic, self._qualities(wave.vectors))
        begun = [_Candidate([v], wave.name, q, q, wave.held, bool(log)) for v, log, q in found]
        return sorted(begun, key=_error)

    def train(self, begun: list[_Candidate]) -> None:
        """Train these candidates, all with the same parameters fixed, and make the best of them discrete."""
        if begun[0].quality.explained >= _PROMISING and self._discretised(begun[0]):
            return  # a start may be the solution
        offers = self._walked(begun)
        if offers[0].held is not None and offers[0].quality.fits:
            free = self._walked([replace(offers[0], held=None)], self._effective(begun))
            offers = sorted([*free, offers[0]], key=_error)
        for offer in offers[:_TRIED]:
            if self._discretised(offer):
                return

    def refine(self, rows: Rows) -> None:
        """Continue with more rows from the best candidate with fixed parameters and the best without."""
        self.rows, self.refined = rows, True
        ordered = sorted(self.continuous, key=_error)
        held = [candidate for candidate in ordered if candidate.held is not None]
        free = [candidate for candidate in ordered if candidate.held is None]
        for candidate in (*held[:1], *free[:1]):
            (refined,) = self._walked([replace(candidate, logarithmic=False)])
            self._discretised(refined)

    def choose(self, seconds: float) -> Result:
        """The best discrete candidate that the given rows support, otherwise the best continuous one."""
        chosen, said = self._borne_out()
        left = said.unexplained if said else self._left(chosen.vector)
        failed = not said and left > _FAILED
        cost = Cost(
            found=str(said.found if said else Found.FAILED if failed else Found.APPROXIMATE),
            start=chosen.start,
            starts=self.starts,
            steps=self.taken,
            chosen_steps=len(chosen.path) - 1 - chosen.discrete,
            seconds=seconds,
            error=chosen.quality.error,
            unexplained=left,
            error_before=chosen.before.error,
        )
        return Result(chosen.vector, chosen.path, chosen.quality, cost, said)

    def _borne_out(self) -> tuple[_Candidate, Verdict | None]:
        best: tuple[_Candidate, Verdict] | None = None
        for candidate in _different(self._good())[:_TRIED]:
            found = verdict(self.flat, candidate.vector, *self.rows.given, candidate.quality)
            if found is not None and found.found is Found.EXACT:
                return candidate, found
            if found is not None and best is None and not candidate.quality.failed:
                best = candidate, found
        return best or (min(self.continuous, key=_error), None)

    def _good(self) -> list[_Candidate]:
        """Discrete candidates whose formula fits every row, or that are as good as all continuous ones."""
        if not self.discrete:
            return []
        reference = min(self.continuous, key=_error).quality
        return [c for c in self.discrete if c.meets or c.quality.as_good_as(reference)]

    def _left(self, vector: Tensor) -> float:
        """The share of variance that continuous weights leave, on fresh or on all rows, whichever is larger.

        A few fresh rows may fit by chance, and fitted rows may fit with weights that fit no other row.
        """
        targets = self.rows.given[1]
        tables = (self.rows.fresh, self.rows.given)
        return max(unexplained(self.flat.predict(vector[None], x)[0], y, targets) for x, y in tables)

    def _effective(self, begun: list[_Candidate]) -> Tensor:
        """Free parameters with an effect: those without one get none as long as the others are fixed."""
        start, held = torch.stack([candidate.vector for candidate in begun]), begun[0].held
        assert held is not None
        return self.flat.trainable() & ~held & self.flat.effective(start, self.rows.fit[0][:_PROBED])

    def _walked(self, begun: list[_Candidate], counted: Tensor | None = None) -> list[_Candidate]:
        """Where second-order steps from these candidates end, the best on fresh rows first.

        All of them have the same parameters fixed. If `counted` is given, only as many rows are used as that
        many parameters need.
        """
        free = self.flat.trainable()
        start, (x, y) = torch.stack([candidate.vector for candidate in begun]), self.rows.fit
        if begun[0].held is not None:
            free = counted = self._effective(begun)
        if counted is not None:
            x, y = (part[: self.needed(int(counted.sum()))] for part in (x, y))
        if not free.any():
            return begun
        logarithmic = torch.tensor([candidate.logarithmic for candidate in begun])
        walk = minimise(self.flat, start, x, y, logarithmic, free.expand(len(begun), -1), self.steps)
        self.taken += int(walk.steps.sum())
        ended = []
        for k, (candidate, quality) in enumerate(zip(begun, self._qualities(walk.end))):
            walked = [vectors[k] for vectors in walk.vectors[1 : int(walk.steps[k]) + 1]]
            ended.append(replace(candidate, path=[*candidate.path, *walked], quality=quality, before=quality))
        return sorted(ended, key=_error)

    def _qualities(self, vectors: Tensor) -> list[Quality]:
        return qualities(self.flat, vectors, *self.rows.judged_by)

    def _discretised(self, candidate: _Candidate) -> bool:
        """Record a candidate and its discrete version; returns whether that leaves nothing to explain."""
        self.continuous.append(candidate)
        found = discretise(self.flat, candidate.vector, candidate.quality, self.rows.fit, self.rows.judged_by)
        if found is None:
            return False
        vector, quality, steps = found
        self.taken += steps
        path = [*candidate.path, vector]
        # Weights that fit every row by themselves need no formula to stop the search.
        meets = not quality.perfect and meets_every_row(self.flat, vector, *self.rows.given)
        self.discrete.append(replace(candidate, path=path, quality=quality, discrete=True, meets=meets))
        return quality.fits or meets


def _different(candidates: list[_Candidate]) -> list[_Candidate]:
    """Candidates without duplicate weights: those that fit every row first, then by error."""
    found = {tuple(candidate.vector.tolist()): candidate for candidate in candidates}
    return sorted(found.values(), key=lambda candidate: (not candidate.meets, _error(candidate)))


def _error(candidate: _Candidate) -> float:
    return candidate.quality.error
