"""`nalm show`: everything about one unit."""

from __future__ import annotations

from typing import Annotated

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
    """Show a unit: its equation, options, operations, recipes and papers."""
    with interrupts.importing():
        from nalm.cli.unit_page import unit_page
        from nalm.models.composites import COMPOSITES
        from nalm.models.named_baselines import BASELINES

    page = unit_page(unit)
    if write_json(page, json_file):
        return
    print(page["description"])
    package = "nalm.models" if page["name"] in COMPOSITES else "nalm"
    if page["name"] in BASELINES:
        package = BASELINES[page["name"]].__module__
    python = f"{page['class']} of {page['source']}" if page["source"] else f"{package}.{page['class']}"
    print("\nOn the command line:", page["name"], "   In Python:", python)
    print("Operations:", ", ".join(page["ops"]) or "not known; benchmarks try all")
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
