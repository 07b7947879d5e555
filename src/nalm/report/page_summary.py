"""The summary of a page: unit by operation, like beside like.

Units of one budget stand in one part of a section and are compared there; see docs/decisions/0010.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nalm.evaluate.intervals import success_interval
from nalm.evaluate.outcome import Outcome
from nalm.report.lines import Line, budgets_of, ops_of, ranges_of


def headline(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """One part a budget: the share of all runs that are solved, unit by operation."""
    shown = [line for line in lines if not line.second_rank]
    return [
        {"budget": str(budget), **_part([line for line in shown if line.budget == budget])}
        for budget in budgets_of(shown)
    ]


def _part(lines: Sequence[Line]) -> dict[str, Any]:
    ops = ops_of(lines)
    groups: dict[str, dict[str, list[Line]]] = {}
    for line in lines:
        groups.setdefault(line.label, {}).setdefault(line.op, []).append(line)
    ranges = {op: len(ranges_of(line for line in lines if line.op == op)) for op in ops}
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
                "seeds": _seeds(line for found in groups[label].values() for line in found),
                "cells": [cells.get(op) for op in ops],
            }
            for label, cells in pooled.items()
        ],
    }


def _mark_best(cells: Sequence[dict[str, Any]]) -> None:
    """Mark the highest among those that were run on all ranges, if there is anything to compare."""
    whole = [cell for cell in cells if not cell["partial"]]
    top = max((cell["value"] for cell in whole), default=0)
    for cell in whole:
        cell["best"] = len(cells) > 1 and 0 < top == cell["value"]


def _pooled(lines: Sequence[Line], ranges: int) -> dict[str, Any]:
    """Success of all runs of some lines."""
    solved = sum(run.verdict.outcome is Outcome.SOLVED for line in lines for run in line.cell.runs)
    found = success_interval(solved, sum(len(line.cell.runs) for line in lines))
    run = len(ranges_of(lines))
    return {
        "value": found.value,
        "rate": f"{found.value:.3f}",
        "interval": f"[{found.low:.3f}, {found.high:.3f}]",
        "partial": "" if run == ranges else f"{run} of {ranges} ranges",
        "best": False,
    }


def _seeds(lines: Iterable[Line]) -> str:
    """How many seeds each line has: a number, or from the fewest to the most."""
    found = sorted({len(line.cell.runs) for line in lines})
    return " to ".join(f"{number:,}" for number in dict.fromkeys((found[0], found[-1])))
