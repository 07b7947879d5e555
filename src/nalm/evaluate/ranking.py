"""Which unit is best for which operation: the rows of a benchmark, pooled over the ranges of each unit.

Units are ranked, and the best named, only among those of the same budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from nalm.evaluate.intervals import success_interval


class Budget(NamedTuple):
    """The number and kind of steps that a run was given. Units are compared only within one budget.

    A second-order step solves a system of equations and belongs to a population of starts: it cannot be
    converted into first-order steps.
    """

    second_order: bool
    steps: int

    def __str__(self) -> str:
        if self.second_order:
            return f"second-order, up to {self.steps:,} steps"
        return f"{self.steps:,} step{'' if self.steps == 1 else 's'}"

    @property
    def order(self) -> tuple[bool, int]:
        """First-order training first, the most steps first."""
        return self.second_order, -self.steps


def rank(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry per operation and budget, with its units by the share of runs they solve, largest first.

    Among equals the unit that solves in fewer steps comes first. `best` names all units that have the same
    success as the first.
    """
    entries = []
    # Others cannot be judged; the facets of a task are the same runs again, and cannot be pooled.
    rows = [row for row in rows if row["success"]["rate"] is not None and "facet" not in row]
    for op in dict.fromkeys(row["op"] for row in rows):
        budgets: dict[Budget, dict[str, list[dict[str, Any]]]] = {}
        for row in rows:
            if row["op"] == op:
                budget = Budget(row["second_order"] is not None, row["iterations"])
                budgets.setdefault(budget, {}).setdefault(row["model"], []).append(row)
        for budget in sorted(budgets, key=lambda each: each.order):
            entries.append({"op": op, **budget._asdict(), **_entry(budgets[budget])})
    return entries


def _entry(groups: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The units of an operation and budget, in order."""
    units = sorted((_pooled(name, group) for name, group in groups.items()), key=_order)
    top = units[0]["success"]["rate"]
    best = [unit["unit"] for unit in units if unit["success"]["rate"] == top] if top else []
    return {"best": best, "units": units}


def _pooled(name: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    runs = sum(row["runs"] for row in rows)
    solved = sum(row["outcomes"]["solved"] for row in rows)
    success = success_interval(solved, runs)
    steps = sum((row["solved_at"]["mean"] or 0) * row["outcomes"]["solved"] for row in rows)
    return {
        "unit": name,
        "success": {"rate": success.value, "low": success.low, "high": success.high},
        "runs": runs,
        "ranges": len(rows),
        "ranges_always_solved": sum(row["success"]["rate"] == 1 for row in rows),
        "ranges_never_solved": sum(row["success"]["rate"] == 0 for row in rows),
        "mean_solved_at": steps / solved if solved else None,
        "not_sparse": sum(row["not_sparse"] for row in rows),
    }


def _order(unit: dict[str, Any]) -> tuple[float, float]:
    steps = unit["mean_solved_at"]
    return -unit["success"]["rate"], float("inf") if steps is None else steps
