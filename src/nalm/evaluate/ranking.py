"""Which unit for which operation: the rows of a benchmark, each unit's ranges taken together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nalm.evaluate.intervals import success_interval


def rank(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry an operation: its units, those first that solve the largest share of all runs.

    Among equals the one that is solved in fewer steps comes first. `best` names all units whose success is
    that of the first.
    """
    entries = []
    for op in dict.fromkeys(row["op"] for row in rows):
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if row["op"] == op:
                groups.setdefault(row["model"], []).append(row)
        units = sorted((_pooled(name, group) for name, group in groups.items()), key=_order)
        top = units[0]["success"]["rate"]
        best = [unit["unit"] for unit in units if unit["success"]["rate"] == top] if top else []
        entries.append({"op": op, "best": best, "units": units})
    return entries


def _pooled(name: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    runs = sum(row["runs"] for row in rows)
    solved = sum(row["outcomes"]["solved"] for row in rows)
    success = success_interval(solved, runs)
    steps = sum((row["solved_at"]["mean"] or 0) * row["outcomes"]["solved"] for row in rows)
    return {
        "unit": name,
        "success": {"rate": success.value, "low": success.low, "high": success.high},
        "ranges": len(rows),
        "ranges_always_solved": sum(row["success"]["rate"] == 1 for row in rows),
        "ranges_never_solved": sum(row["success"]["rate"] == 0 for row in rows),
        "mean_solved_at": steps / solved if solved else None,
        "not_sparse": sum(row["not_sparse"] for row in rows),
    }


def _order(unit: dict[str, Any]) -> tuple[float, float]:
    steps = unit["mean_solved_at"]
    return -unit["success"]["rate"], float("inf") if steps is None else steps
