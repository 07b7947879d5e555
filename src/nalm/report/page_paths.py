"""Runs of tasks with formulas: which formula was found, whether it is the target, and by which path.

Many seeds find the same formula in the same way: runs with equal parameters are read once, and equal paths
are on the page once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from nalm.experiment.rebuild import path, read, task_of
from nalm.experiment.rows import NO_FORMULA
from nalm.experiment.store import Record
from nalm.models.path import PathStep

MOST_STEPS = 24
"""Paths with more steps are not drawn."""
LONGEST = 160
"""Longer expressions of a step are cut."""
MOST_FORMULAS = 5
"""How many formulas of a row are listed."""
_REMEMBERED = 1000

PackedStep = tuple[int, str, tuple[str | int, ...], str, str, str]
"""Step or layer, unit, what it reads, what it writes, its expression, and the same of the inputs, if that is
another one. It reads inputs, which are names, and earlier steps of the path, which are indices."""
Path = tuple[PackedStep, ...]
Verdict = tuple[bool | None, int | None]
"""Whether the formula of a run is the target, None if it cannot be read; and the index of its path."""


@dataclass(frozen=True)
class Finding:
    """What a run has found.

    Attributes:
        text: the formula, or why there is none; None if the run diverged or has no units.
        formula: the formula alone; a fixed text if it cannot be read.
        equal: whether it is the target; None if it cannot be read.
        path: its path; None if it has none or a long one.
    """

    text: str | None
    formula: str
    equal: bool | None
    path: Path | None


@dataclass
class Findings:
    """The findings of a page, row by row."""

    paths: dict[Path, int] = field(default_factory=dict)
    equal: dict[int, int] = field(default_factory=Counter)
    formulas: dict[int, Counter[str]] = field(default_factory=dict)
    _known: dict[Any, Finding] = field(default_factory=dict)

    def add(self, row: int, record: Record) -> tuple[str | None, Verdict]:
        """Read a run of a row: its formula as text, and the verdict for the page."""
        found = self._read(record)
        self.formulas.setdefault(row, Counter())[found.formula] += 1
        self.equal[row] += bool(found.equal)
        place = None if found.path is None else self.paths.setdefault(found.path, len(self.paths))
        return found.text, (found.equal, place)

    def _read(self, record: Record) -> Finding:
        held = tuple((name, value.tobytes()) for name, value in record.chosen_parameters.items())
        key = (
            record.model,
            str(record.labels),
            str(record.identity["layers"]),
            record.diverged_at >= 0,
            held,
        )
        if key not in self._known:
            if len(self._known) == _REMEMBERED:
                self._known.clear()
            self._known[key] = finding(record)
        return self._known[key]

    def of_row(self, row: int) -> dict[str, Any]:
        """What the runs of a row have found; empty if its task has no formulas or no run was read."""
        if row not in self.formulas:
            return {}
        counts = self.formulas[row]
        return {
            "equal": self.equal[row],
            "read": counts.total(),
            "found": counts.most_common(MOST_FORMULAS),
            "formulas": len(counts),
        }


def finding(record: Record) -> Finding:
    """What a run of a task with formulas has found."""
    text, known = read(record)
    steps = path(record, MOST_STEPS)
    packed = None if steps is None else packed_path(steps)
    if known is None or not known.readable:
        return Finding(text, NO_FORMULA, None, packed)
    formula = known.expressions[0]
    return Finding(text, str(formula), task_of(record).is_solution(formula), packed)


def packed_path(steps: list[PathStep]) -> Path:
    """The steps for a page; a name that several layers write means that of the layer before."""
    made: list[PackedStep] = []
    for step in steps:
        before = {each.writes: k for k, each in enumerate(steps) if each.step < step.step}
        reads = tuple(before.get(name, name) for name in step.reads)
        result = "" if step.result == step.expression else _cut(step.result)
        made.append((step.step, step.unit, reads, step.writes, _cut(step.expression), result))
    return tuple(made)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
