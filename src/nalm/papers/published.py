"""Published numbers as data: one row per number, with where it is published and the threshold behind it.

Each paper has its own file, `published.csv`. The columns:

- entry: the table or figure, such as `mistry2023:fig3.4`; row, column and metric: the cell in it.
- kind: `number` if it is printed or was measured in a figure, `claim` if a sentence says it in words.
- value, low, high: the number and its 95 % interval, if one is given; n: the number of seeds.
- threshold: what counted as success, in words; locator: where the number is published.
- source: what kind of place that is, one of `SOURCES`. The locator of a number of `other` that stands in an
  entry of another paper begins with the key of its own: `mistry2021division: abstract`.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

from nalm.errors import check_choice
from nalm.evaluate.intervals import Interval, success_interval

FILE = "published.csv"
"""The name of the file, in the folder of its paper."""

SOURCES = {
    "printed": "printed in one of the four papers: trask2018, madsen2020, mistry2021, mistry2023",
    "digitised": "measured in a figure of theirs, or in the public data behind their tables and figures",
    "other": "a number of another paper or of its public files",
    "sentence": "a sentence of theirs, expressed as a number: all of kind claim and nothing else",
}
"""Where published numbers come from."""


@dataclass(frozen=True)
class Published:
    """A published number."""

    entry: str
    row: str
    column: str
    metric: str
    kind: str
    value: float
    low: float | None
    high: float | None
    n: int | None
    threshold: str
    locator: str
    source: str

    def interval(self) -> Interval:
        """The published interval; where none is given, Wilson's for a rate of n seeds."""
        if self.low is not None or self.n is None or "success" not in self.metric:
            return Interval(self.value, self.low, self.high)
        wilson = success_interval(round(self.value * self.n), self.n)
        return Interval(self.value, wilson.low, wilson.high)


@functools.cache
def published() -> dict[tuple[str, str, str, str], Published]:
    """All published numbers by entry, row, column and metric."""
    return {(n.entry, n.row, n.column, n.metric): n for n in _read()}


def numbers_of(entry: str) -> list[Published]:
    """The published numbers of a table or figure."""
    return [number for number in published().values() if number.entry == entry]


def _read() -> Iterator[Published]:
    papers = sorted(resources.files("nalm.papers").iterdir(), key=lambda folder: folder.name)
    files = (folder / FILE for folder in papers if folder.is_dir())
    for file in filter(lambda file: file.is_file(), files):
        yield from read_numbers(file.read_text(encoding="utf-8"))


def read_numbers(text: str) -> Iterator[Published]:
    """The numbers in the text of a `published.csv`."""
    for line in csv.DictReader(text.splitlines()):
        yield Published(
            entry=line["entry"],
            row=line["row"],
            column=line["column"],
            metric=line["metric"],
            kind=line["kind"],
            value=float(line["value"]),
            low=_number(line["low"]),
            high=_number(line["high"]),
            n=int(line["n"]) if line["n"] else None,
            threshold=line["threshold"],
            locator=line["locator"],
            source=check_choice("source", line.get("source") or "", SOURCES),
        )


def _number(text: str) -> float | None:
    return float(text) if text else None
