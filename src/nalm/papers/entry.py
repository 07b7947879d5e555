"""A table or figure of a paper: what is trained for it, what is measured, what the paper says about it."""

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
from nalm.papers.budget import Budget, FewerRuns, chosen_rows, fewer
from nalm.papers.claims import Claim, Findings, Key
from nalm.papers.metrics import SUCCESS, THREE, Metric
from nalm.papers.published import Published
from nalm.papers.scale import Scale, shortened

Draw = Callable[["Measured", Any], None]
"""Draws what was measured on an empty matplotlib figure."""


Records = Mapping[Case, Sequence[Record]]
"""The stored runs of each case, in the order of their seeds."""


class Runner(Protocol):
    """Trains runs that are not stored, or gives what is stored so far."""

    def __call__(
        self, experiment: Experiment, threshold: float | None, *, curves_only: bool = True
    ) -> dict[Case, list[Judged]]:
        """The runs of each case, judged by the task's threshold or the given one; with weights if wanted.

        A runner that does not train leaves out what is not stored, whole cases too.
        """

    def records(self, experiment: Experiment) -> Records:
        """The stored runs of each case, with their weights."""


@dataclass(frozen=True)
class Measured:
    """The result of reproducing an entry.

    Attributes:
        findings: numbers by row, column and metric.
        reduced: how the protocol falls short of the paper's, in words; `FewerRuns` leave it comparable.
        data: what else the figure shows, used only for drawing.
        partial: whether only some cells were measured, because others are not trained yet.
        runs: the number of runs, if it may be less than what was planned.
    """

    findings: Findings
    reduced: list[str] = field(default_factory=list)
    data: Any = None
    partial: bool = False
    runs: int | None = None

    @property
    def comparable(self) -> bool:
        """Whether its numbers can be compared with the paper's: nothing is reduced but the number of runs."""
        return all(isinstance(note, FewerRuns) for note in self.reduced)


@dataclass(frozen=True)
class Entry:
    """Base class of all entries of the ledger.

    Attributes:
        id: such as `mistry2023:fig3.4`.
        title: what it shows.
        source: where it is published.
        metrics: what is measured, the main metric first.
        claims: what the text says about it.
        main: how many of the metrics get a cell even where the paper gives no number.
        note: what is worth knowing about the set-up.
        same_data: which published numbers do not depend on data that the paper leaves open, if not all.
        lends_spread: whether published means without a spread get ours, because they are of as many models.
        in_parts: whether it can be measured when only some of its runs are stored.
    """

    id: str
    title: str
    source: str
    metrics: tuple[Metric, ...] = field(default=THREE, kw_only=True)
    claims: tuple[Claim, ...] = field(default=(), kw_only=True)
    main: int = field(default=1, kw_only=True)
    note: str = field(default="", kw_only=True)
    draw: Draw | None = field(default=None, kw_only=True)
    same_data: Callable[[Published], bool] | None = field(default=None, kw_only=True)
    lends_spread: bool = field(default=False, kw_only=True)
    in_parts: bool = field(default=False, kw_only=True)

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """Train what is not stored, and measure."""
        raise NotImplementedError

    def experiments(self, scale: Scale) -> list[Experiment]:
        """The experiments to train; none for an entry that trains nothing."""
        return []

    def reason(self, row: str, column: str) -> Reason | None:
        """Why a cell cannot be compared with the paper's, even with the full protocol."""
        return None


@dataclass(frozen=True)
class Place:
    """One cell of a table, or one point of a figure.

    Attributes:
        row: usually the unit, as the paper writes it.
        column: usually the range.
        cases: the cases whose runs it pools.
        reason: why it cannot be compared with the paper's.
    """

    row: str
    column: str
    cases: tuple[Case, ...]
    reason: Reason | None = None


