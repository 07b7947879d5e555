"""`nalm report`: all stored results on one page."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from nalm import interrupts
from nalm.cli.options import DEFAULT_STORE, StoreFile
from nalm.cli.output import say
from nalm.cli.progress import now_and_then


def report(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")] = Path(
        "report.html"
    ),
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Write one page with all stored results: tables, interactive plots, single runs, the ledger.

    The page is one file that opens from disk and needs no network.
    """
    with interrupts.importing():
        from nalm.report.page import write_page

    with contextlib.redirect_stdout(sys.stderr):  # what a user's unit prints is not a result
        runs = write_page(store, output, on_progress=now_and_then("runs read"))
    if not runs:
        what = f"There are no runs in {store}" if store.exists() else f"{store} does not exist"
        say(f"{what}; the page says how to make some.")
    size = f"{output.stat().st_size / 1e6:.1f} MB"
    print(f"Report of {runs:,} run{'' if runs == 1 else 's'}: {output.resolve()} ({size})")
