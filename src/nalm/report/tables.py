"""Tables for a terminal: benchmarks, single runs, the catalogue, the ledger; and which columns matter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nalm.evaluate.ranking import Budget
from nalm.papers.ledger_markdown import both_sides
from nalm.report.facet_tables import facet_table
from nalm.report.text_table import Column, TextTable

_SPLITS = ("validation", "test")
_BARS = "▁▂▃▄▅▆▇█"


def bench_table(result: dict[str, Any]) -> TextTable:
    """One row per case of a benchmark: how often it is solved, or its errors where no threshold is known."""
    if any("found" in row for row in result["rows"]):
        return _formula_table(result)
    if any("facet" in row for row in result["rows"]):
        return facet_table(result)
    judged = any(row["success"]["rate"] is not None for row in result["rows"])
    return _success_table(result) if judged or not result["rows"] else _error_table(result)


def _error_table(result: dict[str, Any]) -> TextTable:
    """Median errors at the chosen step, of tasks without a threshold."""
    labels = list(dict.fromkeys(name for row in result["rows"] for name in row["labels"]))
    columns = (
        Column("unit"),
        *(Column(name) for name in labels),
        Column("validation error"),
        Column("test error"),
        Column("steps", 1),
        Column("runs", 1),
        Column("inputs", 2),
    )
    rows = [
        (
            row["model"],
            *(str(row["labels"].get(name, "")) for name in labels),
            *("-" if row["errors"][split] is None else f"{row['errors'][split]:.2e}" for split in _SPLITS),
            f"{row['iterations']:,}",
            str(row["runs"]),
            str(row["inputs"]),
        )
        for row in result["rows"]
    ]
    return TextTable(f"{result['task']}: median errors at the chosen step", columns, rows)


def _formula_table(result: dict[str, Any]) -> TextTable:
    """Targets and the formulas that were found, most frequent first."""
    columns = (
        Column("unit"),
        Column("expression"),
        Column("op", 2),
        Column("inputs", 3),
        Column("range", 1),
        Column("success"),
        Column("equal"),
        Column("found", 1),
    )
    rows = [
        (
            row["model"],
            str(row["labels"]["expression"]),
            row["op"],
            str(row["inputs"]),
            row["range"] or "",
            interval(row["success"], "rate", "{:.2f}"),
            f"{row['equal']} of {row['runs']}",
            _short(", ".join(f"{formula} ({runs})" for formula, runs in row["found"].items()), 60),
        )
        for row in result["rows"]
    ]
    return TextTable(
        f"{result['task']}, with 95 % intervals; equal: the formula is the target", columns, rows
    )


def _success_table(result: dict[str, Any]) -> TextTable:
    """One line per row of a benchmark, with 95 % intervals."""
    columns = (
        Column("unit"),
        Column("op"),
        Column("inputs", 2),
        Column("range"),
        Column("success"),
        Column("solved at", 1),
        Column("sparsity error", 3),
        Column("not solved", 4),
    )
    rows = []
    for row in result["rows"]:
        failed = {k: n for k, n in row["outcomes"].items() if n and k != "solved"}
        measures = (
            interval(row["success"], "rate", "{:.2f}"),
            interval(row["solved_at"], "mean", "{:.0f}"),
            interval(row["sparsity"], "mean", "{:.1e}"),
        )
        lost = ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in failed.items())
        told = row["op"] or result["task"], row["range"] or ", ".join(map(str, row["labels"].values()))
        rows.append((row["model"], told[0], str(row["inputs"]), told[1], *measures, lost))
    return TextTable(f"{result['task']}, with 95 % intervals", columns, rows)


def summary_table(result: dict[str, Any]) -> TextTable:
    """Which unit for which operation: all ranges of a unit together, next to others of the same budget."""
    columns = (
        Column("op"),
        Column("budget"),
        Column("unit"),
        Column("success"),
        Column("runs"),
        Column("ranges always solved", 2),
        Column("never", 3),
        Column("solved at", 1),
        Column("not sparse", 4),
    )
    rows: list[tuple[str, ...]] = []
    ends = set()
    for entry in result["summary"]:
        for unit in entry["units"]:
            steps = unit["mean_solved_at"]
            rows.append(
                (
                    entry["op"],
                    str(Budget(entry["second_order"], entry["steps"])),
                    unit["unit"] + (" *" if unit["unit"] in entry["best"] else ""),
                    interval(unit["success"], "rate", "{:.3f}"),
                    f"{unit['runs']:,}",
                    f"{unit['ranges_always_solved']} of {unit['ranges']}",
                    str(unit["ranges_never_solved"]),
                    "-" if steps is None else f"{steps:.0f}",
                    str(unit["not_sparse"]),
                )
            )
        ends.add(len(rows) - 1)
    title = "Which unit for which operation: all ranges together, best first"
    return TextTable(title, columns, rows, ends - {len(rows) - 1})


def published_table(result: dict[str, Any]) -> TextTable | None:
    """What papers publish for the tasks of a benchmark; None if there is nothing, or if not requested."""
    columns = (
        Column("paper's unit"),
        Column("op"),
        Column("inputs", 2),
        Column("range"),
        Column("success"),
        Column("seeds", 1),
        Column("steps", 1),
        Column("source", 3),
    )
    rows = {
        (
            rate["model"],
            row["op"],
            str(row["inputs"]),
            row["range"],
            interval(rate["success"], "rate", "{:.2f}"),
            "" if rate["n"] is None else str(rate["n"]),
            str(rate["iterations"]),
            rate["source"],
        ): None
        for row in result["rows"]
        for rate in row["published"] or ()
    }
    return TextTable("Published for the same tasks", columns, list(rows)) if rows else None


def runs_table(runs: Sequence[dict[str, Any]]) -> TextTable:
    """One line per run: outcome, weights, expression, curve of the test error."""
    columns = (
        Column("unit"),
        Column("op"),
        Column("range"),
        Column("seed"),
        Column("outcome"),
        Column("solved at", 3),
        Column("test error", 4),
        Column("weights", 6),
        Column("expression", 2),
        Column("test error over time", 5),
    )
    rows = [
        (
            " · ".join((run["model"], *run["variant"])),
            run["op"] or run["task"],
            run["range"] or ", ".join(map(str, run["labels"].values())),
            str(run["seed"]),
            (run["outcome"] or "unknown").replace("_", " "),
            "-" if run["solved_at"] is None else str(run["solved_at"]),
            "-" if run["test"] is None else f"{run['test']:.1e}",
            _short(" ".join(f"{name}={_numbers(value)}" for name, value in run["weights"].items()), 48),
            _short(run["expression"] or "-", 60),
            sparkline(run["curve"]["test"]),
        )
        for run in runs
    ]
    return TextTable(f"{len(runs)} runs", columns, rows)


def second_order_line(result: dict[str, Any]) -> str | None:
    """What the second-order runs of a benchmark found and cost; None if there are none."""
    rows = [row["second_order"] for row in result["rows"] if row["second_order"]]
    if not rows:
        return None
    found = {name: sum(row["found"][name] for row in rows) for name in rows[0]["found"]}
    runs = sum(found.values())
    starts, steps, seconds = (
        sum(row[k]["total"] for row in rows) / runs for k in ("starts", "steps", "seconds")
    )
    counts = ", ".join(f"{count} {name}" for name, count in found.items())
    if all(set(row["started"]) == {"search"} for row in rows):
        return f"Searches: {counts}; on average {seconds:.2g} s."
    return f"Second-order runs: {counts}; on average {starts:.1f} starts, {steps:.0f} steps, {seconds:.2g} s."


_PROSE = ("summary", "title", "authors", "venue")


def catalogue_table(title: str, rows: list[dict[str, Any]], hidden: tuple[str, ...]) -> TextTable:
    """The columns of a listing that suit a terminal; the JSON has all."""
    names = [name for name in rows[0] if name not in hidden]
    columns = [Column(name, k, name in _PROSE) for k, name in enumerate(names)]
    return TextTable(title, columns, [[_cell(row[name]) for name in names] for row in rows])


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


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return "[" + " ".join(_numbers(each) for each in value) + "]"
    return "?" if value is None else f"{value:.3g}"


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(f"[{v[0]:g}, {v[1]:g})" if isinstance(v, tuple) else str(v) for v in value)
    return "-" if value is None else str(value)


def reproduction_table(result: dict[str, Any]) -> TextTable:
    """Our numbers next to the paper's, one line per cell."""
    columns = (
        Column("row"),
        Column("column", 1, prose=True),
        Column("paper"),
        Column("ours"),
        Column("runs", 2),
        Column("verdict", 3, prose=True),
    )
    rows = []
    for cell in result["cells"]:
        paper, ours = both_sides(cell)
        why = cell["reason"] or cell["cause"]
        word = f"{cell['verdict']}, weak" if cell["weak"] else cell["verdict"]
        verdict = word if why is None else f"{word}: {why}"
        rows.append((cell["row"], cell["column"], paper, ours, str(cell["n"]), verdict))
    return TextTable(f"{result['id']}: {result['title']} ({result['source']})", columns, rows)


def ledger_table(entries: list[dict[str, Any]]) -> TextTable:
    """All tables and figures with the number of cells of each verdict."""
    names = [name for name in entries[0] if name not in ("id", "title", "protocol")] if entries else []
    counts = [Column(name.replace("_", " ")) for name in names]
    columns = (Column("id"), Column("title", 2, prose=True), Column("protocol", 1), *counts)
    rows = [
        (entry["id"], entry["title"], entry["protocol"] or "not run", *(str(entry[n] or "") for n in names))
        for entry in entries
    ]
    totals = [str(sum(entry[name] for entry in entries)) for name in names]
    title = "Ledger: cells of every table and figure by verdict"
    return TextTable(title, columns, [*rows, ("all", "", "", *totals)], {len(rows) - 1})
