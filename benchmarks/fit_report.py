"""Figures of fits by tool and condition, and their tables in 80 columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

Row = dict[str, Any]
FAMILIES = ("monomial", "root monomial", "sum", "rational", "radical", "all")


def groups(rows: list[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Rows by what they share, in the order of the first of each."""
    parts: dict[Any, list[Row]] = {}
    for row in rows:
        parts.setdefault(key(row), []).append(row)
    return parts


def condition(row: Row) -> tuple[float, int]:
    """Noise, and columns that do not matter."""
    return row["noise"], row["redundant"]


def figures(rows: list[Row]) -> dict[str, Any]:
    """What is said of some fits of one tool: shares of formulas found, medians of errors, seconds."""
    symbolic = any(row["expression"] is not None for row in rows)
    seconds = [row["wall"] for row in rows]
    return {
        "fits": len(rows),
        "structure": _count(rows, "structure") if symbolic else None,
        "exact": _count(rows, "exact") if symbolic else None,
        "skeleton": _count(rows, "skeleton") if symbolic else None,
        "inside": _median([row["inside"] for row in rows]),
        "outside": _median([row["outside"] for row in rows]),
        "median_seconds": float(np.median(seconds)),
        "seconds_95": float(np.quantile(seconds, 0.95)),
        "called_exact": sum(row["verdict"] == "exact" for row in rows),
        "wrongly_exact": sum(wrongly_exact(row) for row in rows),
        "failed": sum(bool(row["note"]) and row["expression"] is None for row in rows),
    }


def wrongly_exact(row: Row) -> bool:
    """Whether a tool called exact what is not the formula."""
    return row["verdict"] == "exact" and not row.get("exact", False)


def _count(rows: list[Row], key: str) -> int:
    return sum(bool(row.get(key)) for row in rows)


def _median(numbers: list[float | None]) -> float:
    return float(np.median([np.inf if number is None else number for number in numbers]))


def summary(rows: list[Row]) -> list[dict[str, Any]]:
    """Figures of every condition and tool, and of the families in each."""
    return [
        {
            "noise": noise,
            "redundant": redundant,
            "tool": tool,
            **figures(of_tool),
            "families": {name: figures(part) for name, part in _families(of_tool).items()},
        }
        for (noise, redundant), part in groups(rows, condition).items()
        for tool, of_tool in groups(part, lambda row: row["tool"]).items()
    ]


def _families(rows: list[Row]) -> dict[str, list[Row]]:
    parts = groups(rows, lambda row: row["family"])
    return {name: parts[name] for name in FAMILIES if name in parts}


def show(rows: list[Row], console: Console | None = None) -> None:
    """Print two tables per condition: all formulas, and structure by family."""
    console = console or Console(width=80)
    for entry in groups(summary(rows), condition).values():
        first = entry[0]
        title = f"noise {100 * first['noise']:g} %, {first['redundant']} redundant columns"
        console.print(_overall(title, entry))
        console.print(_by_family(entry))
        for row in entry:
            if row["called_exact"]:
                console.print(
                    f"{row['tool']}: {row['called_exact']} called exact, {row['wrongly_exact']} wrongly"
                )
            if row["failed"]:
                console.print(f"{row['tool']}: {row['failed']} failed")


def _overall(title: str, entries: list[dict[str, Any]]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("tool")
    for name in ("structure", "to 1e-6", "inside", "outside", "median s", "95 % s"):
        table.add_column(name, justify="right")
    for entry in entries:
        shares = [_share(entry[key], entry["fits"]) for key in ("structure", "exact")]
        errors = [f"{entry[key]:.1e}" for key in ("inside", "outside")]
        seconds = [f"{entry[key]:.1f}" for key in ("median_seconds", "seconds_95")]
        table.add_row(entry["tool"], *shares, *errors, *seconds)
    return table


def _by_family(entries: list[dict[str, Any]]) -> Table:
    names = [name for name in FAMILIES if any(name in entry["families"] for entry in entries)]
    table = Table(title="structure, by family", title_justify="left")
    table.add_column("tool")
    for name in names:
        table.add_column(name, justify="right")
    for entry in entries:
        if entry["structure"] is not None:
            parts = [entry["families"].get(name) for name in names]
            table.add_row(entry["tool"], *(f"{p['structure'] or 0}/{p['fits']}" if p else "" for p in parts))
    return table


def _share(count: int | None, of: int) -> str:
    return "" if count is None else f"{count}/{of} {100 * count / of:.0f} %"
