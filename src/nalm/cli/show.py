"""`nalm show`: everything about one unit."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from nalm import interrupts
from nalm.cli.json_file import write_json
from nalm.cli.options import Json


def show(
    unit: Annotated[
        str, typer.Argument(metavar="UNIT", help="A name from `nalm list units`, or ./mine.py:MyUnit.")
    ],
    json_file: Json = None,
) -> None:
    """Show a unit on one screen: equation, operations, options, recipe, papers, success by range."""
    with interrupts.importing():
        from nalm.cli.show_text import screen
        from nalm.cli.unit_page import unit_page

    page = unit_page(unit)
    if write_json(page, json_file):
        return
    print(screen(page, _in_python(page)))


def _in_python(page: dict[str, Any]) -> str:
    """How the class of a unit is imported."""
    from nalm.models.composites import COMPOSITES
    from nalm.models.named_baselines import BASELINES

    if page["source"]:
        return f"{page['class']} of {page['source']}"
    package = "nalm"
    if page["name"] in COMPOSITES:
        package = "nalm.models"
    elif page["name"] in BASELINES:
        package = BASELINES[page["name"]].__module__
    return f"from {package} import {page['class']}"
