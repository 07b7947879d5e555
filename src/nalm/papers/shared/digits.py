"""Experiments on images of digits, and others in rows of runs: what is trained, and what is read from it.

At the quick scale a task's own reduced protocol is run (`Task.reduced`): fewer seeds and epochs, and other
schedules. The measures that are read here have names such as `test/mse_by_length`, and a curve
`*shape x logs` each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nalm.evaluate.intervals import NOTHING, Interval, beta_interval, gamma_interval, t_interval
from nalm.evaluate.reference import upper_bound
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, FewerRuns, chosen_rows, fewer
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import found, share
from nalm.papers.shared.series import Change
from nalm.tasks import Split, Task
from nalm.tasks.digits._base import DigitTask
from nalm.tasks.digits.sequences import SequenceTask

BY_LENGTH, DIGITS = "test/mse_by_length", "test/digits"
ACCURACY, BOUND = "accuracy", "bound"
_EXACT = 1e-6
"""Weights this close to 1 are 1, as far as single precision tells."""


def digit_case(model: str, task: Task, scale: Scale, change: Change | None = None) -> Case:
    """A model on a task at a scale; a change that changes nothing gives the same case as none.

    At the quick scale it is the task with its reduced protocol, unless the scale says how many steps to take.
    """
    taken = task.reduced() if scale.quick and scale.steps is None else task
    plain = Case(ModelSpec.parse(model), taken, schedule="scaled")
    named = plain.named_recipe
    recipe = named if change is None else change(named)
    steps = None if scale.steps is None else max(1, round(scale.steps * recipe.iterations))
    return replace(plain, iterations=steps, other_recipe=None if recipe == named else recipe)


_SIZES = {
    "batch_size": "samples in a batch",
    "few": "different images in a batch",
    "per_digit": "images of each digit in a batch",
    "reader": "reader",
    "side": "points along each side of an image",
    "most_digits": "digits in an image",
    "test_samples": "samples of the test",
    "most_images": "images of the test",
    "dropout": "dropout of the reader",
}
"""What a reduced protocol may have less of, and how that is said."""
_UNLIMITED = {"few": "one for each place", "per_digit": "one for each place"}
"""What the papers have where there is no limit, if not all."""


def less_than_the_papers(case: Case, full: Case) -> list[str]:
    """How a case falls short of the full one: epochs and schedules, and sizes of its data."""
    ours, theirs = case.task, full.task
    steps, all_steps = case.recipe.iterations, full.recipe.iterations
    window = (
        "penalties grow in their third quarter, the learning rate falls to zero in their second half"
        if isinstance(ours, DigitTask) and ours.is_quick
        else "schedules shortened with them"
    )
    epoch, whole_epoch = ours.epoch(), theirs.epoch()
    if epoch is None or whole_epoch is None:
        notes = [f"steps: {steps:,} instead of {all_steps:,}, {window}"] if steps < all_steps else []
    else:
        epochs, whole = steps / epoch, all_steps / whole_epoch
        notes = [f"epochs: {epochs:.3g} instead of {whole:g}, {window}"] if epochs < whole else []
    rate, usual_rate = (c.recipe.optimiser.learning_rate for c in (case, full))
    if rate != usual_rate:
        notes.append(f"learning rate: {rate:g} instead of {usual_rate:g}")
    for name, words in _SIZES.items():
        less, more = (_size(task, name) for task in (ours, theirs))
        if less != more:
            usual = _UNLIMITED.get(name, "all") if more is None else more
            notes.append(f"{words}: {less} instead of {usual}")
    return notes


def _size(task: Task, name: str) -> float | str | None:
    if name == "test_samples":
        return task.samples(Split.TEST)
    size: float | str | None = getattr(task, name, None)
    return size


@dataclass(frozen=True)
class DigitRow:
    """A model on a task: a row of a table, or one column of it.

    Attributes:
        row: its name in the paper.
        model: the model as written on the command line.
        task: the task.
        change: what it changes in the model's recipe.
        column: the column, where the columns of a row are several cases.
    """

    row: str
    model: str
    task: Task
    change: Change | None = None
    column: str = ""

    def case(self, scale: Scale) -> Case:
        """What is trained for it."""
        return digit_case(self.model, self.task, scale, self.change)


Held = Sequence[tuple[DigitRow, Sequence[Record]]]
"""Rows with their stored runs."""
Reading = Callable[[Held], Measured]
"""What an entry reads from the runs."""


@dataclass(frozen=True)
class DigitLayout:
    """Rows of runs, and what is read from them.

    Attributes:
        entry: the name of the entry.
        rows: what is trained.
        seeds: the number of seeds in the paper.
        read: what is read from the runs.
        always: rows that are trained even if the scale asks for others: a reference.
    """

    entry: str
    rows: tuple[DigitRow, ...]
    seeds: int
    read: Reading
    always: tuple[str, ...] = ()

    def wanted(self, scale: Scale) -> list[DigitRow]:
        """The rows that the scale asks for."""
        names = {*chosen_rows(scale, (row.row for row in self.rows)), *self.always}
        return [row for row in self.rows if row.row in names]

    def budget(self, scale: Scale) -> Budget:
        """The seeds at a scale."""
        return Budget(scale, self.seeds, self.rows[0].task.usual_seeds["quick"])

    def plan(self, scale: Scale) -> list[Experiment]:
        """Every case once, trained for every seed."""
        cases = dict.fromkeys(row.case(scale) for row in self.wanted(scale))
        return [Experiment(self.entry, tuple(cases), self.budget(scale).seeds)]

    def compute(self, scale: Scale, records: Records) -> Measured:
        """What is read from the runs that are stored, and what falls short of the paper's protocol."""
        wanted = self.wanted(scale)
        held = [(row, runs) for row in wanted if (runs := records.get(row.case(scale)))]
        measured = self.read(held)
        partial = measured.partial or len(held) < len(wanted)
        notes = [*self._fewer_runs(held), *measured.reduced, *self._fewer_steps(scale, wanted)]
        notes += [FewerRuns(note) for note in fewer("cells", len(held), len(wanted))]
        count = sum({row.case(scale): len(runs) for row, runs in held}.values())
        return replace(measured, reduced=notes, partial=partial, runs=count)

    def _fewer_runs(self, held: Held) -> list[str]:
        counts = sorted({len(runs) for _, runs in held})
        if not counts or counts[0] >= self.seeds:
            return []
        span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
        return [FewerRuns(f"seeds: {span} instead of {self.seeds}")]

    def _fewer_steps(self, scale: Scale, rows: Sequence[DigitRow]) -> list[str]:
        notes = (less_than_the_papers(row.case(scale), row.case(Scale())) for row in rows)
        return list(dict.fromkeys(note for of_row in notes for note in of_row))


