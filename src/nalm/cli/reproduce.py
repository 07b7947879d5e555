"""`nalm reproduce`: a table or figure of a paper, our numbers next to theirs."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nalm import interrupts
from nalm.cli.data_folder import use_data_folder
from nalm.cli.executor import chosen_executor
from nalm.cli.json_file import check_writable, write_json
from nalm.cli.options import DEFAULT_STORE, DataDir, Device, Jobs, Json, Scheduler, StoreFile
from nalm.cli.output import duration, print_table, say, say_all
from nalm.cli.progress import shown_progress
from nalm.errors import ArgumentError
from nalm.report import tables

if TYPE_CHECKING:
    from nalm.papers.entry import Entry, Measured


EntryName = Annotated[
    str | None, typer.Argument(metavar="ID", help="A table or figure from `nalm reproduce --list`.")
]
Listed = Annotated[bool, typer.Option("--list", help="Show all tables and figures with their verdicts.")]
ScaleName = Annotated[
    str, typer.Option(metavar="quick|paper", help="paper: the full protocol; quick: a reduced one.")
]


def reproduce(
    entry: EntryName = None,
    listed: Listed = False,
    scale: ScaleName = "paper",
    seeds: Annotated[int | None, typer.Option(help="Number of seeds; by default the protocol's.")] = None,
    steps: Annotated[
        float | None, typer.Option(help="Share of the paper's steps; by default that of the protocol.")
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="LIST", help="Only these rows, separated by semicolons.")
    ] = None,
    figures: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder for the figure, as PNG and PDF.")
    ] = Path("."),
    store: StoreFile = DEFAULT_STORE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be computed.")] = False,
    stored: Annotated[
        bool, typer.Option("--stored", help="Train nothing: measure the runs that are stored so far.")
    ] = False,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    device: Device = "cpu",
    data_dir: DataDir = None,
    json_file: Json = None,
) -> None:
    """Run a table or figure of a paper, or read it from the store, and print our numbers next to theirs."""
    if listed:
        _print_ledger(entry, json_file)
        return
    found = _entry(entry)
    from nalm.papers.reproduce import measure, plan, result_of
    from nalm.papers.scale import make_scale

    if stored and dry_run:
        raise ArgumentError("stored", "left out with --dry-run: it computes nothing", "both")
    wanted = make_scale(scale, seeds, steps, None if rows is None else _separated(rows))
    check_writable(json_file)
    _check_folder(figures)
    use_data_folder(data_dir)
    with chosen_executor(jobs, scheduler, device) as executor:
        planned = plan(found, wanted, store, executor.size)
        if dry_run:
            if not write_json(planned, json_file):
                print(_plan_sentence(planned))
            return
        if planned["computed_runs"] and not stored:
            say(_plan_sentence(planned))
        with shown_progress() as on_progress:
            measured = measure(found, wanted, store, None if stored else executor, on_progress)
    result = result_of(found, measured, wanted)
    if stored:
        result["command"] += " --stored"
    if not write_json(result, json_file):
        _print_reproduction(result)
    _save_figure(found, measured, figures, result)


def _print_ledger(entry: str | None, json_file: str | None) -> None:
    with interrupts.importing():
        from nalm.papers import ledger
        from nalm.papers.registry import all_entries

    if entry is not None:
        raise ArgumentError("ID", "left out with --list", repr(entry))
    found, faults = all_entries()
    say_all(faults)
    entries = ledger.listing(found.values())
    if not write_json({"entries": entries}, json_file):
        print_table(tables.ledger_table(entries))


def _entry(name: str | None) -> Entry:
    """The entry of the ledger with this name."""
    if name is None:
        raise ArgumentError("ID", "a table or figure, as in `nalm reproduce mistry2023:fig3.4`", "none")
    with interrupts.importing():
        from nalm.papers.registry import find_entry

    return find_entry(name)


def _check_folder(figures: Path) -> None:
    """Refuse a folder that cannot be written, before any work is done."""
    if not (figures.is_dir() and os.access(figures, os.W_OK)):
        raise ArgumentError("figures", "a folder that exists and can be written", repr(str(figures)))


def _plan_sentence(plan: dict[str, Any]) -> str:
    if plan["computed_runs"] is None:
        return f"{plan['id']} stores no runs; how long it takes is not known."
    return f"{plan['computed_runs']} runs to compute, in about {duration(plan['estimated_seconds'])}."


def _print_reproduction(result: dict[str, Any]) -> None:
    print_table(tables.reproduction_table(result))
    counts = Counter(cell["verdict"] for cell in result["cells"])
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "No cells.")
    if result["reduced"]:
        print("Reduced: " + "; ".join(result["reduced"]) + ".")
    if result["note"]:
        print(result["note"])


def _save_figure(entry: Entry, measured: Measured, folder: Path, result: dict[str, Any]) -> None:
    """Write the figure; if the plotting package is missing, only a message is printed."""
    from nalm.papers.figures import MissingPackage, save
    from nalm.papers.ledger import file_name

    name = file_name(entry.id) + ("-quick" if result["protocol"] == "quick" else "")
    try:
        files = save(entry, measured, folder, name, result["reduced"])
    except MissingPackage as error:
        say(str(error))
    else:
        say(f"Figure written to {' and '.join(map(str, files))}.")


def _separated(rows: str) -> list[str]:
    """Names of rows between semicolons; those in brackets belong to a name."""
    return [row.strip() for row in re.split(r";(?![^\[(]*[\])])", rows)]
