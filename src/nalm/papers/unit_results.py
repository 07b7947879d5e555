"""What the kept results of the ledger say about single units: our success and the published one, per range.

Only cells that train one unit by a recipe of its own count: a sweep over learning rates says nothing about
the unit as it is published. Where several tables have the same unit on the same data, the one whose paper
gives a number is taken.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.beside import is_own_recipe
from nalm.papers.cell import Cell
from nalm.papers.ledger import kept_result
from nalm.papers.metrics import SUCCESS
from nalm.papers.shared.series import label
from nalm.tasks import RangeTask


@dataclass(frozen=True)
class RangeSuccess:
    """Our success and the published one of a unit, for one operation and range.

    Attributes:
        unit: the name of the unit.
        model: the unit with its recipe and options, as on the command line: `realnpu@modified`.
        task: the name of the task.
        op: the operation.
        inputs: the number of inputs.
        range: the range that it is trained on, as the thesis writes it: `U[-2,-1)`.
        steps: the number of training steps.
        ours: our rate, with its 95 % interval and the number of seeds.
        published: the paper's rate; None if the paper gives none. Its `n` is 0 if the paper does not say.
        kind: `claim` if a sentence says the published rate, else `number`: printed or measured in a figure.
        verdict: how the two compare: a value of `nalm.papers.agreement.Agreement`.
        entry: the id of the table or figure in the ledger.
    """

    unit: str
    model: str
    task: str
    op: str
    inputs: int
    range: str
    steps: int
    ours: Finding
    published: Finding | None
    kind: str
    verdict: str
    entry: str

    def row(self) -> dict[str, Any]:
        """It as plain data."""
        others = ("model", "task", "op", "inputs", "range", "steps", "kind", "verdict", "entry")
        return {
            **{name: getattr(self, name) for name in others},
            "ours": _plain(self.ours),
            "published": None if self.published is None else _plain(self.published),
        }


def success_by_range(unit: str) -> list[RangeSuccess]:
    """Our success and the published one of a unit, one row per model, task, operation and range.

    Nothing is trained: the rows come from the results that are kept with the project. A unit without any has
    no rows.

    Args:
        unit: the name of the unit on the command line, such as `nmu`.
    """
    return list(_successes(unit))


def all_successes() -> tuple[RangeSuccess, ...]:
    """The rows of all units, in the order of the ledger."""
    return _successes(None)


@functools.cache
def _successes(unit: str | None) -> tuple[RangeSuccess, ...]:
    """The rows of a unit, or of all if it is None."""
    best: dict[tuple[object, ...], RangeSuccess] = {}
    for row in _rows(unit):
        place = (row.model, row.task, row.op, row.inputs, row.range)
        if place not in best or _weight(row) > _weight(best[place]):
            best[place] = row
    return tuple(best.values())


def _rows(unit: str | None) -> Iterator[RangeSuccess]:
    """The cells of all kept results that have a unit of their own: this one, or any if it is None."""
    from nalm.papers.entries import ENTRIES  # imports the specs of all papers, which takes a second
    from nalm.papers.entry import Grid

    for entry in ENTRIES.values():
        result = kept_result(entry.id) if isinstance(entry, Grid) and entry.threshold is None else None
        if result is None or result["protocol"] != "paper":
            continue
        assert isinstance(entry, Grid)
        for cell in result["cells"]:
            place = entry.places.get((cell["row"], cell["column"]))
            if cell["metric"] == SUCCESS.name and place is not None and len(place.cases) == 1:
                yield from _row(entry.id, place.cases[0], cell, unit)


def _row(entry: str, case: Case, cell: Cell, unit: str | None) -> Iterator[RangeSuccess]:
    """The row of a cell; none for stacks, for tasks without ranges and for changed recipes."""
    model, task = case.model, case.task
    if not isinstance(model, ModelSpec) or len(model.layers) > 1 or not isinstance(task, RangeTask):
        return
    # Whether a recipe is the unit's own takes longest to find out: of other units it is not asked.
    if unit not in (None, model.layers[0].name) or not is_own_recipe(case):
        return
    yield RangeSuccess(
        unit=model.layers[0].name,
        model=str(model),
        task=task.name,
        op=task.op,
        inputs=task.inputs,
        range=label(task.range),
        steps=case.recipe.iterations,
        ours=Finding(cell["ours"], cell["low"], cell["high"], cell["n"]),
        published=_published(cell),
        kind=cell["kind"],
        verdict=cell["verdict"],
        entry=entry,
    )


def _published(cell: Cell) -> Finding | None:
    if cell["paper"] is None:
        return None
    return Finding(cell["paper"], cell["paper_low"], cell["paper_high"], cell["paper_n"] or 0)


def _weight(row: RangeSuccess) -> tuple[bool, bool, int]:
    """Published rates outweigh none, numbers outweigh claims, then more seeds of ours outweigh fewer."""
    return row.published is not None, row.kind == "number", row.ours.n


def _plain(found: Finding) -> dict[str, Any]:
    return {"rate": found.value, "low": found.low, "high": found.high, "n": found.n}
