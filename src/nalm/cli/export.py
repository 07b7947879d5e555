"""`nalm export`: all stored runs in one file."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from nalm import interrupts
from nalm.cli.options import DEFAULT_STORE, StoreFile
from nalm.cli.output import say
from nalm.errors import check_choice


def export(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")],
    form: Annotated[str, typer.Option("--format", metavar="csv|parquet|json", help="Its format.")],
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Write all stored runs with their curves and weights to a file, one row per run."""
    with interrupts.importing():
        from nalm.experiment.describe import Filter, described_runs
        from nalm.report.export import FORMATS, write_runs
        from nalm.report.files import check_output

    check_choice("format", form, FORMATS)
    check_output(output, store)
    with contextlib.redirect_stdout(sys.stderr):  # what a user's unit prints is not a result
        found = described_runs(store, Filter(), formulas=False)
    write_runs(found, output, form)
    say(f"{len(found)} runs written to {output}.")
