"""`nalm bench`: train units on a task for many seeds."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalm import interrupts
from nalm.cli.bench_options import (
    DryRun,
    Fresh,
    Hidden,
    Inputs,
    Iterations,
    Ops,
    Published,
    Ranges,
    RecipeName,
    ScaleName,
    ScheduleName,
    Seeds,
    Target,
    TaskName,
    TestFile,
    Threshold,
    Units,
)
from nalm.cli.comma_lists import items
from nalm.cli.data_folder import use_data_folder
from nalm.cli.executor import chosen_executor
from nalm.cli.json_file import check_writable, write_json
from nalm.cli.options import DEFAULT_STORE, DataDir, Device, Jobs, Json, Scheduler, StoreFile
from nalm.cli.output import duration, print_table, say, say_all
from nalm.cli.progress import shown_progress
from nalm.errors import ArgumentError, check_above_zero, check_choice, check_positive
from nalm.experiment.remembered import remember, remembered
from nalm.experiment.request import Request
from nalm.report import tables

if TYPE_CHECKING:
    from nalm.experiment.bench import Experiment
    from nalm.experiment.executor import Executor


def bench(
    task: TaskName,
    op: Ops = None,
    units: Units = None,
    ranges: Ranges = None,
    inputs: Inputs = None,
    seeds: Seeds = None,
    target: Target = None,
    test: TestFile = None,
    hidden: Hidden = 2,
    iterations: Iterations = None,
    schedule: ScheduleName = "scaled",
    recipe: RecipeName = None,
    scale: ScaleName = "paper",
    threshold: Threshold = None,
    published: Published = None,
    store: StoreFile = DEFAULT_STORE,
    fresh: Fresh = False,
    dry_run: DryRun = False,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    device: Device = "cpu",
    data_dir: DataDir = None,
    json_file: Json = None,
) -> None:
    """Train units on a task for many seeds and print how often they solve it, with intervals.

    Runs in the store are not computed again; an interrupted command resumes when it is run again.
    """
    _check_threshold(threshold, published)
    check_writable(json_file)
    use_data_folder(data_dir)
    common: dict[str, Any] = {
        "seeds": seeds,
        "scale": check_choice("scale", scale, ("quick", "paper")),
        "iterations": iterations,
        "recipe": recipe,
        "schedule": schedule,
        "hidden": check_positive("hidden", hidden),
    }
    of_tasks: dict[str, Any] = {"op": items("op", op), "ranges": items("ranges", ranges), "inputs": inputs}
    of_files = {"target": target, "test": test}
    names = items("units", units)
    request = Request(task, names, threshold=threshold, published=published, **of_tasks, **common)
    is_other = fresh or dry_run or scheduler is not None or (jobs is not None and jobs < 1)
    is_of_file = Path(task).is_file() or any(value is not None for value in of_files.values())
    result = None if is_other or is_of_file else remembered(store, request)
    if result is None:
        experiment = _experiment(task, names, of_tasks, of_files, common)
        with chosen_executor(jobs, scheduler, device) as executor:
            if dry_run:
                _print_plan(experiment, store, executor.size, fresh, json_file)
                return
            result = _computed(experiment, store, executor, request, fresh)
    if not write_json(result, json_file):
        _print_bench(result)
    if result["computed_runs"]:
        say(f"{result['computed_runs']} runs computed in {duration(result['seconds'])}.")


def _experiment(
    task: str,
    units: list[str] | None,
    of_tasks: dict[str, Any],
    of_files: dict[str, Any],
    common: dict[str, Any],
) -> Experiment:
    """What is asked for, of a task by its name or of a file of numbers."""
    with interrupts.importing():
        from nalm.experiment.bench import make_experiment, table_experiment
        from nalm.tasks import Table
        from nalm.tasks.csv_file import ENDINGS

    is_file = task.endswith(ENDINGS) or Path(task).is_file()
    kind, wrong = ("a file of numbers", of_tasks) if is_file else ("a task by its name", of_files)
    for name, value in wrong.items():
        if value is not None:
            raise ArgumentError(name, f"left out for {kind}", repr(value if name != "test" else str(value)))
    with contextlib.redirect_stdout(sys.stderr):  # what a user's unit prints is not a result
        if is_file:
            return table_experiment(Table.from_csv(task, **of_files), units, **common)
        ops, ranges, inputs = of_tasks.values()
        return make_experiment(task, units, ops, ranges, inputs=inputs, **common)


def _check_threshold(threshold: float | None, published: bool | None) -> None:
    if threshold is None:
        return
    check_above_zero("threshold", threshold)
    if published:
        raise ArgumentError("published", "left out with --threshold, which papers do not use", "--published")


def _computed(
    experiment: Experiment, path: Path, executor: Executor, request: Request, fresh: bool
) -> dict[str, Any]:
    """The JSON of the benchmark, after computing the runs that the store lacks; the store remembers it."""
    from nalm.experiment.bench import Store, do_work, make_work, schedule_notes
    from nalm.papers.benched import has_own_units, with_published

    with Store(path) as store:
        work = make_work(experiment, store, executor.size, fresh=fresh)
        if work.missing:
            say_all(schedule_notes(experiment))
            say(f"{work.missing} runs to compute, {work.stored} stored in {path}.")
        with shown_progress() as on_progress:
            result = do_work(work, store, executor, on_progress, threshold=request.threshold)
        wanted = has_own_units(experiment) if request.published is None else request.published
        result = with_published(result, experiment, wanted=wanted and request.threshold is None)
        remember(store, request, experiment, result)
    return result


def _print_plan(
    experiment: Experiment, path: Path, processes: int, fresh: bool, json_file: str | None
) -> None:
    from nalm.experiment.bench import plan_work, schedule_notes

    work = plan_work(experiment, path, processes, fresh=fresh)
    say_all(schedule_notes(experiment))
    plan = {
        "runs": work.missing + work.stored,
        "stored_runs": work.stored,
        "computed_runs": work.missing,
        "chunks": len(work.chunks),
        "processes": processes,
        "run_steps": work.run_steps,
        "estimated_seconds": work.estimate(processes),
    }
    if write_json(plan, json_file):
        return
    parts = f"{work.missing} to compute in {len(work.chunks)} chunks"
    print(f"{plan['runs']} runs, {work.stored} of them stored; {parts}")
    print(f"on {processes} processes: about {duration(plan['estimated_seconds'])}, compiling included.")


def _print_bench(result: dict[str, Any]) -> None:
    """All rows and, if units can be compared, which unit is best for which operation."""
    print_table(tables.bench_table(result))
    if line := tables.second_order_line(result):
        print(line)
    for note in result["notes"]:
        print(note)
    if any(len(entry["units"]) > 1 for entry in result["summary"]):
        print_table(tables.summary_table(result))
    if table := tables.published_table(result):
        print_table(table)
