"""Tables of text that fit any terminal: nothing is ever cut.

Columns that do not fit next to the others move to lines under their row, the least important first, with
their names in front. Prose may also be wrapped. Without a width, as in a pipe, every row is one line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

GAP, INDENT = "  ", "    "
NARROWEST = 24
"""The width to which prose is wrapped before its column moves under the row."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: its heading.
        rank: how soon it moves under the row: the highest rank first, 0 last.
        prose: whether its text may be wrapped.
    """

    name: str
    rank: int = 0
    prose: bool = False


@dataclass(frozen=True)
class TextTable:
    """A table.

    Attributes:
        title: the text above it.
        columns: the columns; the first never moves.
        rows: one text for each column.
        ends: rows, by number, after which a line is drawn.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    ends: Collection[int] = ()

    def text(self, width: int | None = None) -> str:
        """The table in `width` characters; if None, as wide as it needs."""
        beside = self._beside(width)
        widths = {k: self._width(k) for k in beside}
        if width is not None:
            self._wrap(widths, width)
        lines = [self.title] if width is None else textwrap.wrap(self.title, width)
        lines += self._line([self.columns[k].name for k in beside], widths)
        rule = "-" * (sum(widths.values()) + len(GAP) * (len(widths) - 1))
        lines.append(rule)
        for number, row in enumerate(self.rows):
            lines += self._line([row[k] for k in beside], widths)
            lines += self._under(row, [k for k in range(len(row)) if k not in widths], width)
            if number in self.ends:
                lines.append(rule)
        return "\n".join(lines)

    def _beside(self, width: int | None) -> list[int]:
        """The columns that stay next to each other."""
        kept = list(range(len(self.columns)))
        while width is not None and len(kept) > 1 and self._needed(kept) > width:
            # Among equally important columns, the last moves first.
            kept.remove(max(kept[1:], key=lambda k: (self.columns[k].rank, k)))
        return kept

    def _needed(self, kept: Sequence[int]) -> int:
        return sum(self._least(k) for k in kept) + len(GAP) * (len(kept) - 1)

    def _width(self, k: int) -> int:
        return max(cell_len(text) for text in (self.columns[k].name, *(row[k] for row in self.rows)))

    def _least(self, k: int) -> int:
        return min(self._width(k), NARROWEST) if self.columns[k].prose else self._width(k)

    def _wrap(self, widths: dict[int, int], width: int) -> None:
        """Narrow prose columns until the table fits the width, the widest first."""
        over = sum(widths.values()) + len(GAP) * (len(widths) - 1) - width
        for k in sorted(widths, key=lambda k: -widths[k]):
            if over > 0 and self.columns[k].prose:
                least = min(widths[k], NARROWEST)
                cut = min(over, widths[k] - least)
                widths[k] -= cut
                over -= cut

    def _line(self, texts: Sequence[str], widths: dict[int, int]) -> Iterator[str]:
        """A row: one line, or more where prose is wrapped."""
        cells = [_wrapped(text, size) for text, size in zip(texts, widths.values())]
        for number in range(max(map(len, cells))):
            parts = [cell[number] if number < len(cell) else "" for cell in cells]
            padded = [part + " " * (size - cell_len(part)) for part, size in zip(parts, widths.values())]
            yield GAP.join(padded).rstrip()

    def _under(self, row: Sequence[str], moved: Sequence[int], width: int | None) -> Iterator[str]:
        """The columns of a row that did not fit, as many per line as there is room for."""
        line = ""
        for k in moved:
            if not row[k]:
                continue
            item = f"{self.columns[k].name}: {row[k]}"
            longer = f"{line}; {item}" if line else item
            if line and width is not None and cell_len(INDENT + longer) + 1 > width:
                yield from _indented(f"{line};", width)
                longer = item
            line = longer
        if line:
            yield from _indented(line, width)


def _wrapped(text: str, size: int) -> list[str]:
    """Lines of at most this size; longer words are not broken."""
    if cell_len(text) <= size:
        return [text]
    return textwrap.wrap(text, size, break_long_words=False, break_on_hyphens=False) or [""]


def _indented(text: str, width: int | None) -> Iterator[str]:
    size = cell_len(text) if width is None else max(1, width - len(INDENT))
    for line in _wrapped(text, size):
        yield INDENT + line
