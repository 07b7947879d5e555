"""Numbers such as 2.044, which may be meant as 2044: told if nothing in the file says which."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_WHOLE = re.compile(r"[+-]?\d{1,3}")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}")


def doubtful(columns: Mapping[str, Sequence[str]], delimiter: str) -> dict[str, str]:
    """The first cell in doubt of each column in which all numbers could have separators of thousands.

    A separator that is certainly a decimal one in some column is that in all of them. In files with commas
    between columns, three decimals in every row are no reason for doubt.

    Args:
        columns: cells that are numbers, by the names of columns.
        delimiter: what splits columns.
    """
    decimal: set[str] = set()
    found = {}
    for name, cells in columns.items():
        grouped = [cell for cell in cells if _GROUPED.fullmatch(cell)]
        whole = sum(_WHOLE.fullmatch(cell) is not None for cell in cells)
        if len(grouped) + whole < len(cells):
            decimal.update(mark for mark in ".," if any(mark in cell for cell in cells))
        elif grouped and (whole or delimiter != ","):
            found[name] = grouped[0]
    return {name: cell for name, cell in found.items() if not decimal & set(cell)}


def thousands_note(name: str, cell: str) -> str:
    """What to say about such a column."""
    mark = "," if "," in cell else "."
    read, meant = cell.replace(",", "."), cell.replace(mark, "")
    return (
        f"Column {name}: {cell!r} was read as the decimal number {read}. If {meant} is meant, remove the "
        "separators of thousands from the file."
    )
