"""The papers' success rates beside the lines of a page: of the same data, threshold and steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nalm.evaluate.ranking import Budget
from nalm.papers.beside import published_for
from nalm.report.lines import Line, Section
from nalm.report.packing import rounded


def published_rows(sections: Mapping[Section, Sequence[Line]]) -> list[dict[str, Any]]:
    """One row a published rate of a task that is on the page, with its section and its budget."""
    return [row for index, lines in enumerate(sections.values()) for row in _of_section(index, lines)]


def _of_section(index: int, lines: Sequence[Line]) -> Iterator[dict[str, Any]]:
    # Lines that differ in more than operation and range are in other sections: one of each stands for all.
    tasks = {(line.op, line.range): line.cell.task for line in lines}
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
