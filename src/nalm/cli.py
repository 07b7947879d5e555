"""The command line: parses, calls, prints. Results go to standard output, talk to standard error."""

from __future__ import annotations

import ast
import contextlib
import errno
import io
import json
import os
import re
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from nalm import catalogue, interrupts
from nalm._version import __version__
from nalm.engine.compiler import NO_COMPILER, obstacle
from nalm.errors import (
    ArgumentError,
    NalmError,
    check_above_zero,
    check_choice,
    check_positive,
    nearest,
    unknown,
)
from nalm.report import tables

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Neural Arithmetic Logic Modules: units that learn exact arithmetic, benchmarked and readable.",
)
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write JSON to FILE; - is standard output, JSON only."),
]


Jobs = Annotated[int | None, typer.Option(help="Processes; by default one per core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Compute on a Dask cluster, as in tcp://host:8786, not here."),
]
DEFAULT_STORE = Path("nalm-runs.sqlite")
StoreFile = Annotated[Path, typer.Option("--store", metavar="FILE", help="Where runs are kept.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("list")
def list_(
    kind: Annotated[
        str | None, typer.Argument(metavar="[units|tasks|ranges|papers]", show_default=False)
    ] = None,
    json_file: Json = None,
) -> None:
    """List what there is: units, tasks, ranges or papers; all of them by default."""
    kinds = catalogue.KINDS if kind is None else (check_choice("kind", kind, catalogue.KINDS),)
    data = {k: catalogue.listing(k) for k in kinds}
    if _write_json(data, json_file):
        return
    for k, rows in data.items():
        _print(tables.catalogue_table(k, rows, hidden=("class", "recipes", "papers", "models")))


@app.command()
def show(
    unit: Annotated[
        str, typer.Argument(metavar="UNIT", help="A name from `nalm list units`, or ./mine.py:MyUnit.")
    ],
    json_file: Json = None,
) -> None:
    """Show a unit: its equation, options, operations, recipes and papers."""
    page = catalogue.unit_page(unit)
    if _write_json(page, json_file):
        return
    print(page["description"])
    python = f"{page['class']} of {page['source']}" if page["source"] else f"nalm.{page['class']}"
    print("\nOn the command line:", page["name"], "   In Python:", python)
    print("Operations:", ", ".join(page["ops"]) or "not known; it may try all")
    options = ", ".join(f"{name}={default!r}" for name, default in page["options"].items())
    print("Options:", options or "none")
    print("\n" + page["arguments"] + "\n" if page["arguments"] != page["description"] else "")
    for op, recipe in page["published_recipes"].items():
        print(f"Published recipe for {op}: {recipe}")
    for name, recipes in page["other_recipes"].items():
        for op, recipe in recipes.items():
            print(f"Recipe {page['name']}@{name} for {op}: {recipe}")
    for paper in page["citations"]:
        print(
            f"Paper {paper['key']}: {paper['authors']} ({paper['year']}). {paper['title']}. {paper['venue']}."
        )


@app.command()
def doctor(json_file: Json = None) -> None:
    """Say what this machine offers: versions, processor, compiler, cache."""
    facts = catalogue.machine()
    if _write_json(facts, json_file):
        return
    for name, value in facts.items():
        print(f"{name:18} {value}")
    if facts["compiler"] is None:
        _say(f"{obstacle() or NO_COMPILER} Training works but is many times slower.")
    if not facts["cache_writable"]:
        _say(f"The cache folder {facts['cache']} cannot be written: every start compiles anew.")


@app.command()
def bench(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A name from `nalm list tasks`.")],
    op: Annotated[
        str | None, typer.Option(metavar="LIST", help="Operations; by default all that a unit can do.")
    ] = None,
    units: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="name[@recipe][(option=value;…)], a stack nau+nmu, a file ./mine.py:MyUnit; by default all.",
        ),
    ] = None,
    ranges: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Names from `nalm list ranges`, sets of them, or train=>test."),
    ] = None,
    inputs: Annotated[
        int | None, typer.Option(help="Number of inputs; by default that of the papers.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="How many seeds, from 0 on; by default 25.")] = None,
    hidden: Annotated[int, typer.Option(help="Values between the units of a stack.")] = 2,
    iterations: Annotated[int | None, typer.Option(help="Steps; by default those of the recipe.")] = None,
    schedule: Annotated[
        str,
        typer.Option(
            metavar="scaled|published",
            help="What fewer steps do to a recipe's schedules: shorten them (scaled) or cut them off.",
        ),
    ] = "scaled",
    recipe: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Recipe of units that name none themselves; without --units, those that it is made for. "
            "second-order: solve instead of train.",
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option(metavar="quick|paper", help="quick: 5 seeds unless --seeds says otherwise.")
    ] = "paper",
    threshold: Annotated[
        float | None, typer.Option(help="Error below which a run counts as solved; by default the task's.")
    ] = None,
    published: Annotated[
        bool | None,
        typer.Option(
            "--published/--no-published",
            help="Put the papers' numbers for the same tasks beside; by default where a unit is your own.",
        ),
    ] = None,
    store: StoreFile = DEFAULT_STORE,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute stored runs again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and an estimate only.")] = False,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    json_file: Json = None,
) -> None:
    """Train units on a task for many seeds and print how often they solve it, with intervals.

    What is in the store is not computed again; an interrupted command resumes when it is run again.
    """
    from nalm.experiment import bench as experiment
    from nalm.papers.benched import has_own_units, with_published

    usual = {"quick": 5, "paper": 25}
    if threshold is not None:
        check_above_zero("threshold", threshold)
    if threshold is not None and published:
        raise ArgumentError("published", "left out with --threshold, which papers do not use", "--published")
    _check_writable(json_file)
    with contextlib.redirect_stdout(sys.stderr):  # what a user's unit prints is no result
        wanted = experiment.make_experiment(
            task,
            _items("units", units),
            _items("op", op),
            _items("ranges", ranges),
            inputs=inputs,
            seeds=usual[check_choice("scale", scale, usual)] if seeds is None else seeds,
            iterations=iterations,
            recipe=recipe,
            schedule=schedule,
            hidden=check_positive("hidden", hidden),
        )
    notes = experiment.schedule_notes(wanted)
    with _workforce(jobs, scheduler) as workforce:
        if dry_run:
            plan = experiment.plan_work(wanted, store, workforce.size, fresh=fresh)
            _say_all(notes)
            _print_plan(plan, workforce.size, json_file)
            return
        with experiment.Store(store) as opened:
            work = experiment.make_work(wanted, opened, workforce.size, fresh=fresh)
            if work.missing:
                _say_all(notes)
                _say(f"{work.missing} runs to compute, {work.stored} stored in {store}.")
            with _shown_progress() as tell:
                result = experiment.do_work(work, opened, workforce, tell, threshold=threshold)
    beside = has_own_units(wanted) if published is None else published
    result = with_published(result, wanted, wanted=beside and threshold is None)
    if not _write_json(result, json_file):
        _print_bench(result)
    if work.missing:
        _say(f"{work.missing} runs computed in {_duration(result['seconds'])}.")


