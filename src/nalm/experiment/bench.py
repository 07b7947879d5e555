"""A benchmark: every run of some models, operations, ranges and seeds, read from the store or computed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nalm.engine.checkpoint import discard
from nalm.errors import ArgumentError, check_choice, check_positive
from nalm.evaluate.ranking import rank
from nalm.experiment.asked import Asked
from nalm.experiment.checkpoints import checkpoint_folder
from nalm.experiment.executor import Executor, OnProgress
from nalm.experiment.plan import Chunk, make_plan
from nalm.experiment.rows import evaluate
from nalm.experiment.run import Case, Run, knows_ideal_weights
from nalm.experiment.store import Store
from nalm.models import ModelSpec
from nalm.models.sequence_baselines import SequenceBaseline
from nalm.recipes.steps import SCHEDULES
from nalm.tasks import OPERATIONS, RangeTask, Table, Task
from nalm.tasks.registry import task_kind
from nalm.training.trainers import trainer_of
from nalm.units import UNITS

SECONDS_TO_COMPILE = 4.0
IMAGES_PER_SECOND = 1800.0
"""Images that one core trains on, roughly; large classifiers are three times slower."""
Pairs = Sequence[tuple[ModelSpec, Sequence[Task]]]
"""Models, each with the tasks that it is trained on."""
MOST_RUNS = 1_000_000
"""The most runs of one command: planning them takes seconds, computing them days."""


@dataclass(frozen=True)
class Experiment:
    """What to compare: cases, each trained for the seeds 0 … seeds - 1."""

    task: str
    cases: tuple[Case, ...]
    seeds: int

    def __post_init__(self) -> None:
        most = MOST_RUNS // max(1, len(self.cases))
        if self.seeds > most:
            rows = f"{len(self.cases):,} row{'' if len(self.cases) == 1 else 's'}"
            expected = f"at most {most:,} for {rows} of results, {MOST_RUNS:,} runs per command"
            raise ArgumentError("seeds", expected, f"{self.seeds:,}")

    def runs(self) -> Iterator[Run]:
        """All runs, case by case."""
        for case in self.cases:
            yield from (Run(case, seed) for seed in range(self.seeds))


def make_experiment(
    task: str,
    models: Sequence[str] | None = None,
    ops: Sequence[str] | None = None,
    ranges: Sequence[str] | None = None,
    *,
    inputs: int | None = None,
    seeds: int | None = None,
    scale: str = "paper",
    iterations: int | None = None,
    recipe: str | None = None,
    hidden: int = 2,
    schedule: str = "scaled",
) -> Experiment:
    """All combinations; each model on the operations that it can express, and the reference of the task.

    Args:
        task: the name of a task.
        models: as on the command line; by default those of the task.
        ops: operations; by default all.
        ranges: names of ranges or of sets of them, or `train=>test`; by default those of the task.
        inputs: the number of inputs; by default that of the task.
        seeds: the number of seeds; by default the task's at this scale.
        scale: "paper", or "quick" for fewer seeds and the task's reduced protocol if it has one.
        iterations: the number of steps; by default those of the recipes.
        recipe: the recipe of models that name none; without `models`, only those that have it are taken.
        hidden: the number of values between the units of a stack.
        schedule: whether fewer steps shorten the recipes' schedules ("scaled") or cut them off ("published").
    """
    kind, asked = task_kind(task), Asked(ops, ranges, inputs)
    if iterations is not None:
        check_positive("iterations", iterations)
    specs = _models(kind, models, recipe)
    pairs = [(spec, asked.tasks_for(kind, spec, is_named=models is not None)) for spec in specs]
    if not any(tasks for _, tasks in pairs):
        raise ArgumentError("op", f"one that the default models of {task} can express", ", ".join(ops or ()))
    count = _usual_seeds(kind, seeds, scale)
    if scale == "quick":
        pairs = [(spec, [each.reduced() for each in tasks]) for spec, tasks in pairs]
    return _experiment(task, _with_references(pairs), count, iterations, hidden, schedule)


def _usual_seeds(kind: type[Task], seeds: int | None, scale: str) -> int:
    usual = kind.usual_seeds[check_choice("scale", scale, kind.usual_seeds)]
    return usual if seeds is None else seeds


def _with_references(pairs: Pairs) -> Pairs:
    """With the reference of every task that has one, after the models that it judges."""
    wanted: dict[str, list[Task]] = {}
    for spec, tasks in pairs:
        for each in tasks:
            if each.reference is not None and str(spec) != each.reference:
                wanted.setdefault(each.reference, []).append(each)
    return [*pairs, *((ModelSpec.parse(name), list(dict.fromkeys(held))) for name, held in wanted.items())]


def table_experiment(
    table: Table,
    models: Sequence[str] | None = None,
    *,
    seeds: int | None = None,
    scale: str = "paper",
    iterations: int | None = None,
    recipe: str | None = None,
    hidden: int = 2,
    schedule: str = "scaled",
) -> Experiment:
    """Models on a table of numbers; the arguments are those of `make_experiment`."""
    pairs: Pairs = [(spec, [table]) for spec in _models(Table, models, recipe)]
    return _experiment(table.name, pairs, _usual_seeds(Table, seeds, scale), iterations, hidden, schedule)


def _experiment(
    name: str,
    pairs: Pairs,
    seeds: int,
    iterations: int | None,
    hidden: int,
    schedule: str,
) -> Experiment:
    """Every model on its tasks; a model that cannot be trained is refused before any work."""
    check_positive("seeds", seeds)
    check_choice("schedule", schedule, SCHEDULES)
    cases = []
    for model, tasks in pairs:
        _check_sequences(model, tasks)
        between = hidden if len(model.layers) > 1 else 2  # a single unit has no use for it
        made = [Case(model, task, iterations, hidden=between, schedule=schedule) for task in tasks]
        for case in made:
            _check_threshold(case)
        if made:
            model.check(*made[-1].task.unit_features)
            trainer_of(made[-1].recipe).check(made[-1].build(), made[-1].task)
        cases += made
    return Experiment(name, tuple(dict.fromkeys(cases)), seeds)


def schedule_notes(experiment: Experiment) -> list[str]:
    """What another number of steps does to the recipes: a sentence for each group of models it applies to."""
    said: dict[str, list[str]] = {}
    for case in experiment.cases:
        timing = case.timing
        steps = f"{case.recipe.iterations:,} instead of {timing.usual_steps:,} steps"
        if timing.changes:
            text = f"schedules {timing.kind} to {steps}: {'; '.join(timing.changes)}."
            said.setdefault(text, []).append(str(case.model))
        if timing.missed:
            cure = " With --schedule scaled, schedules are shortened too." if timing.kind == "cut" else ""
            text = f"with {steps}, {'; '.join(timing.missed)}.{cure}"
            said.setdefault(text, []).append(str(case.model))
    return [f"{', '.join(dict.fromkeys(models))}: {text}" for text, models in said.items()]


def _models(kind: type[Task], texts: Sequence[str] | None, recipe: str | None) -> list[ModelSpec]:
    """Models by name; by default those of the task that have the recipe."""
    if texts is not None:
        return [ModelSpec.parse(text).with_recipe(recipe) for text in texts]
    ops = set(kind.ops or OPERATIONS)
    usual = kind.models or [name for name, unit in UNITS.items() if set(unit.ops) & ops]
    models = [ModelSpec.parse(text) for text in usual]
    able = [model.with_recipe(recipe) for model in models if model.is_made_for(recipe)]
    return able or [model.with_recipe(recipe) for model in models]  # refuses a recipe that none of them has


def _check_sequences(model: ModelSpec, tasks: Sequence[Task]) -> None:
    """Refuse a recurrent network where nothing is recurrent."""
    recurrent = any(issubclass(layer.kind, SequenceBaseline) for layer in model.layers)
    wrong = next((task for task in tasks if recurrent and not task.has_sequences), None)
    if wrong is not None:
        expected = f"units or networks that take numbers: {wrong.name} has no sequences"
        hint = "Recurrent networks can be trained on mnist-sequential, mnist-series and programs."
        raise ArgumentError("units", expected, str(model), hint)


def _check_threshold(case: Case) -> None:
    """Refuse a range on which no threshold can decide whether a run is solved."""
    task = case.task
    if isinstance(task, RangeTask) and task.threshold() is None and not knows_ideal_weights(case):
        expected = f"ranges with a test range on which {case.model} has a known threshold"
        hint = "On a test range around zero, only a single unit with known ideal weights can be judged."
        raise ArgumentError("ranges", expected, repr(task.range), hint)


@dataclass(frozen=True)
class Work:
    """The work of an experiment: chunks of the runs that are not stored, and the number of stored runs."""

    experiment: Experiment
    chunks: list[Chunk]
    stored: int

    @property
    def missing(self) -> int:
        """The number of runs to compute."""
        return sum(len(chunk.runs) for chunk in self.chunks)

    @property
    def run_steps(self) -> int:
        """The number of run-steps to compute."""
        return sum(chunk.run_steps for chunk in self.chunks)

    def estimate(self, processes: int) -> float:
        """Roughly how many seconds it takes, including compilation."""
        if not self.chunks:
            return 0.0
        compiling = [_seconds_to_compile(chunk) for chunk in self.chunks]
        alone = sum(map(_seconds_alone, self.chunks)) + sum(compiling)
        return max(alone / processes, 1.0, *compiling)


def _seconds_to_compile(chunk: Chunk) -> float:
    return SECONDS_TO_COMPILE if trainer_of(chunk.first.recipe).programs else 0.0


def _seconds_alone(chunk: Chunk) -> float:
    """Roughly how many seconds a chunk takes on one core, without compilation."""
    recipe, task = chunk.first.recipe, chunk.first.task
    if task.images_per_step is not None:
        return chunk.run_steps * task.images_per_step / IMAGES_PER_SECOND
    if task.seconds_per_step is not None:
        return chunk.run_steps * task.seconds_per_step
    return trainer_of(recipe).seconds(len(chunk.runs), recipe, task.in_features)


def plan_work(experiment: Experiment, path: Path, processes: int, *, fresh: bool = False) -> Work:
    """The work of an experiment, without creating a store that does not exist."""
    if not path.exists():
        return make_work(experiment, None, processes)
    with Store(path) as store:
        return make_work(experiment, store, processes, fresh=fresh)


def make_work(experiment: Experiment, store: Store | None, processes: int, *, fresh: bool = False) -> Work:
    """The runs that are missing in the store, or with `fresh` all runs."""
    runs = {run.id: run for run in experiment.runs()}
    known = set() if store is None or fresh else store.known(runs)
    missing = [run for name, run in runs.items() if name not in known]
    return Work(experiment, make_plan(missing, processes), len(known))


def compute_missing(work: Work, store: Store, executor: Executor, on_progress: OnProgress) -> None:
    """Compute the missing runs and store them chunk by chunk; checkpoints of stored runs are deleted."""
    checkpoints = checkpoint_folder(store.path)
    for records in executor.compute(work.chunks, on_progress, checkpoints):
        store.add(records)
        discard(checkpoints, (record.id for record in records))


def do_work(
    work: Work,
    store: Store,
    executor: Executor,
    on_progress: OnProgress = lambda progress: None,
    *,
    threshold: float | None = None,
) -> dict[str, Any]:
    """Compute and store the missing runs, then evaluate all runs: the data of a benchmark's JSON."""
    began = time.perf_counter()
    compute_missing(work, store, executor, on_progress)
    seconds = time.perf_counter() - began
    rows = list(evaluate(work.experiment, store, threshold))
    return {
        "task": work.experiment.task,
        "rows": rows,
        "summary": rank(rows),
        "notes": schedule_notes(work.experiment),
        "computed_runs": work.missing,
        "stored_runs": work.stored,
        "seconds": seconds,
        "run_steps_per_second": work.run_steps / seconds if work.run_steps else None,
    }
