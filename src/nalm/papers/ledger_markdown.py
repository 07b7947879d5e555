"""The page docs/ledger.md: what agrees, what is better, what differs and why, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from nalm.papers.agreement import APART, CHANCE, Agreement
from nalm.papers.cell import Cell, is_together
from nalm.papers.ledger_counts import (
    COUNTED,
    REPEATS,
    papers_contents,
    shares,
    sources,
    why_missing,
)

Result = dict[str, Any]
_MARKS = {
    "agrees": "=",
    "better": "+",
    "differs": "≠",
    "not_comparable": "~",
    "unpublished": "",
}
_WEAK = "≈"
SAID = "it is so"
"""The paper's side of a claim without a number."""
_INTRO = """\
# Ledger: the papers' tables and figures, ours beside theirs

The synthetic tables and figures of the papers are specs of this project: `nalm reproduce ID` trains one,
or reads it from the store, prints ours beside the paper's and draws the figure. This page is made from the
results in `benchmarks/results` by `python benchmarks/ledger.py`, which judges them anew; `--run HOURS` trains
what is missing.

- **agrees**, **better**, **differs**: success rates are compared by Fisher's exact test at 5 %, with the
  number of seeds on both sides, so that fewer seeds than the paper's are comparable. Other numbers agree
  if their 95 % intervals overlap; a number printed without one has its rounding. A row's runs on all ranges
  are compared together as well, which tells more than each range.
- A **claim** is something that the text says. It is judged by its own number first: a count must be the same
  count, the best must have the highest rate.
- **weak**: the runs are too few to tell. A rate agrees weakly if the same two rates would differ with 100
  runs on each side, or if a true difference of 0.25 would more likely be missed than noticed, as with 10
  seeds; a claim is weak if the exact test, or seeds drawn again, could give the opposite.
- **unpublished**: the paper shows a picture only.
- **not comparable**: other data, another threshold, or fewer steps than the paper's.
"""
_LEGEND = """\
Our number, the paper's in brackets, and how they compare: = agrees, ≈ agrees weakly, + better, ≠ differs, ~
not comparable. Intervals and the chances of the exact test are in the JSON files.
"""


def ledger_markdown(entries: Sequence[dict[str, Any]], results: Sequence[Result]) -> str:
    """The whole page.

    Args:
        entries: the rows of `nalm reproduce --list`.
        results: the results that are kept with the project.
    """
    parts = [_INTRO, *_summary(entries, results), *_missing(entries, results)]
    parts += [*_better(results), *_differences(results), *_overview(entries, results)]
    parts += ["## Every table and figure\n", _LEGEND]
    parts += [line for result in results for line in _section(result)]
    return "\n".join(parts).rstrip() + "\n"


def _summary(entries: Sequence[dict[str, Any]], results: Sequence[Result]) -> Iterator[str]:
    found = shares(results)
    yield "## Summary\n"
    yield f"{len(results)} of {len(entries)} entries have a result. Their published cells, by source:\n"
    yield "| published | compared | agree | weakly | better | differ | weakly | not comparable |"
    yield "|---" * (1 + len(COUNTED)) + "|"
    for row in sources(found):
        yield _line(row["words"], *(str(row[name] or "") for name in COUNTED))
    yield ""
    tested = found["rates_tested"]
    yield (
        f"{tested} success rates are judged by the exact test, and {found['contradicted']} verdicts "
        f"contradict it. If all rates were equal, up to {round(CHANCE * tested)} would differ by chance. "
        f"{' '.join(f'`{entry}` {why}: it is not counted here.' for entry, why in REPEATS.items())}\n"
    )


def _missing(entries: Sequence[dict[str, Any]], results: Sequence[Result]) -> Iterator[str]:
    yield "## What the papers have, and what is missing\n"
    yield "| paper | tables | figures | without results | in the ledger | with a result | no entry yet |"
    yield "|---" * 7 + "|"
    rows = papers_contents(result["id"] for result in results)
    names = ("tables", "figures", "no results", "entries", "with a result")
    for row in rows:
        yield _line(row["paper"], *(str(row[name]) for name in names), str(len(row["missing"])))
    yield ""
    yield "Without results are drawings and tables of settings. Entries that are sections or appendices of"
    yield "a text, or of other papers, are not in this table. Not entries yet:\n"
    gaps = sorted((c.why, row["paper"], c.place) for row in rows for c in row["missing"])
    for why, held in groupby(gaps, key=lambda gap: gap[0]):
        yield f"- {why_missing(why)}: {', '.join(f'{paper} {place}' for _, paper, place in held)}"
    waiting = [f"`{entry['id']}`" for entry in entries if entry["protocol"] is None]
    yield ""
    yield f"Entries that are not run yet: {', '.join(waiting) or 'none'}.\n"


def _better(results: Sequence[Result]) -> Iterator[str]:
    yield "## Where ours are better\n"
    yield from _apart(results, Agreement.BETTER)


def _differences(results: Sequence[Result]) -> Iterator[str]:
    yield "## Where ours differ, and why\n"
    yield from _apart(results, Agreement.DIFFERS)


def _apart(results: Sequence[Result], verdict: Agreement) -> Iterator[str]:
    """The cells with this verdict, entry by entry, those of one cause together."""
    for result in results:
        causes: dict[str, list[Cell]] = {}
        for cell in result["cells"]:
            if cell["verdict"] == verdict:
                causes.setdefault(cell["cause"] or "", []).append(cell)
        if causes:
            yield f"**`{result['id']}`**: {result['title']}\n"
        for cause, cells in causes.items():
            yield f"- {'; '.join(map(_difference, cells))}."
            if cause:
                yield f"  *{cause}*"
        if causes:
            yield ""


