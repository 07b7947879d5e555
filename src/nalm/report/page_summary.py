"""The summary of a page: unit by operation, compared only within a budget.

Units of the same budget are in one part of a section and are compared there; see docs/decisions/0010.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nalm.evaluate.intervals import success_interval
from nalm.evaluate.outcome import Outcome
from nalm.report.page_rows import PageRow, budgets_of, ops_of

MOST_COLUMNS = 24
"""If there are more operations, such as sampled expressions, one column is about all of them."""


def headline(rows: Sequence[PageRow]) -> list[dict[str, Any]]:
    """One part per budget: the share of runs that are solved, unit by operation."""
    shown = [row for row in rows if not row.second_rank]
    return [
        {"budget": str(budget), **_part([row for row in shown if row.budget == budget])}
        for budget in budgets_of(shown)
    ]


def _part(rows: Sequence[PageRow]) -> dict[str, Any]:
    ops, column = ops_of(rows), {row.op: row.op for row in rows}
    if len(ops) > MOST_COLUMNS:
        ops, column = [f"all {len(ops)} operations"], dict.fromkeys(ops, f"all {len(ops)} operations")
    groups: dict[str, dict[str, list[PageRow]]] = {}
    for row in rows:
        groups.setdefault(row.label, {}).setdefault(column[row.op], []).append(row)
    ranges = {op: _ranges(row for row in rows if column[row.op] == op) for op in ops}
    pooled = {
        label: {op: _pooled(found, ranges[op]) for op, found in by_op.items()}
        for label, by_op in groups.items()
    }
    for op in ops:
        _mark_best([cells[op] for cells in pooled.values() if op in cells])
    return {
        "ops": ops,
        "units": [
            {
                "label": label,
                "seeds": _seeds(row for found in groups[label].values() for row in found),
                "cells": [cells.get(op) for op in ops],
            }
            for label, cells in pooled.items()
        ],
    }


def _mark_best(cells: Sequence[dict[str, Any]]) -> None:
    """Mark the highest among the units that were run on all ranges, if there are several to compare."""
    whole = [cell for cell in cells if not cell["partial"]]
    top = max((cell["value"] for cell in whole), default=0)
    for cell in whole:
        cell["best"] = len(cells) > 1 and 0 < top == cell["value"]


def _pooled(rows: Sequence[PageRow], ranges: int) -> dict[str, Any]:
    """Success over all runs of these rows."""
    solved = sum(run.assessment.outcome is Outcome.SOLVED for row in rows for run in row.case.runs)
    found = success_interval(solved, sum(len(row.case.runs) for row in rows))
    run = _ranges(rows)
    return {
        "value": found.value,
        "rate": f"{found.value:.3f}",
        "interval": f"[{found.low:.3f}, {found.high:.3f}]",
        "partial": "" if run == ranges else f"{run} of {ranges} ranges",
        "best": False,
    }


def _ranges(rows: Iterable[PageRow]) -> int:
    """The number of ranges, those of each operation counted separately."""
    return len({(row.op, row.range) for row in rows})


def _seeds(rows: Iterable[PageRow]) -> str:
    """The number of seeds per row: one number, or from the fewest to the most."""
    found = sorted({len(row.case.runs) for row in rows})
    return " to ".join(f"{number:,}" for number in dict.fromkeys((found[0], found[-1])))
