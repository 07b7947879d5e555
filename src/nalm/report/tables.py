"""Tables for a terminal: the rows of a benchmark, its summary, and single runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from nalm.report.ledger_page import both_sides

_BARS = "▁▂▃▄▅▆▇█"


def bench_table(result: dict[str, Any]) -> Table:
    """One line a row of a benchmark, with 95 % intervals."""
    table = _table(f"{result['task']}, with 95 % intervals")
    for column in ("unit", "op", "inputs", "range", "success", "solved at", "sparsity error", "not solved"):
        table.add_column(column, no_wrap=True)
    for row in result["rows"]:
        failed = {k: n for k, n in row["outcomes"].items() if n and k != "solved"}
        table.add_row(
            row["model"],
            row["op"],
            str(row["inputs"]),
            row["range"],
            interval(row["success"], "rate", "{:.2f}"),
            interval(row["solved_at"], "mean", "{:.0f}"),
            interval(row["sparsity"], "mean", "{:.1e}"),
            ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in failed.items()),
        )
    return table


def summary_table(result: dict[str, Any]) -> Table:
    """Which unit for which operation: all ranges of a unit taken together."""
    table = _table("Which unit for which operation: all ranges together, best first")
    for column in ("op", "unit", "success", "ranges always solved", "never", "solved at", "not sparse"):
        table.add_column(column, no_wrap=True)
    for entry in result["summary"]:
        for place, unit in enumerate(entry["units"]):
            steps = unit["mean_solved_at"]
            table.add_row(
                entry["op"] if place == 0 else "",
                unit["unit"] + (" *" if unit["unit"] in entry["best"] else ""),
                interval(unit["success"], "rate", "{:.3f}"),
                f"{unit['ranges_always_solved']} of {unit['ranges']}",
                str(unit["ranges_never_solved"]),
                "-" if steps is None else f"{steps:.0f}",
                str(unit["not_sparse"]),
                end_section=place == len(entry["units"]) - 1,
            )
    return table


def runs_table(runs: Sequence[dict[str, Any]]) -> Table:
    """One line a run: outcome, weights, expression, curve of the test error."""
    table = _table(f"{len(runs)} runs")
    columns = ("unit", "op", "range", "seed", "outcome", "solved at", "test error", "weights", "expression")
    for column in (*columns, "test error over time"):
        table.add_column(column, no_wrap=True)
    for run in runs:
        table.add_row(
            run["model"],
            run["op"],
            run["range"],
            str(run["seed"]),
            (run["outcome"] or "unknown").replace("_", " "),
            "-" if run["solved_at"] is None else str(run["solved_at"]),
            "-" if run["test"] is None else f"{run['test']:.1e}",
            _short(" ".join(f"{name}={_numbers(value)}" for name, value in run["weights"].items()), 32),
            _short(run["expression"] or "-", 28),
            sparkline(run["curve"]["test"]),
        )
    return table


def second_order_line(result: dict[str, Any]) -> str | None:
    """What second-order runs of a benchmark came to and took; None if there are none."""
    rows = [row["second_order"] for row in result["rows"] if row["second_order"]]
    if not rows:
        return None
    found = {name: sum(row["found"][name] for row in rows) for name in rows[0]["found"]}
    runs = sum(found.values())
    starts, steps, seconds = (
        sum(row[k]["total"] for row in rows) / runs for k in ("starts", "steps", "seconds")
    )
    counts = ", ".join(f"{count} {name}" for name, count in found.items())
    return f"Second-order runs: {counts}; on average {starts:.1f} starts, {steps:.0f} steps, {seconds:.2g} s."


def catalogue_table(title: str, rows: list[dict[str, Any]], hidden: tuple[str, ...]) -> Table:
    """What fits a terminal of a listing; the JSON has all."""
    columns = [column for column in rows[0] if column not in hidden]
    table = _table(title)
    for column in columns:
        table.add_column(column, no_wrap=column in ("name", "ops"))
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    return table


def interval(values: dict[str, Any], name: str, form: str) -> str:
    """An estimate and its interval in brackets."""
    if values[name] is None:
        return "-"
    text = form.format(values[name])
    if values["low"] is None:
        return text
    return f"{text} [{form.format(values['low'])}, {form.format(values['high'])}]"


def sparkline(errors: Sequence[float | None], width: int = 16) -> str:
    """A curve of errors as bars of their logarithms; × where one is not finite."""
    picked = [errors[k * (len(errors) - 1) // (width - 1)] for k in range(width)] if errors else []
    logs = [math.log10(max(e, 1e-30)) if e is not None else None for e in picked]
    known = [log for log in logs if log is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join("×" if log is None else _BARS[round((log - low) * scale)] for log in logs)


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left")


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return "[" + " ".join(_numbers(each) for each in value) + "]"
    return "?" if value is None else f"{value:.3g}"


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(f"[{v[0]:g}, {v[1]:g})" if isinstance(v, tuple) else str(v) for v in value)
    return str(value)


def reproduction_table(result: dict[str, Any]) -> Table:
    """Ours beside the paper's, one line a cell."""
    title = f"{result['id']}: {result['title']} ({result['source']})"
    table = _table(title)
    for column in ("row", "column", "paper", "ours", "runs", "verdict"):
        table.add_column(column)
    for cell in result["cells"]:
        paper, ours = both_sides(cell)
        why = cell["reason"] or cell["cause"]
        verdict = cell["verdict"] if why is None else f"{cell['verdict']}: {why}"
        table.add_row(cell["row"], cell["column"], paper, ours, str(cell["n"]), verdict)
    return table


def ledger_table(entries: list[dict[str, Any]]) -> Table:
    """All tables and figures with the number of cells of each verdict."""
    names = [name for name in entries[0] if name not in ("title", "protocol")] if entries else []
    table = _table("Ledger: cells of every table and figure by verdict")
    for column in ("id", "title", "protocol", *(name.replace("_", " ") for name in names[1:])):
        table.add_column(column)
    for entry in entries:
        counts = [str(entry[name] or "") for name in names[1:]]
        table.add_row(entry["id"], entry["title"], entry["protocol"] or "not run", *counts)
    totals = [str(sum(entry[name] for entry in entries)) for name in names[1:]]
    table.add_row("all", "", "", *totals, style="bold")
    return table