@app.command()
def runs(
    unit: Annotated[str | None, typer.Option(metavar="LIST", help="Only runs of these units.")] = None,
    op: Annotated[str | None, typer.Option(metavar="LIST", help="Only these operations.")] = None,
    range_: Annotated[
        str | None, typer.Option("--range", metavar="LIST", help="Only these training ranges.")
    ] = None,
    seed: Annotated[str | None, typer.Option(metavar="LIST", help="Only these seeds.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Instead, name all runs that are damaged; exit code 1 if any is.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="The same, and take damaged runs out, to be computed again.")
    ] = False,
    store: StoreFile = DEFAULT_STORE,
    json_file: Json = None,
) -> None:
    """Show stored runs, one line each: outcome, weights, expression, curve."""
    from nalm.experiment.describe import Filter, described_runs

    if check or repair:
        if any(value is not None for value in (unit, op, range_, seed)):
            raise ArgumentError("check", "given without --unit, --op, --range and --seed", "one of them")
        _check_store(store, repair, json_file)
    wanted = Filter(_items("unit", unit), _items("op", op), _items("range", range_), _numbers("seed", seed))
    with contextlib.redirect_stdout(sys.stderr):
        found = described_runs(store, wanted, tell=_now_and_then("runs read"))
    if not _write_json({"runs": found}, json_file):
        _print(tables.runs_table(found))


@app.command()
def export(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")],
    form: Annotated[str, typer.Option("--format", metavar="csv|parquet|json", help="Its format.")],
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Write all stored runs with their curves and weights to a file, one row a run."""
    from nalm.experiment.describe import Filter, described_runs
    from nalm.report.export import FORMATS, write_runs
    from nalm.report.files import check_output

    check_choice("format", form, FORMATS)
    check_output(output, store)
    with contextlib.redirect_stdout(sys.stderr):
        found = described_runs(store, Filter(), formulas=False)
    write_runs(found, output, form)
    _say(f"{len(found)} runs written to {output}.")


@app.command()
def report(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")] = Path(
        "report.html"
    ),
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Write one page with all stored results: tables, interactive plots, single runs, the ledger.

    The page is one file that opens from disk and needs no network.
    """
    from nalm.report.page import write_page

    with contextlib.redirect_stdout(sys.stderr):
        runs = write_page(store, output, tell=_now_and_then("runs read"))
    if not runs:
        what = f"There are no runs in {store}" if store.exists() else f"{store} does not exist"
        _say(f"{what}; the page says how to make some.")
    size = f"{output.stat().st_size / 1e6:.1f} MB"
    print(f"Report of {runs:,} run{'' if runs == 1 else 's'}: {output.resolve()} ({size})")


@app.command()
def reproduce(
    entry: Annotated[
        str | None, typer.Argument(metavar="ID", help="A table or figure from `nalm reproduce --list`.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Show all tables and figures, and what became of them.")
    ] = False,
    scale: Annotated[
        str, typer.Option(metavar="quick|paper", help="paper: the full protocol; quick: a reduced one.")
    ] = "paper",
    seeds: Annotated[int | None, typer.Option(help="Seeds; by default those of the protocol.")] = None,
    steps: Annotated[
        float | None, typer.Option(help="Part of the paper's steps; by default that of the protocol.")
    ] = None,
    rows: Annotated[str | None, typer.Option(metavar="LIST", help="Only these rows, split by ;.")] = None,
    figures: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the figure is written, as PNG and PDF.")
    ] = Path("."),
    store: StoreFile = DEFAULT_STORE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is to be computed only.")] = False,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    json_file: Json = None,
) -> None:
    """Run a table or figure of a paper, or read it from the store, and print ours beside theirs."""
    from nalm.papers import ledger

    if listed and entry is not None:
        raise ArgumentError("ID", "left out with --list", repr(entry))
    if listed:
        entries = ledger.listing()
        if not _write_json({"entries": entries}, json_file):
            _print(tables.ledger_table(entries))
        return
    if entry is None:
        raise ArgumentError("ID", "a table or figure, as in `nalm reproduce mistry2023:fig3.4`", "none")
    from nalm.papers import reproduce as reproduction
    from nalm.papers.entries import ENTRIES
    from nalm.papers.scale import make_scale

    if entry not in ENTRIES:
        hint = f"Did you mean {close!r}?" if (close := nearest(entry, ENTRIES)) else ""
        raise ArgumentError("ID", "one of `nalm reproduce --list`", repr(entry), hint)
    found = ENTRIES[entry]
    wanted = make_scale(scale, seeds, steps, None if rows is None else rows.split(";"))
    _check_writable(json_file)
    if not (figures.is_dir() and os.access(figures, os.W_OK)):
        raise ArgumentError("figures", "a folder that exists and can be written", repr(str(figures)))
    with _workforce(jobs, scheduler) as workforce:
        plan = reproduction.plan(found, wanted, store, workforce.size)
        if dry_run:
            if not _write_json(plan, json_file):
                print(_plan_sentence(plan))
            return
        if plan["computed_runs"]:
            _say(_plan_sentence(plan))
        with _shown_progress() as tell:
            measured = reproduction.measure(found, wanted, store, workforce, tell)
    result = reproduction.result_of(found, measured, wanted)
    if not _write_json(result, json_file):
        _print_reproduction(result)
    _save_figure(found, measured, figures, result["reduced"])


# Typer may carry its own copy of click; either way this is the base of all errors in the use of a command.
_UsageError: Any = typer.BadParameter.__mro__[1]


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and exit with its code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run a command: 0 done, 1 fault, 2 wrong usage, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter is no fault
    try:
        code = app(arguments, standalone_mode=False)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        if not interrupts.were_met() and not isinstance(error, KeyboardInterrupt):
            return _told(error)
        code = interrupts.CODE
    if code == interrupts.CODE:  # which typer also makes of an interruption
        _say(interrupts.sentence())
    return code if isinstance(code, int) else 0


def _told(error: Exception | SystemExit) -> int:
    """Say what went wrong in one sentence, and give the exit code; what is not foreseen is raised."""
    if isinstance(error, _UsageError):
        _say(_usage_sentence(error))
        return 2
    if isinstance(error, NalmError):
        _say(str(error))
        return 2 if isinstance(error, ArgumentError) else 1
    if isinstance(error, OSError):
        _say(f"Cannot use {error.filename!r}: {error.strerror}." if error.filename else str(error))
        return 1
    if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
        called = traceback.extract_tb(error.__traceback__)[-1]
        _say(f"{called.filename}:{called.lineno} ended the command: it must not call sys.exit.")
        return 2
    raise error


def _usage_sentence(error: Any) -> str:
    message = " ".join(error.format_message().split())
    if not message.startswith("No such command"):
        return message
    commands = [c.name or c.callback.__name__ for c in app.registered_commands if c.callback]
    quoted = message.removeprefix("No such command ").partition(" Did you mean")[0].rstrip(".")
    return str(unknown("COMMAND", str(ast.literal_eval(quoted)), commands))


def _write_json(data: Any, file: str | None) -> bool:
    """Write JSON where asked; True if standard output now belongs to it."""
    if file is None:
        return False
    text = json.dumps(data, indent=2, allow_nan=False)
    if file == "-":
        print(text)
        return True
    Path(file).write_text(text + "\n", encoding="utf-8")
    return False


def _check_writable(file: str | None) -> None:
    """Refuse a file that cannot be made before the work that fills it."""
    if file in (None, "-"):
        return
    if not Path(str(file)).parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
    if Path(str(file)).is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file)


