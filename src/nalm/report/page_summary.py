"""The summary of a page: the answers for every operation, and a table of unit by operation.

Units of the same budget are in one part of a section and are compared there; see docs/decisions/0010.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nalm.report.page_published import against_papers
from nalm.report.page_rows import PageRow, budgets_of, ops_of
from nalm.report.page_standings import Standing, standings

MOST_COLUMNS = 24
"""If there are more operations, such as sampled expressions, one column is about all of them."""
MOST_NAMED = 4
"""How many units an answer names for each of its questions."""


def summary(rows: Sequence[PageRow], published: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One part per budget: an answer for each operation, and a table of unit by operation.

    Args:
        rows: the rows of a section.
        published: the rates that papers publish for its tasks.
    """
    shown = [row for row in rows if not row.second_rank]
    return [
        {"budget": str(budget), **_part([row for row in shown if row.budget == budget], published)}
        for budget in budgets_of(shown)
    ]


def _part(rows: Sequence[PageRow], published: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    columns = _columns(rows)
    found = {name: standings(held) for name, held in columns.items()}
    by_label = {name: {each.label: each for each in units} for name, units in found.items()}
    return {
        "ops": list(columns),
        "answers": [
            {"op": name, **_answer(units, columns[name], published)} for name, units in found.items()
        ],
        "units": [
            {
                "label": label,
                "seeds": _seeds(row for row in rows if row.label == label),
                "cells": [_cell(by_label[name].get(label)) for name in columns],
            }
            for label in dict.fromkeys(row.label for row in rows)
        ],
    }


def _columns(rows: Sequence[PageRow]) -> dict[str, list[PageRow]]:
    """The rows of each operation, or all of them together if there are very many operations."""
    ops = ops_of(rows)
    if len(ops) > MOST_COLUMNS:
        return {f"all {len(ops)} operations": list(rows)}
    return {op: [row for row in rows if row.op == op] for op in ops}


def _answer(
    units: Sequence[Standing], rows: Sequence[PageRow], published: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Which unit is best, which are not told apart from it, which are worse, and what papers publish."""
    whole = [unit for unit in units if not unit.partial]
    solving = [unit for unit in whole if unit.solved]
    best = [unit for unit in solving if unit.best or len(solving) == 1 == len(units)]
    like = [unit for unit in whole if unit.leads and not unit.best]
    worse = [unit for unit in whole if best and unit not in (*best, *like)]
    return {
        "best": [_cell(unit) for unit in best],
        "none": "" if best else ("no unit solves it" if whole else "no unit was run on all ranges"),
        "alone": len(whole) == 1,
        "like": _named(like),
        "worse": _named(worse),
        "papers": against_papers(
            [row for unit in (*best, *like) for row in rows if row.label == unit.label], published
        ),
    }


def _named(units: Sequence[Standing]) -> str:
    """Some units with their success, and the number of the others."""
    told = [f"{unit.label} {unit.share:.2f}" for unit in units[:MOST_NAMED]]
    rest = len(units) - len(told)
    return ", ".join(told) + (f" and {rest} more" if rest else "")


def _cell(unit: Standing | None) -> dict[str, Any] | None:
    """The success of a unit as text."""
    if unit is None:
        return None
    found = unit.success
    return {
        "label": unit.label,
        "rate": f"{found.value:.3f}",
        "interval": f"[{found.low:.3f}, {found.high:.3f}]",
        "runs": unit.runs,
        "partial": unit.partial,
        "best": unit.best,
    }


def _seeds(rows: Iterable[PageRow]) -> str:
    """The number of seeds per row: one number, or from the fewest to the most."""
    found = sorted({len(row.case.runs) for row in rows})
    return " to ".join(f"{number:,}" for number in dict.fromkeys((found[0], found[-1])))