def _difference(cell: Cell) -> str:
    """A cell in words: where it is, the paper's side and ours."""
    paper, ours = both_sides(cell)
    weak = ", weak" if cell["weak"] else ""
    if paper == SAID:
        return f"{cell['row']} {cell['column']}: {ours}{weak}"
    return f"{cell['row']}, {cell['column']}: paper {paper}, ours {ours}{weak}"


def _overview(entries: Sequence[dict[str, Any]], results: Sequence[Result]) -> Iterator[str]:
    names = [str(verdict) for verdict in Agreement]
    reduced = {result["id"]: result["reduced"] for result in results}
    yield "## All entries\n"
    yield "| id | title | protocol | cells | " + " | ".join(n.replace("_", " ") for n in names) + " | weak |"
    yield "|---" * (5 + len(names)) + "|"
    for entry in entries:
        numbers = (str(entry[name] or "") for name in (*names, "weak"))
        protocol = "; ".join([entry["protocol"] or "not run", *reduced.get(entry["id"], ())])
        yield _line(f"`{entry['id']}`", _escaped(entry["title"]), protocol, str(entry["cells"]), *numbers)
    totals = (str(sum(entry[name] for entry in entries)) for name in ("cells", *names, "weak"))
    yield _line("all", "", "", *totals) + "\n"


def _section(result: Result) -> Iterator[str]:
    yield f"### `{result['id']}`: {_escaped(result['title'])}\n"
    said = f"{result['source']}. `{result['command']}`, protocol: {result['protocol']}"
    said += f" (reduced: {'; '.join(result['reduced'])})." if result["reduced"] else "."
    yield f"{said}{_compute(result['compute'])} {result['note']}".rstrip() + "\n"
    yield from _matrix([cell for cell in result["cells"] if not _is_sentence(cell)])
    for cell in filter(_is_sentence, result["cells"]):
        yield f"- {_escaped(cell['row'])}: {_escaped(cell['column'])}: {_escaped(_said(cell))}"
    yield ""


def _compute(compute: dict[str, Any]) -> str:
    """The runs behind a result, and the time that they took."""
    if not compute["runs"]:
        return ""
    took = f", {compute['cpu_seconds'] / 60:,.0f} minutes of one core" if compute["cpu_seconds"] else ""
    return f" {compute['runs']:,} runs, {compute['run_steps']:,} steps in all{took}."


def _said(cell: Cell) -> str:
    """The answer to a claim, with our numbers."""
    answer = f"ours {cell['ours']:.3g}, paper {cell['paper']:.3g}" if _counts(cell) else _yes(cell)
    detail = f" ({cell['detail']})" if cell["detail"] else ""
    return f"{answer}{detail} {_mark(cell)}"


def _matrix(cells: Sequence[Cell]) -> Iterator[str]:
    if not cells:
        return
    rows = list(dict.fromkeys(cell["row"] for cell in cells))
    columns = sorted(
        dict.fromkeys(cell["column"] for cell in cells), key=lambda column: is_together({"column": column})
    )
    held = {(cell["row"], cell["column"]): cell for cell in cells}
    if len(columns) > 14:  # a wide table is easier to read transposed
        rows, columns = columns, rows
        held = {(column, row): cell for (row, column), cell in held.items()}
    yield _line("", *map(_escaped, columns))
    yield "|---" * (len(columns) + 1) + "|"
    for row in rows:
        yield _line(_escaped(row), *(_shown(held.get((row, column))) for column in columns))
    yield ""


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return ""
    ours = number_text(cell["ours"])
    return ours if cell["paper"] is None else f"{ours} ({number_text(cell['paper'])}) {_mark(cell)}"


def _mark(cell: Cell) -> str:
    if cell["verdict"] == Agreement.AGREES and cell["weak"]:
        return _WEAK
    return _MARKS[cell["verdict"]] + (" weakly" if cell["verdict"] in APART and cell["weak"] else "")


def _is_sentence(cell: Cell) -> bool:
    """Whether the cell is a claim that no metric measures."""
    return cell["metric"] is None


def _counts(cell: Cell) -> bool:
    """Whether a claim names a number of its own, such as a count of ranges."""
    return _is_sentence(cell) and cell["counted"]


def _yes(cell: Cell) -> str:
    return "yes" if cell["ours"] else "no"


def both_sides(cell: Cell) -> tuple[str, str]:
    """The paper's side and ours: numbers with intervals, or whether a claim is true."""
    if _is_sentence(cell) and not _counts(cell):
        return SAID, _yes(cell) + (f" ({cell['detail']})" if cell["detail"] else "")
    paper = number_text(cell["paper"], cell["paper_low"], cell["paper_high"])
    return paper, number_text(cell["ours"], cell["low"], cell["high"])


def number_text(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A number with its interval, as short as possible."""
    if value is None:
        return "-"
    return (
        _short(value) if low is None or high is None else f"{_short(value)} [{_short(low)}, {_short(high)}]"
    )


def _short(value: float) -> str:
    """Three digits; four above a hundred, where numbers are often close to each other."""
    return f"{value:.4g}" if 100 <= abs(value) < 10_000 else f"{value:.3g}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Text for a table, where an unescaped bar would end the cell."""
    return text.replace("|", "\\|")
