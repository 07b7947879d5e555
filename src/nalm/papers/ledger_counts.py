"""What the ledger counts: cells by source and verdict, and the papers' tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from nalm.papers.agreement import CHANCE, COMPARED, Agreement
from nalm.papers.cell import FORMULA, SENTENCE, Cell, is_rate, is_together
from nalm.papers.contents import WHYS, contents

Result = dict[str, Any]

SOURCES = {
    "printed": "numbers printed in the four papers",
    "digitised": "numbers of their figures, digitised or from public data",
    "other": "numbers of other papers",
    SENTENCE: "sentences, a cell for each range that they name",
    FORMULA: "formulas evaluated, which no training can fail",
}
"""Where the published side of a cell comes from."""
COUNTED = ("compared", "agrees", "agrees_weakly", "better", "differs", "differs_weakly", "not_comparable")
"""What is counted of every source: weak ones are among those that agree or differ."""
REPEATS = {
    "trask2018:table1": "has a part of the runs and numbers of `trask2018:table7` and `trask2018:table9`"
}
"""Entries whose cells other entries have as well."""
_HOLDS = {
    "agrees": lambda cell: cell["verdict"] == Agreement.AGREES,
    "agrees_weakly": lambda cell: cell["verdict"] == Agreement.AGREES and cell["weak"],
    "better": lambda cell: cell["verdict"] == Agreement.BETTER,
    "differs": lambda cell: cell["verdict"] == Agreement.DIFFERS,
    "differs_weakly": lambda cell: cell["verdict"] == Agreement.DIFFERS and cell["weak"],
    "not_comparable": lambda cell: cell["verdict"] == Agreement.NOT_COMPARABLE,
}
NO_RESULTS = ("diagram", "settings")
"""Tables and figures that have no results to reproduce."""


def shares(results: Iterable[Result]) -> dict[str, Any]:
    """How published cells compare with ours, by source; rows taken together are counted apart.

    A cell that repeats others, such as a row's runs taken together, is in no other count.
    """
    counted = [result for result in results if result["id"] not in REPEATS]
    cells = [cell for result in counted for cell in result["cells"] if cell["paper"] is not None]
    single, together = [c for c in cells if not is_together(c)], [c for c in cells if is_together(c)]
    tested = [cell for cell in cells if is_rate(cell["metric"]) and cell["p"] is not None]
    return {
        "published_cells": len(single),
        "verdicts": dict(Counter(cell["verdict"] for cell in single)),
        "not_comparable_share": _share(single, Agreement.NOT_COMPARABLE),
        "by_source": {
            source: counts([cell for cell in single if cell["source"] == source]) for source in SOURCES
        },
        "rows_together": counts(together),
        "rates_tested": len(tested),
        "contradicted": sum(
            (cell["verdict"] == Agreement.AGREES) != (cell["p"] >= CHANCE) for cell in tested
        ),
    }


def sources(found: dict[str, Any]) -> list[dict[str, Any]]:
    """A row per source, with its words, and one for rows taken together; from what `shares` returns."""
    by_source = found["by_source"]
    rows = [{"words": words, **by_source[source]} for source, words in SOURCES.items()]
    return [
        *(row for row in rows if row["cells"]),
        {"words": "rows taken together, which repeat the above", **found["rows_together"]},
    ]


def counts(cells: Sequence[Cell]) -> dict[str, int]:
    """The number of cells, of compared ones, and of those with each verdict."""
    compared = sum(cell["verdict"] in COMPARED for cell in cells)
    return {
        "cells": len(cells),
        "compared": compared,
        **{name: sum(map(holds, cells)) for name, holds in _HOLDS.items()},
    }


def papers_contents(run: Iterable[str]) -> list[dict[str, Any]]:
    """For each paper: its tables and figures, how many are entries, have a result, and what the others are.

    Args:
        run: ids of the entries that have a result.
    """
    known, rows = set(run), []
    for paper in dict.fromkeys(content.paper for content in contents()):
        held = [content for content in contents() if content.paper == paper]
        rows.append(
            {
                "paper": paper,
                "tables": sum(content.place.startswith("table") for content in held),
                "figures": sum(content.place.startswith("fig") for content in held),
                "no results": sum(content.why in NO_RESULTS for content in held),
                "entries": sum(content.entry is not None for content in held),
                "with a result": sum(content.entry in known for content in held),
                "missing": [c for c in held if c.entry is None and c.why not in NO_RESULTS],
            }
        )
    return rows


def why_missing(why: str) -> str:
    """Why a table or figure is not an entry, in words."""
    return WHYS[why]


def _share(cells: Sequence[Cell], verdict: Agreement) -> float | None:
    return sum(cell["verdict"] == verdict for cell in cells) / len(cells) if cells else None
