"""Every table and figure of the four papers behind this project, and the entry of the ledger that covers it.

`contents.csv` has a row for each. The columns:

- paper: its key in `papers/citations.py`; place: its number, such as `table1`, `fig4.10`, `tableE.3`.
- about: what it shows, in a few words.
- entry: the id of the entry that covers it. Places that repeat one another share an entry.
- why: where there is no entry, the reason, one of `WHYS`.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from importlib import resources

WHYS: dict[str, str] = {
    "images": "a task with images",
    "words": "a task with text",
    "programs": "the evaluation of programs",
    "agents": "reinforcement learning",
    "logic": "a task of logic",
    "composition": "expressions of several operations",
    "diagram": "a drawing without results",
    "settings": "settings or notation",
    "not yet": "could be an entry",
}
"""Why a table or figure has no entry, and what it is then."""


@dataclass(frozen=True)
class Content:
    """A table or figure of a paper.

    Attributes:
        paper: key of the paper.
        place: its number in the paper.
        about: what it shows.
        entry: id of the entry that covers it, if there is one.
        why: why there is none, empty if there is one.
    """

    paper: str
    place: str
    about: str
    entry: str | None
    why: str


@functools.cache
def contents() -> tuple[Content, ...]:
    """All tables and figures, in the order of each paper."""
    file = resources.files("nalm.papers") / "contents.csv"
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return tuple(Content(r["paper"], r["place"], r["about"], r["entry"] or None, r["why"]) for r in rows)