@dataclass(frozen=True)
class Grid(Entry):
    """An entry of rows and columns, each cell some seeds of a model on a task.

    Attributes:
        seeds: number of seeds in the paper.
        make_places: makes the cells of the table on first use.
        threshold: error below which a run is solved, if not the task's.
        quick_seeds: number of seeds in the quick protocol.
        quick_steps: fraction of the paper's steps in the quick protocol.
    """

    seeds: int
    make_places: Callable[[], Sequence[Place]]
    threshold: float | None = None
    quick_seeds: int = 5
    quick_steps: float = 1.0
    in_parts: bool = field(default=True, kw_only=True)

    @functools.cached_property
    def places(self) -> dict[tuple[str, str], Place]:
        """The cells of the table by row and column."""
        return {(place.row, place.column): place for place in self.make_places()}

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """Train what is not stored, and measure every cell by every metric."""
        (experiment,) = self.experiments(scale)
        judged = run(experiment, self.threshold)
        found: dict[Key, Finding] = {}
        for place in self.trained_places(scale, judged):
            runs = [each for case in place.cases for each in judged[case]]
            for metric in self.metrics:
                interval = metric.of(runs)
                finding = Finding(interval.value, interval.low, interval.high, len(runs))
                found[place.row, place.column, metric.name] = finding
        return self.measured(found, scale, judged)

    def trained_places(self, scale: Scale, judged: Mapping[Case, Sequence[Judged]]) -> list[Place]:
        """The cells that have runs: all of them, unless only stored runs were asked for."""
        return [place for place in self.places_at(scale) if all(judged.get(case) for case in place.cases)]

    def measured(
        self,
        found: Mapping[Key, Finding],
        scale: Scale,
        judged: Mapping[Case, Sequence[Judged]],
        data: Any = None,
    ) -> Measured:
        """Findings with notes on what is reduced: seeds, steps, and cells that are not trained yet."""
        budget, places = self.budget(scale), self.places_at(scale)
        trained = self.trained_places(scale, judged)
        counts = sorted({len(judged[case]) for place in trained for case in place.cases})
        notes = [note for note in budget.reduced() if not isinstance(note, FewerRuns)]
        if counts and counts[0] < self.seeds:
            span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
            notes.insert(0, FewerRuns(f"seeds: {span} instead of {self.seeds}"))
        notes += [FewerRuns(note) for note in fewer("cells", len(trained), len(places))]
        return Measured(Findings(found), notes, data, partial=len(trained) < len(places))

    def experiments(self, scale: Scale) -> list[Experiment]:
        """All cases of all cells, once each."""
        cases = dict.fromkeys(case for place in self.places_at(scale) for case in place.cases)
        return [Experiment(self.id, tuple(cases), self.budget(scale).seeds)]

    def reason(self, row: str, column: str) -> Reason | None:
        """The reason of that cell."""
        return self.places[row, column].reason

    def budget(self, scale: Scale) -> Budget:
        """Seeds and steps at a scale."""
        return Budget(scale, self.seeds, self.quick_seeds, self.quick_steps)

    def places_at(self, scale: Scale) -> list[Place]:
        """The cells of the rows that the scale asks for, with the scale's number of steps."""
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
        compute: measures at a scale.
        incomparable: why none of its numbers can be compared with the paper's; claims still can.
        formula: whether it evaluates what the paper writes down, which no training can contradict.
    """

    compute: Callable[[Scale], Measured]
    metrics: tuple[Metric, ...] = field(default=(SUCCESS,), kw_only=True)
    incomparable: Reason | None = field(default=None, kw_only=True)
    formula: bool = field(default=True, kw_only=True)

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """What the program finds, in the rows that the scale asks for."""
        return self.of_chosen_rows(self.compute(scale), scale)

    def of_chosen_rows(self, measured: Measured, scale: Scale) -> Measured:
        """What was measured in the rows that the scale asks for."""
        if scale.rows is not None and not measured.findings:
            raise ArgumentError("rows", f"left out: {self.id} has no rows", repr("; ".join(scale.rows)))
        wanted = chosen_rows(scale, (row for row, _, _ in measured.findings))
        found = {key: finding for key, finding in measured.findings.items() if key[0] in wanted}
        return replace(measured, findings=Findings(found))

    def reason(self, row: str, column: str) -> Reason | None:
        """The same for all cells."""
        return self.incomparable


@dataclass(frozen=True)
class TrainedStudy(Study):
    """An entry with a program of its own that reads stored runs.

    Attributes:
        compute: measures the stored runs, at a scale.
        plan: the experiments to train, at a scale.
    """

    compute: Callable[[Scale, Records], Measured]  # type: ignore[assignment]
    plan: Callable[[Scale], Sequence[Experiment]]
    formula: bool = field(default=False, kw_only=True)

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
    """The pairs of row and column in order, each once."""
    yield from dict.fromkeys((row, column) for row, column, _ in found)
