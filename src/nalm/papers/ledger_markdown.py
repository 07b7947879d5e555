"""The page docs/ledger.md: how every table and figure compares, and where and why ours differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nalm.evaluate.intervals import Interval, success_interval
from nalm.papers.agreement import Agreement

Result = dict[str, Any]
_MARKS = {
    "agrees": "=",
    "better": "+",
    "differs": "≠",
    "not_comparable": "~",
    "unpublished": "",
}
_INTRO = """\
# Ledger: the papers' tables and figures, ours beside theirs

Every synthetic table and figure of the papers is a spec of this project: `nalm reproduce ID` trains it,
or reads it from the store, prints ours beside the paper's and draws the figure. `nalm reproduce --list`
shows the first table below. This page is made from the results in `benchmarks/results` by `python
benchmarks/ledger.py`.

- **agrees**: the two 95 % intervals overlap; **better**, **differs**: they do not, and ours is on the
  good or on the other side. A published rate without an interval has Wilson's of its seeds; a number
  printed without one has its rounding. A claim is something that the text says; it differs where our
  intervals exclude it.
- **unpublished**: the paper shows a picture only.
- **not comparable**: other data, another threshold, or a reduced protocol (fewer seeds or steps than the
  paper's). A reduced run is never compared.
"""


def ledger_markdown(entries: Sequence[dict[str, Any]], results: Sequence[Result]) -> str:
    """The whole page.

    Args:
        entries: the rows of `nalm reproduce --list`.
        results: the results that are kept with the project.
    """
    kept = f"{len(results)} of {len(entries)} tables and figures have a result; the others are not run yet.\n"
    parts = [_INTRO, "## Summary\n", kept, *_summary(results), *_overview(entries), *_differences(results)]
    parts += ["## Every table and figure\n", _LEGEND]
    parts += [line for result in results for line in _section(result)]
    return "\n".join(parts).rstrip() + "\n"


def shares(results: Iterable[Result]) -> dict[str, Any]:
    """How the published success rates, and all published cells, compare with ours."""
    cells = [cell for result in results for cell in result["cells"] if cell["paper"] is not None]
    rates = [cell for cell in cells if "success" in (cell["metric"] or "")]
    compared = [cell for cell in rates if cell["verdict"] != Agreement.NOT_COMPARABLE]
    printed = [cell for cell in compared if cell["kind"] == "number"]
    return {
        "published_cells": len(cells),
        "verdicts": dict(Counter(cell["verdict"] for cell in cells)),
        "not_comparable_share": _share(cells, Agreement.NOT_COMPARABLE),
        "success_rates_compared": len(compared),
        "success_rates": dict(Counter(cell["verdict"] for cell in compared)),
        "success_rates_agree_share": _share(compared, Agreement.AGREES),
        "printed_rates_compared": len(printed),
        "printed_rates": dict(Counter(cell["verdict"] for cell in printed)),
        "printed_rates_agree_share": _share(printed, Agreement.AGREES),
    }


def _share(cells: Sequence[dict[str, Any]], verdict: Agreement) -> float | None:
    return sum(cell["verdict"] == verdict for cell in cells) / len(cells) if cells else None


def _summary(results: Sequence[Result]) -> Iterator[str]:
    found = shares(results)
    counts = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in sorted(found["verdicts"].items()))
    yield f"{found['published_cells']} cells have a published number or claim: {counts}."
    agree, apart = found["success_rates_agree_share"], found["not_comparable_share"]
    if agree is not None and apart is not None:
        others = ", ".join(f"{n} {name}" for name, n in sorted(found["success_rates"].items()))
        yield (
            f"Of {found['success_rates_compared']} published success rates that can be compared, on test and "
            f"on interpolation data, {agree:.0%} "
            f"agree ({others}). {apart:.0%} of the cells cannot be compared."
        )
        yield (
            f"{found['printed_rates_compared']} of these rates are printed or digitised numbers, of which "
            f'{found["printed_rates_agree_share"] or 0:.0%} agree; the others are sentences such as "full '
            'success on all ranges", one cell a range. Most intervals are of 10 to 25 seeds: with 10 seeds 5 '
            "and 10 successes agree, with 25 seeds 19 and 25. Rows taken together say more:"
        )
    yield ""
    yield from _rows_apart(results)


def _rows_apart(results: Sequence[Result]) -> Iterator[str]:
    """Rows whose published rates, pooled, differ from ours."""
    yield "| id | row | published, together | ours, together |"
    yield "|---|---|---|---|"
    for result in results:
        rates: dict[str, list[dict[str, Any]]] = {}
        for cell in result["cells"]:
            if "success" in (cell["metric"] or "") and cell["verdict"] in _COMPARED and cell["paper_n"]:
                rates.setdefault(cell["row"], []).append(cell)
        for row, cells in rates.items():
            theirs = _together(cells, "paper", "paper_n")
            ours = _together(cells, "ours", "n")
            if (theirs.low or 0) > (ours.high or 0) or (ours.low or 0) > (theirs.high or 0):
                shown = " | ".join(number_text(each.value, each.low, each.high) for each in (theirs, ours))
                yield f"| `{result['id']}` | {_escaped(row)} | {shown} |"
    yield ""


_COMPARED = (Agreement.AGREES, Agreement.BETTER, Agreement.DIFFERS)


def _together(cells: Sequence[dict[str, Any]], rate: str, runs: str) -> Interval:
    """The rate of all runs of some cells."""
    solved = sum(cell[rate] * cell[runs] for cell in cells)
    return success_interval(round(solved), sum(cell[runs] for cell in cells))


def _overview(entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    names = [str(verdict) for verdict in Agreement]
    yield "| id | title | protocol | cells | " + " | ".join(n.replace("_", " ") for n in names) + " |"
    yield "|---" * (4 + len(names)) + "|"
    for entry in entries:
        counts = " | ".join(str(entry[name] or "") for name in names)
        protocol = entry["protocol"] or "not run"
        yield f"| `{entry['id']}` | {_escaped(entry['title'])} | {protocol} | {entry['cells']} | {counts} |"
    totals = " | ".join(str(sum(entry[name] for entry in entries)) for name in names)
    yield f"| all | | | {sum(entry['cells'] for entry in entries)} | {totals} |\n"


def _differences(results: Sequence[Result]) -> Iterator[str]:
    yield "## Where ours differ, and why\n"
    yield "| id | row | column | paper | ours | cause, or the open question |"
    yield "|---|---|---|---|---|---|"
    for result in results:
        for cell in result["cells"]:
            if cell["verdict"] == Agreement.DIFFERS:
                paper = number_text(cell["paper"], cell["paper_low"], cell["paper_high"])
                ours = number_text(cell["ours"], cell["low"], cell["high"])
                what = f"`{result['id']}` | {_escaped(cell['row'])} | {_escaped(cell['column'])}"
                yield f"| {what} | {paper} | {ours} | {_escaped(cell['cause'] or '')} |"
    yield ""


_LEGEND = """\
Our number, the paper's in brackets, and how they compare: = agrees, + better, ≠ differs, ~ not comparable.
Intervals are in the JSON files.
"""


def _section(result: Result) -> Iterator[str]:
    yield f"### `{result['id']}`: {_escaped(result['title'])}\n"
    said = f"{result['source']}. `{result['command']}`, protocol: {result['protocol']}"
    said += f" (reduced: {'; '.join(result['reduced'])})." if result["reduced"] else "."
    yield f"{said} {result['note']}".rstrip() + "\n"
    yield from _matrix([cell for cell in result["cells"] if not _is_sentence(cell)])
    for cell in result["cells"]:
        if _is_sentence(cell):
            answer = "yes" if cell["ours"] else "no"
            yield f"- {_escaped(cell['row'])}: {_escaped(cell['column'])}: {answer} {_MARKS[cell['verdict']]}"
    yield ""


def _matrix(cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    if not cells:
        return
    rows = list(dict.fromkeys(cell["row"] for cell in cells))
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    held = {(cell["row"], cell["column"]): cell for cell in cells}
    if len(columns) > 14:  # a wide table is easier to read transposed
        rows, columns = columns, rows
        held = {(column, row): cell for (row, column), cell in held.items()}
    yield "| | " + " | ".join(map(_escaped, columns)) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for row in rows:
        shown = (held.get((row, column)) for column in columns)
        yield f"| {_escaped(row)} | " + " | ".join(_shown(cell) for cell in shown) + " |"
    yield ""


def _shown(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    ours = number_text(cell["ours"])
    if cell["paper"] is None:
        return ours
    return f"{ours} ({number_text(cell['paper'])}) {_MARKS[cell['verdict']]}"


def _is_sentence(cell: dict[str, Any]) -> bool:
    """Whether the cell is a claim without a number."""
    return cell["metric"] is None


def both_sides(cell: dict[str, Any]) -> tuple[str, str]:
    """The paper's side and ours: numbers with intervals, or whether a claim is true."""
    if _is_sentence(cell):
        return "it is so", "yes" if cell["ours"] else "no"
    paper = number_text(cell["paper"], cell["paper_low"], cell["paper_high"])
    return paper, number_text(cell["ours"], cell["low"], cell["high"])


def number_text(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A number with its interval, as short as possible."""
    if value is None:
        return "-"
    return f"{value:.3g}" if low is None or high is None else f"{value:.3g} [{low:.3g}, {high:.3g}]"


def _escaped(text: str) -> str:
    """Text for a table, where an unescaped bar would end the cell."""
    return text.replace("|", "\\|")
