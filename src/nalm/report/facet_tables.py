"""The table of a task with facets, such as lengths: one line per model, one column per facet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nalm.report.text_table import Column, TextTable

WRONG = "wrong"
"""Errors of such names are shares of wrong answers, shown as accuracies."""
Row = dict[str, Any]


def facet_table(result: dict[str, Any]) -> TextTable:
    """How many runs succeed on each facet; its median error or accuracy if nothing says what success is."""
    rows: list[Row] = result["rows"]
    names = list(dict.fromkeys(facet_name(row) for row in rows))
    ranks = dict(zip(names, _ranks(len(names))))
    columns = [Column("unit"), Column("labels", 1), Column("runs", 1)]
    columns += [Column(name or _what(rows[0]), ranks[name]) for name in names]
    return TextTable(_title(result), columns, [_line(group, names) for group in _models(rows)])


def facet_name(row: Row) -> str:
    """The labels of a facet as one text."""
    held = row["facet"]["labels"]
    return ", ".join(f"{name} {value}" if isinstance(value, int) else value for name, value in held.items())


def _title(result: dict[str, Any]) -> str:
    rows = result["rows"]
    judged = [row for row in rows if row["success"]["rate"] is not None]
    if judged and judged[0]["facet"]["reference"] is None:
        return f"{result['task']}: solved runs, with an error below {judged[0]['threshold']:g}"
    if judged:
        return f"{result['task']}: solved runs, by the 1 % bound of the model whose arithmetic is solved"
    title = f"{result['task']}: {_what(rows[0])}, median over runs"
    needs = any(row["facet"]["reference"] is not None for row in rows)
    return f"{title}; success can be judged with two seeds or more" if needs else title


def _what(row: Row) -> str:
    error = row["facet"]["error"].rpartition("/")[2]
    return "accuracy" if error.startswith(WRONG) else error.replace("_", " ")


def _models(rows: Sequence[Row]) -> Iterable[list[Row]]:
    """The rows of each model with the same task, in order."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["model"], _labels(row)), []).append(row)
    return groups.values()


def _labels(row: Row) -> str:
    own = {name: value for name, value in row["labels"].items() if name not in row["facet"]["labels"]}
    return ", ".join(map(str, own.values()))


def _name(row: Row) -> str:
    is_reference = row["facet"]["reference"] == row["model"]
    return f"{row['model']} (reference)" if is_reference else str(row["model"])


def _line(group: Sequence[Row], names: Sequence[str]) -> list[str]:
    cells = {facet_name(row): _cell(row) for row in group}
    return [
        _name(group[0]),
        _labels(group[0]),
        str(group[0]["runs"]),
        *(cells.get(name, "") for name in names),
    ]


def _cell(row: Row) -> str:
    if row["success"]["rate"] is not None:
        return f"{row['outcomes']['solved']} of {row['runs']}"
    error = row["errors"]["test"]
    if error is None:
        return "-"
    return f"{1 - error:.1%}" if _what(row) == "accuracy" else f"{error:.3g}"


def _ranks(count: int) -> list[int]:
    """How soon columns move under their row: the last ones and every second one first."""
    ranks = [2] * count
    for step, rank in ((5, 1), (10, 0)):
        for k in range(step - 1, count, step):
            ranks[k] = rank
    return ranks if count > 6 else [0] * count