# -- success by length -----------------------------------------------------------------------------


def chosen(record: Record, curve: str) -> np.ndarray:
    """A measure of a run at its chosen step."""
    return np.asarray(record.errors[curve])[..., record.chosen]


def length(count: int) -> str:
    """The column of a length."""
    return f"length {count}"


def lengths_of(task: Task) -> tuple[int, ...]:
    """The lengths of the sequences that it tests."""
    assert isinstance(task, SequenceTask)
    return task.lengths


def by_length(reference: str) -> Reading:
    """Success, its step and sparsity by length, against the bound that the runs of a solved reference set."""

    def read(held: Held) -> Measured:
        solved = [runs for row, runs in held if row.row == reference]
        if not solved or len(solved[0]) < 2:
            note = FewerRuns("cells: none, because the reference needs two runs for a bound")
            return Measured(Findings({}), [note], partial=True)
        bounds = bounds_of(solved[0])
        judged = [(row, runs) for row, runs in held if row.row != reference]
        findings = {key: each for row, runs in judged for key, each in _successes(row, runs, bounds)}
        for count, bound in zip(lengths_of(held[0][0].task), bounds):
            findings[reference, length(count), BOUND] = Finding(bound, None, None, len(solved[0]))
        return Measured(Findings(findings))

    return read


def bounds_of(reference: Sequence[Record]) -> list[float | None]:
    """The bound of each length; None where an error of the reference is not finite."""
    errors = np.array([chosen(record, BY_LENGTH) for record in reference])
    return [upper_bound(errors[:, k]) for k in range(errors.shape[1])]


def _successes(
    row: DigitRow, runs: Sequence[Record], bounds: Sequence[float | None]
) -> Iterator[tuple[Key, Finding]]:
    for k, count in enumerate(lengths_of(row.task)):
        steps = [solved_at(record, k, bounds[k]) for record in runs]
        when = [step for step in steps if step is not None]
        sparse = [r.sparsity for r, step in zip(runs, steps) if step is not None and r.sparsity is not None]
        measures: dict[str, Interval] = {
            "solved at": gamma_interval(when) if when else NOTHING,
            "sparsity": beta_interval(sparse) if sparse else NOTHING,
        }
        yield (row.row, length(count), "success"), share([step is not None for step in steps])
        for metric, interval in measures.items():
            yield (row.row, length(count), metric), found(interval, len(runs))


def solved_at(record: Record, place: int, bound: float | None) -> int | None:
    """The first logged step with an error below the bound; None if the chosen step's is not below it."""
    if bound is None or not chosen(record, BY_LENGTH)[place] < bound:
        return None
    below = np.asarray(record.errors[BY_LENGTH])[place] < bound
    return int(record.steps[int(below.argmax())])


# -- accuracies ------------------------------------------------------------------------------------


def mean(values: Sequence[float]) -> Finding:
    """The mean over seeds with Student's interval; none if a value is not finite."""
    return found(t_interval(values) if np.isfinite(values).all() else NOTHING, len(values))


def accuracy(matrix: np.ndarray) -> float:
    """In per cent, from how often each digit (row) is read as each (column)."""
    total = float(matrix.sum())
    return 100 * float(np.trace(matrix)) / total if total else math.nan


def digit_accuracies(matrix: np.ndarray) -> list[float]:
    """In per cent for each digit; NaN for one that does not occur."""
    totals = matrix.sum(1)
    return [100 * float(matrix[d, d] / totals[d]) if totals[d] else math.nan for d in range(len(matrix))]


def read_as(matrix: np.ndarray, digit: int) -> tuple[int, float]:
    """As what a digit is read most often, and the share of that."""
    total = float(matrix[digit].sum())
    most = int(matrix[digit].argmax())
    return most, float(matrix[digit, most]) / total if total else math.nan


# -- weights ---------------------------------------------------------------------------------------


def weight_path(record: Record) -> np.ndarray:
    """The two weights of the unit over time, `points x 2`, the last step included; empty if it has none."""
    for name, last in record.final_parameters.items():
        if last.size == 2 and name.rpartition(".")[2] == "weight":
            kept = record.history.get(name)
            before = np.zeros((0, 2)) if kept is None else np.asarray(kept).reshape(-1, 2)
            return np.concatenate([before, np.asarray(last, dtype=float).reshape(1, 2)])
    return np.zeros((0, 2))


def has_weights_of_one(record: Record) -> bool:
    """Whether the weights are 1 after the last step."""
    path = weight_path(record)
    return bool(len(path)) and bool((np.abs(path[-1] - 1) <= _EXACT).all())
