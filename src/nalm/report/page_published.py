"""The papers' success rates for the rows of a page, for the same data, threshold and steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nalm.evaluate.ranking import Budget
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