def _items(argument: str, text: str | None) -> list[str] | None:
    """The items of a comma list; commas inside brackets separate nothing."""
    if text is None:
        return None
    items = [item.strip() for item in re.split(r",(?![^()]*\))", text)]
    if not all(items):
        raise ArgumentError(argument, "items separated by commas", repr(text))
    return items


def _check_store(store: Path, repair: bool, json_file: str | None) -> NoReturn:
    from nalm.experiment.check import check_store

    found = check_store(store, repair=repair, tell=_now_and_then("runs checked"))
    if not _write_json(found.data(), json_file):
        print(found)
    raise typer.Exit(0 if found.is_whole else 1)


def _numbers(argument: str, text: str | None) -> list[int] | None:
    items = _items(argument, text)
    if items is not None and not all(item.isdigit() for item in items):
        raise ArgumentError(argument, "whole numbers separated by commas", repr(text))
    return None if items is None else [int(item) for item in items]


def _print_plan(work: Any, processes: int, json_file: str | None) -> None:
    plan = {
        "runs": work.missing + work.stored,
        "stored_runs": work.stored,
        "computed_runs": work.missing,
        "chunks": len(work.chunks),
        "processes": processes,
        "run_steps": work.run_steps,
        "estimated_seconds": work.estimate(processes),
    }
    if _write_json(plan, json_file):
        return
    parts = f"{work.missing} to compute in {len(work.chunks)} chunks"
    print(f"{plan['runs']} runs, {work.stored} of them stored; {parts}")
    print(f"on {processes} processes: about {_duration(plan['estimated_seconds'])}, compiling included.")


