"""Success rates in words, and where in the ledger they come from."""

from __future__ import annotations

import functools

from markdown.extensions.toc import slugify

from nalm.papers.agreement import Finding
from nalm.papers.ledger import kept_result
from nalm.papers.unit_results import RangeSuccess

OPERATIONS = {
    "add": "Addition", "sub": "Subtraction", "mul": "Multiplication", "div": "Division",
    "reciprocal": "Reciprocal",
}  # fmt: skip
VERDICTS = {
    "agrees": "agrees", "better": "ours is better", "differs": "differs", "unpublished": "not published",
    "not_comparable": "not comparable",
}  # fmt: skip


def heading(row: RangeSuccess) -> str:
    """The operation and the number of inputs."""
    return f"{OPERATIONS[row.op]}, {row.inputs} {'input' if row.inputs == 1 else 'inputs'}"


def rate(found: Finding) -> str:
    """A rate with its interval and the number of runs: `76 % [57, 89] of 25`."""
    if found.value is None:
        return "-"
    known = found.low is not None and found.high is not None
    interval = f" [{100 * found.low:.0f}, {100 * found.high:.0f}]" if known else ""
    return share(found) + interval + (f" of {found.n}" if found.n else "")


def share(found: Finding) -> str:
    """A rate alone; only all is 100 %, and only none is 0 %."""
    percent = 100 * (found.value or 0)
    return (
        f"{percent:.1f} %" if round(percent) in (0, 100) and percent not in (0, 100) else f"{percent:.0f} %"
    )


def published(row: RangeSuccess) -> str:
    """The published rate; one that a sentence says is marked."""
    if row.published is None:
        return ""
    return rate(row.published) + (", in words" if row.kind == "claim" else "")


@functools.cache
def ledger_link(entry: str, page: str = "../ledger.md") -> str:
    """A link to the table or figure in the ledger."""
    result = kept_result(entry)
    assert result is not None
    place = slugify(f"{entry}: {result['title']}", "-")
    return f"[{entry}]({page}#{place})"
