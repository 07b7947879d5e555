"""`nalm list`: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer

from nalm import interrupts
from nalm.cli.json_file import write_json
from nalm.cli.options import Json
from nalm.cli.output import print_table, say_all
from nalm.errors import check_choice
from nalm.report import tables


def list_(
    kind: Annotated[
        str | None, typer.Argument(metavar="[units|tasks|ranges|papers]", show_default=False)
    ] = None,
    json_file: Json = None,
) -> None:
    """List units, tasks, ranges or papers; by default all of them."""
    with interrupts.importing():
        from nalm.cli import catalogue

    kinds = catalogue.KINDS if kind is None else (check_choice("kind", kind, catalogue.KINDS),)
    data = {}
    for k in kinds:
        data[k], faults = catalogue.listing(k)
        say_all(faults)
    if write_json(data, json_file):
        return
    for k, rows in data.items():
        print_table(tables.catalogue_table(k, rows, hidden=("class", "recipes", "papers", "models")))
