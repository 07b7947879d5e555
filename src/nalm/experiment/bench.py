"""A benchmark: every run of some units, operations, ranges and seeds, from the store where it is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nalm.compose import ModelSpec
from nalm.errors import ArgumentError, check_choice, check_positive
from nalm.evaluate.outcome import Outcome, outcome_of
from nalm.evaluate.summary import solved_step, summarise
from nalm.experiment.local import Progress, compute_locally
from nalm.experiment.plan import Chunk, make_plan
from nalm.experiment.run import Run
from nalm.experiment.store import Record, Store
from nalm.tasks import OPERATIONS, TEST_RANGES, SingleModule, Split
from nalm.units import UNITS

TASK = "single-module"
SECONDS_PER_STEP, SECONDS_TO_COMPILE = 1e-6, 30.0


@dataclass(frozen=True)
class Cell:
    """What becomes one row: a model on an operation and a range, for all seeds."""

    model: ModelSpec
    op: str
    range: str
    runs: tuple[Run, ...]


def make_cells(
    models: Sequence[ModelSpec],
    ops: Sequence[str] | None,
    ranges: Sequence[str] | None,
    *,
    inputs: int = 2,
    seeds: int = 25,
    iterations: int | None = None,
) -> list[Cell]:
    """All combinations; each model on those of the operations that it can express."""
    check_positive("seeds", seeds)
    for op in ops or ():
        check_choice("op", op, OPERATIONS)
    if iterations is not None:
        check_positive("iterations", iterations)
    cells = []
    for model in models:
        able = [op for op in OPERATIONS if op in model.ops]
        wanted = able if ops is None else [op for op in ops if op in able]
        if not wanted:
            can = f"one that {model} can express ({', '.join(able) or 'none on this task'})"
            raise ArgumentError("op", can, ", ".join(ops or ()) or "none")
        for op in wanted:
            for name in ranges or TEST_RANGES:
                if SingleModule(op, name, inputs=inputs).threshold() is None:
                    expected = f"with a test range on which {op} has an error that can be bounded"
                    raise ArgumentError("ranges", expected, repr(name), "A quotient has none around zero.")
                runs = [Run(model, op, name, inputs, seed, iterations) for seed in range(seeds)]
                cells.append(Cell(model, op, name, tuple(runs)))
    return cells


@dataclass(frozen=True)
class Work:
    """What there is to do: all cells, and the chunks of those runs that are not stored."""

    cells: list[Cell]
    chunks: list[Chunk]
    stored: int

    @property
    def missing(self) -> int:
        """Runs to compute."""
        return sum(len(chunk.runs) for chunk in self.chunks)

    def estimate(self, processes: int) -> float:
        """Seconds that it takes, roughly, compiling included."""
        if not self.chunks:
            return 0.0
        steps = sum(chunk.run_steps * chunk.runs[0].inputs / 2 for chunk in self.chunks)
        alone = steps * SECONDS_PER_STEP + len(self.chunks) * SECONDS_TO_COMPILE
        return max(alone / processes, SECONDS_TO_COMPILE)


def parse_models(texts: Sequence[str] | None, recipe: str | None) -> list[ModelSpec]:
    """Models by their names, by default all units of arithmetic; those without a recipe get this one."""
    if texts is None:
        texts = [name for name, unit in UNITS.items() if set(unit.ops) & set(OPERATIONS)]
    return [ModelSpec.parse(text).with_recipe(recipe) for text in texts]


def make_plan_only(cells: list[Cell], path: Path, processes: int, *, fresh: bool = False) -> Work:
    """What there is to do, without making a store that does not exist."""
    if not path.exists():
        return make_work(cells, None, processes)
    with Store(path) as store:
        return make_work(cells, store, processes, fresh=fresh)


def make_work(cells: list[Cell], store: Store | None, processes: int, *, fresh: bool = False) -> Work:
    """What is missing in the store, or everything if it is to be computed afresh."""
    runs = {run.id: run for cell in cells for run in cell.runs}
    known = set() if store is None or fresh else store.known(runs)
    missing = [run for name, run in runs.items() if name not in known]
    return Work(cells, make_plan(missing, processes), len(known))


def do_work(
    work: Work, store: Store, processes: int, tell: Callable[[Progress], None] = lambda progress: None
) -> dict[str, Any]:
    """Compute what is missing, store it chunk by chunk, and evaluate everything: the JSON of a benchmark."""
    began = time.perf_counter()
    for records in compute_locally(work.chunks, processes, tell):
        store.add(records)
    seconds = time.perf_counter() - began
    steps = sum(chunk.run_steps for chunk in work.chunks)
    return {
        "task": TASK,
        "rows": list(rows(work.cells, store)),
        "computed_runs": work.missing,
        "stored_runs": work.stored,
        "seconds": seconds,
        "run_steps_per_second": steps / seconds if steps else None,
    }


def rows(cells: Sequence[Cell], store: Store) -> Iterator[dict[str, Any]]:
    """One row a cell."""
    wanted = {run.id for cell in cells for run in cell.runs}
    records = {record.id: record for record in store.records(wanted, weights=False)}
    for cell in cells:
        yield _row(cell, [records[run.id] for run in cell.runs])


def _row(cell: Cell, records: list[Record]) -> dict[str, Any]:
    run = cell.runs[0]
    task, model = run.task, cell.model
    threshold, inner = task.threshold(Split.TEST), task.threshold(Split.VALIDATION)
    assert threshold is not None
    outcomes = [
        outcome_of(r.validation[r.chosen], r.test[r.chosen], r.diverged_at >= 0, threshold, inner)
        for r in records
    ]
    solved = [r for r, outcome in zip(records, outcomes) if outcome is Outcome.SOLVED]
    return {
        "unit": "+".join(unit.name for unit in model.units),
        "recipe": model.recipe or model.usual_recipe,
        "options": {k: v for options in model.options for k, v in options},
        "op": cell.op,
        "inputs": run.inputs,
        "train_range": task.train_range.segments,
        "test_range": task.test_range.segments,
        "iterations": run.recipe.iterations,
        "threshold": threshold,
        **summarise(
            outcomes,
            [solved_step(r.steps, r.test, threshold) for r in solved],
            [r.sparsity for r in solved if r.sparsity is not None],
        ),
    }
