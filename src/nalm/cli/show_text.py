"""The page of a unit as one screen of text: 80 columns, and hardly ever more than 40 lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nalm.cli.plain_math import equations

WIDTH = 79
MOST_RANGES = 9
"""How many ranges are shown; the JSON has all."""
MOST_OPTIONS = 6
_NAMES = 10
"""Columns for the names on the left."""
_TASK = ("single-module", 2)
"""The task and the number of inputs that are shown if a unit has results for them."""

Row = Mapping[str, Any]


def screen(page: Row, python: str) -> str:
    """The page as text.

    Args:
        page: what `unit_page` returns.
        python: how the class is reached in Python.
    """
    first = page["description"].partition("\n")[0] or page["name"]
    summary = [] if page["summary"] in ("", first) else _wrapped(page["summary"])
    formulas = [line for each in equations(page["description"]) for line in _formula(each)]
    lines = [*_wrapped(first), *summary, "", *formulas, *([""] if formulas else [])]
    for name, text in _facts(page, python):
        lines += _named(name, text)
    lines += ["", *_results(page["success"])] if page["success"] else []
    return "\n".join([*lines, "", *_named("More", _more(page))])


def _facts(page: Row, python: str) -> Iterator[tuple[str, str]]:
    """The facts about a unit, each with its name."""
    yield "Can do", ", ".join(page["ops"]) or "not known; benchmarks try all operations"
    options = [f"{name}={default!r}" for name, default in page["options"].items()]
    rest = len(options) - MOST_OPTIONS
    yield (
        "Options",
        (", ".join(options[:MOST_OPTIONS]) or "none") + (f", and {rest} more" if rest > 0 else ""),
    )
    yield "Python", python
    if page["file"] or page["source"]:
        yield "Read", page["source"] or page["file"]
    yield from _recipe_facts(page)
    for paper in page["citations"]:
        yield (
            "Paper",
            f"{paper['key']}: {paper['authors']} ({paper['year']}). {paper['title']}. {paper['venue']}.",
        )


def _recipe_facts(page: Row) -> Iterator[tuple[str, str]]:
    """How it is trained: one sentence for all operations that are trained alike."""
    sentences: dict[str, list[str]] = {}
    for op, sentence in page["recipes_in_words"].items():
        sentences.setdefault(sentence, []).append(op)
    for sentence, ops in sentences.items():
        yield "Recipe", (f"for {', '.join(ops)}: " if len(sentences) > 1 else "") + sentence + "."
    if page["other_recipes"]:
        yield "Others", ", ".join(f"{page['name']}@{name}" for name in page["other_recipes"])


def _results(rows: Sequence[Row]) -> Iterator[str]:
    """Published success and ours, side by side by range."""
    model, task, inputs = _shown(rows)
    mine = [row for row in rows if (row["model"], row["task"], row["inputs"]) == (model, task, inputs)]
    by_place = {(row["range"], row["op"]): row for row in mine}
    ops, ranges = ([*dict.fromkeys(row[name] for row in mine)] for name in ("op", "range"))
    intervals = len(ops) <= 2
    cells = [
        [_cell(by_place.get((name, op)), side, intervals) for op in ops for side in ("published", "ours")]
        for name in ranges[:MOST_RANGES]
    ]
    heads = [text for op in ops for text in ((f"{op}: paper", "ours") if intervals else (op, "ours"))]
    widths = [max(len(line[k]) for line in (heads, *cells)) for k in range(len(heads))]
    left = max(len(name) for name in (*ranges, "range"))
    yield from _wrapped(
        f"Success of {model} on {task}, {inputs} input{'s' if inputs > 1 else ''}, {mine[0]['steps']:,} steps"
        f" ({_seeds(mine)}):"
    )
    for name, line in zip(("range", *ranges), (heads, *cells)):
        told = "  ".join(text.ljust(width) for text, width in zip(line, widths))
        yield f"  {name:<{left}}  {told}".rstrip()
    others = len(rows) - sum(row["range"] in ranges[:MOST_RANGES] for row in mine)
    if others:
        yield f"  and {others} more results of other models, tasks and ranges in the JSON"


def _shown(rows: Sequence[Row]) -> tuple[str, str, int]:
    """The model, task and number of inputs of the table: the usual ones, else the first."""
    usual = [row for row in rows if (row["task"], row["inputs"]) == _TASK]
    first = min(usual or rows, key=lambda row: len(row["model"]))
    return first["model"], first["task"], first["inputs"]


def _cell(row: Row | None, side: str, interval: bool) -> str:
    found = row and row[side]
    if not found or found["rate"] is None:
        return "-"
    if not interval or found["low"] is None:
        return f"{found['rate']:.2f}"
    low, high = (
        f"{found[end]:.2f}".lstrip("0").replace("1.00", "1").replace(".00", "0") for end in ("low", "high")
    )
    return f"{found['rate']:.2f} [{low}, {high}]"


def _seeds(rows: Sequence[Row]) -> str:
    """The numbers of seeds of the papers and of ours."""
    theirs, ours = (
        sorted({row[side]["n"] for row in rows if row[side]} - {0}) for side in ("published", "ours")
    )
    told = [f"{name} {ends[0]}{f' to {ends[-1]}' if len(ends) > 1 else ''}" for name, ends in
            (("the paper's", theirs), ("ours", ours)) if ends]  # fmt: skip
    return "seeds: " + ", ".join(told)


def _more(page: Row) -> str:
    """Where to find what is not on the screen."""
    entries = list(dict.fromkeys(row["entry"] for row in page["success"]))
    again = f"; nalm reproduce {entries[0]} (runs it again)" if entries else ""
    return f"nalm show {page['name']} --json - (arguments, whole recipes, thresholds){again}"


def _formula(text: str) -> Iterator[str]:
    """A formula in lines, broken at its gaps."""
    line = ""
    for piece in text.split("  "):
        if line and len(line) + len(piece) + 4 > WIDTH:
            yield from textwrap.wrap(line, WIDTH - 2, initial_indent="  ", subsequent_indent="    ")
            line = ""
        line = f"{line}  {piece}" if line else piece
    yield from textwrap.wrap(line, WIDTH - 2, initial_indent="  ", subsequent_indent="    ")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH)


def _named(name: str, text: str) -> list[str]:
    """A text in lines, with its name on the left."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"{name:<{_NAMES}}",
        subsequent_indent=" " * _NAMES,
        break_on_hyphens=False,
    )