@contextlib.contextmanager
def _workforce(jobs: int | None, scheduler: str | None) -> Iterator[Any]:
    """Who computes: the processes of this machine, or a cluster."""
    if scheduler is None:
        from nalm.experiment.local import Local

        yield Local(check_positive("jobs", catalogue.cores() if jobs is None else jobs))
        return
    if jobs is not None:
        raise ArgumentError("jobs", "left out with --scheduler", repr(jobs))
    from nalm.experiment.cluster import Cluster

    with Cluster(scheduler, _say) as cluster:
        yield cluster


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


@contextlib.contextmanager
def _shown_progress() -> Iterator[Callable[[Any], None]]:
    """A bar on a terminal, a line every ten seconds in a pipe; both on standard error."""
    if sys.stderr.isatty():
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("million steps"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(
            *columns, TextColumn("{task.fields[left]}"), console=Console(stderr=True), transient=True
        ) as bar:
            task = bar.add_task("train", total=None, left="compiling")

            def update(p: Any) -> None:
                left = _on_cluster(p) + _left(p)
                bar.update(task, total=p.total // 10**6, completed=p.done // 10**6, left=left)

            yield update
        return
    last = time.monotonic()

    def line(progress: Any) -> None:
        nonlocal last
        if time.monotonic() - last >= 10:
            last = time.monotonic()
            share, spent = progress.done / progress.total, _duration(progress.seconds)
            _say(f"{share:.0%} after {spent}, {_on_cluster(progress)}{_left(progress)}.")

    yield line


def _now_and_then(what: str) -> Callable[[int, int], None]:
    """Says every ten seconds how many of how many are done."""
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 10:
            last = time.monotonic()
            _say(f"{done} of {total} {what}.")

    return tell


def _on_cluster(progress: Any) -> str:
    """Workers and chunks, which there are on a cluster alone."""
    if progress.workers is None:
        return ""
    workers = f"{progress.workers} worker{'' if progress.workers == 1 else 's'}"
    return f"{workers}, {progress.chunks_done} of {progress.chunks} chunks, "


def _left(progress: Any) -> str:
    left = progress.seconds_left
    if left is not None:
        return f"{_duration(left)} left"
    return "compiling" if progress.workers is None else "time left not known yet"


def _print_bench(result: dict[str, Any]) -> None:
    """All rows, and where units can be compared which is for what."""
    _print(tables.bench_table(result))
    if line := tables.second_order_line(result):
        print(line)
    for note in result["notes"]:
        print(note)
    if any(len(entry["units"]) > 1 for entry in result["summary"]):
        _print(tables.summary_table(result))
    if table := tables.published_table(result):
        _print(table)


def _print_reproduction(result: dict[str, Any]) -> None:
    _print(tables.reproduction_table(result))
    counts = Counter(cell["verdict"] for cell in result["cells"])
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "No cells.")
    if result["reduced"]:
        print("Reduced: " + "; ".join(result["reduced"]) + ".")
    if result["note"]:
        print(result["note"])


def _plan_sentence(plan: dict[str, Any]) -> str:
    if plan["computed_runs"] is None:
        return f"{plan['id']} computes on its own and stores no runs; how long it takes is not known."
    return f"{plan['computed_runs']} runs to compute, in about {_duration(plan['estimated_seconds'])}."


def _save_figure(entry: Any, measured: Any, folder: Path, reduced: list[str]) -> None:
    """Write the figure; without the package that draws, the numbers still stand."""
    from nalm.papers.figures import MissingPackage, save
    from nalm.papers.ledger import file_name

    name = file_name(entry.id) + ("-quick" if reduced else "")
    try:
        files = save(entry, measured, folder, name, reduced)
    except MissingPackage as error:
        _say(str(error))
    else:
        _say(f"Figure written to {' and '.join(map(str, files))}.")


def _print(table: tables.TextTable) -> None:
    """A table on standard output, in the width of the terminal; in a pipe one line a row."""
    print(table.text(shutil.get_terminal_size().columns if sys.stdout.isatty() else None))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _say_all(texts: Iterable[str]) -> None:
    for text in texts:
        _say(text)
