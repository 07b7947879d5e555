"""A table or a figure of a paper: what is trained for it, what is measured, what the paper says about it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from nalm.errors import ArgumentError
from nalm.evaluate.judged import Judged
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.papers.agreement import Finding, Reason
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Claim, Findings, Key
from nalm.papers.metrics import SUCCESS, THREE, Metric
from nalm.papers.scale import Scale, shortened

Draw = Callable[["Measured", Any], None]
"""Draws what was measured on an empty figure of matplotlib."""


Records = Mapping[Case, Sequence[Record]]
"""The stored runs of each case, in the order of their seeds."""


class Runner(Protocol):
    """Trains what is not stored."""

    def __call__(
        self, experiment: Experiment, threshold: float | None, *, curves_only: bool = True
    ) -> dict[Case, list[Judged]]:
        """The runs of each case, judged by the task's threshold or by another; with weights if asked for."""

    def records(self, experiment: Experiment) -> Records:
        """The runs of each case as they are stored, with their weights."""


@dataclass(frozen=True)
class Measured:
    """What reproducing an entry gave.

    Attributes:
        findings: numbers by row, column and metric.
        reduced: in which way less was done than the paper did, in words.
        data: what else the figure shows, for drawing alone.
    """

    findings: Findings
    reduced: list[str] = field(default_factory=list)
    data: Any = None


@dataclass(frozen=True)
class Entry:
    """Base of all entries of the ledger.

    Attributes:
        id: such as `mistry2023:fig3.4`.
        title: what it shows.
        source: where it stands.
        metrics: what is measured, the main measure first.
        claims: what the text says about it.
        main: how many of the metrics are cells even where the paper gives no number.
        note: what is worth knowing about the set-up.
    """

    id: str
    title: str
    source: str
    metrics: tuple[Metric, ...] = field(default=THREE, kw_only=True)
    claims: tuple[Claim, ...] = field(default=(), kw_only=True)
    main: int = field(default=1, kw_only=True)
    note: str = field(default="", kw_only=True)
    draw: Draw | None = field(default=None, kw_only=True)

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """Train what there is to train, and measure."""
        raise NotImplementedError

    def experiments(self, scale: Scale) -> list[Experiment]:
        """What is trained; an entry that trains nothing has none."""
        return []

    def reason(self, row: str, column: str) -> Reason | None:
        """Why a cell cannot be compared with the paper's, even by the full protocol."""
        return None


@dataclass(frozen=True)
class Place:
    """One cell of a table, or one point of a figure.

    Attributes:
        row: usually the unit, as the paper writes it.
        column: usually the range.
        cases: whose runs are taken together.
        reason: why it cannot be compared with the paper's.
    """

    row: str
    column: str
    cases: tuple[Case, ...]
    reason: Reason | None = None


@dataclass(frozen=True)
class Grid(Entry):
    """An entry of rows and columns, each of them some seeds of a model on a task.

    Attributes:
        seeds: how many the paper has.
        make_places: makes the cells of the table, when they are first asked for.
        threshold: error below which a run is solved, if it is not the task's.
        quick_seeds: how many seeds the quick protocol has.
        quick_steps: by what factor the quick protocol trains less.
    """

    seeds: int
    make_places: Callable[[], Sequence[Place]]
    threshold: float | None = None
    quick_seeds: int = 5
    quick_steps: float = 1.0

    @functools.cached_property
    def places(self) -> dict[tuple[str, str], Place]:
        """The cells of the table by row and column."""
        return {(place.row, place.column): place for place in self.make_places()}

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """Train what is not stored, and measure every place by every metric."""
        places = self.places_at(scale)
        (experiment,) = self.experiments(scale)
        judged = run(experiment, self.threshold)
        found: dict[Key, Finding] = {}
        for place in places:
            runs = [each for case in place.cases for each in judged[case]]
            for metric in self.metrics:
                interval = metric.of(runs)
                finding = Finding(interval.value, interval.low, interval.high, len(runs))
                found[place.row, place.column, metric.name] = finding
        return Measured(Findings(found), self.budget(scale).reduced())

    def experiments(self, scale: Scale) -> list[Experiment]:
        """All cases of all places, once each."""
        cases = dict.fromkeys(case for place in self.places_at(scale) for case in place.cases)
        return [Experiment(self.id, tuple(cases), self.budget(scale).seeds)]

    def reason(self, row: str, column: str) -> Reason | None:
        """That of the place."""
        return self.places[row, column].reason

    def budget(self, scale: Scale) -> Budget:
        """Seeds and steps at a scale."""
        return Budget(scale, self.seeds, self.quick_seeds, self.quick_steps)

    def places_at(self, scale: Scale) -> list[Place]:
        """The places of the rows asked for, with as many steps as the scale has."""
        wanted = chosen_rows(scale, (row for row, _ in self.places))
        places = [place for place in self.places.values() if place.row in wanted]
        factor = self.budget(scale).factor
        if factor == 1:
            return places
        return [replace(p, cases=tuple(shortened(case, factor) for case in p.cases)) for p in places]


@dataclass(frozen=True)
class Study(Entry):
    """An entry with a program of its own that trains nothing: a surface, a field, a curve.

    Attributes:
        compute: measures, at a scale.
        incomparable: why none of its numbers can be compared with the paper's; claims still can.
    """

    compute: Callable[[Scale], Measured]
    metrics: tuple[Metric, ...] = field(default=(SUCCESS,), kw_only=True)
    incomparable: Reason | None = field(default=None, kw_only=True)

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """What the program finds; of some rows only, if they were chosen."""
        return self.of_chosen_rows(self.compute(scale), scale)

    def of_chosen_rows(self, measured: Measured, scale: Scale) -> Measured:
        """What was measured of the rows that were asked for."""
        if scale.rows is not None and not measured.findings:
            raise ArgumentError("rows", f"rows of {self.id}", repr("; ".join(scale.rows)))
        wanted = chosen_rows(scale, (row for row, _, _ in measured.findings))
        found = {key: finding for key, finding in measured.findings.items() if key[0] in wanted}
        return replace(measured, findings=Findings(found))

    def reason(self, row: str, column: str) -> Reason | None:
        """That of the whole."""
        return self.incomparable


@dataclass(frozen=True)
class TrainedStudy(Study):
    """An entry with a program of its own that reads stored runs.

    Attributes:
        compute: what is trained at a scale is planned by `plan`; this measures the runs.
    """

    compute: Callable[[Scale, Records], Measured]  # type: ignore[assignment]
    plan: Callable[[Scale], Sequence[Experiment]]

    def experiments(self, scale: Scale) -> list[Experiment]:
        """What is trained."""
        return list(self.plan(scale))

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """Train what is not stored, and measure."""
        records: dict[Case, Sequence[Record]] = {}
        for experiment in self.experiments(scale):
            records.update(run.records(experiment))
        return self.of_chosen_rows(self.compute(scale, records), scale)


def rows_of(found: Findings) -> Iterator[tuple[str, str]]:
    """Rows and columns in order, each pair once."""
    yield from dict.fromkeys((row, column) for row, column, _ in found)
