"""`nalm runs`: the stored runs, and whether they are intact."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from nalm import interrupts
from nalm.cli.comma_lists import items, numbers
from nalm.cli.json_file import write_json
from nalm.cli.options import DEFAULT_STORE, Json, StoreFile
from nalm.cli.output import print_table
from nalm.cli.progress import now_and_then
from nalm.errors import ArgumentError
from nalm.report import tables


def runs(
    unit: Annotated[str | None, typer.Option(metavar="LIST", help="Only runs of these units.")] = None,
    op: Annotated[str | None, typer.Option(metavar="LIST", help="Only these operations.")] = None,
    range_: Annotated[
        str | None, typer.Option("--range", metavar="LIST", help="Only these training ranges.")
    ] = None,
    seed: Annotated[str | None, typer.Option(metavar="LIST", help="Only these seeds.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only list damaged runs; the exit code is 1 if there are any.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Like --check, and remove damaged runs, to be computed again.")
    ] = False,
    store: StoreFile = DEFAULT_STORE,
    json_file: Json = None,
) -> None:
    """Show stored runs, one line per run: outcome, weights, expression, curve."""
    if check or repair:
        if any(value is not None for value in (unit, op, range_, seed)):
            raise ArgumentError("check", "given without --unit, --op, --range and --seed", "one of them")
        _check_store(store, repair, json_file)
    with interrupts.importing():
        from nalm.experiment.describe import Filter, described_runs

    wanted = Filter(items("unit", unit), items("op", op), items("range", range_), numbers("seed", seed))
    with contextlib.redirect_stdout(sys.stderr):  # what a user's unit prints is not a result
        found = described_runs(store, wanted, on_progress=now_and_then("runs read"))
    if not write_json({"runs": found}, json_file):
        print_table(tables.runs_table(found))


def _check_store(store: Path, repair: bool, json_file: str | None) -> NoReturn:
    """Print which runs are damaged and exit with code 0 if none is, 1 otherwise."""
    from nalm.experiment.check import check_store

    found = check_store(store, repair=repair, on_progress=now_and_then("runs checked"))
    if not write_json(found.data(), json_file):
        print(found)
    raise typer.Exit(0 if found.is_whole else 1)
