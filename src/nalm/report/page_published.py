"""The papers' success rates for the rows of a page, for the same data, threshold and steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nalm.evaluate.intervals import Interval, success_interval
from nalm.evaluate.outcome import Outcome
from nalm.evaluate.ranking import Budget
from nalm.papers.agreement import Agreement, Finding, compare, compare_rates
from nalm.papers.beside import published_for
from nalm.report.packing import rounded
from nalm.report.page_rows import PageRow, Section


def published_rows(sections: Mapping[Section, Sequence[PageRow]]) -> list[dict[str, Any]]:
    """One row per published rate of a task that is on the page, with its section and its budget."""
    return [row for index, rows in enumerate(sections.values()) for row in _of_section(index, rows)]


def _of_section(index: int, rows: Sequence[PageRow]) -> Iterator[dict[str, Any]]:
    # Rows of a section differ only in operation and range, so one of each represents all.
    tasks = {(row.op, row.range): row.case.task for row in rows}
    for (op, range), task in tasks.items():
        for rate in published_for(task):
            row = rate.row()
            row["success"] = {name: rounded(value) for name, value in row["success"].items()}
            yield {
                **row,
                "section": index,
                "op": op,
                "range": range,
                "budget": str(Budget(second_order=False, steps=rate.iterations)),
            }


def against_papers(rows: Sequence[PageRow], published: Sequence[Mapping[str, Any]]) -> list[str]:
    """One sentence per unit and paper: on how many ranges our success agrees, and where it does not."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        for rate in published:
            if _is_about(rate, row):
                place = found.setdefault((row.label, rate["entry"].partition(":")[0]), {})
                place.setdefault(_verdict(rate, row), []).append(row.range)
    return [_sentence(*names, verdicts) for names, verdicts in found.items()]


def _is_about(rate: Mapping[str, Any], row: PageRow) -> bool:
    """Whether it is the rate of this unit by its own recipe, for the same data and the same steps."""
    same = (rate["model"], rate["op"], rate["range"], rate["budget"])
    return not row.case.variant and same == (row.case.model, row.op, row.range, str(row.budget))


def _verdict(rate: Mapping[str, Any], row: PageRow) -> str:
    theirs, n = rate["success"], rate["n"]
    solved = sum(run.assessment.outcome is Outcome.SOLVED for run in row.case.runs)
    own = success_interval(solved, len(row.case.runs))
    ours = Finding(own.value, own.low, own.high, len(row.case.runs))
    if n:
        said = compare_rates(Finding(theirs["rate"], theirs["low"], theirs["high"], n), ours)
    else:
        said = compare(Interval(theirs["rate"], theirs["low"], theirs["high"]), ours, rising=True)
    if said.agreement is Agreement.AGREES:
        return "agrees"
    return "higher" if said.agreement is Agreement.BETTER else "lower"


def _sentence(label: str, paper: str, verdicts: Mapping[str, Sequence[str]]) -> str:
    total = sum(map(len, verdicts.values()))
    others = [f"{name} on {', '.join(verdicts[name])}" for name in ("higher", "lower") if name in verdicts]
    agreeing = len(verdicts.get("agrees", ()))
    said = f"agrees on {agreeing} of {total} range{'' if total == 1 else 's'}" if agreeing else ""
    return f"{label}, {paper}: {'; '.join(filter(None, [said, *others]))}"
