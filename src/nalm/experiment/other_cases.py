"""Stored runs without a threshold, case by case: tables of numbers, and the papers' own networks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nalm.experiment.record import Record


@dataclass
class OtherCase:
    """The stored runs of a model on a task, and their errors.

    Attributes:
        task: the name of the task.
        model: the text of the model.
        labels: what distinguishes the task from others of its name.
        iterations: the number of steps.
        seeds: the seeds of the runs, in the order in which they were read.
        errors: the errors at the chosen step of each run, by split and name.
    """

    task: str
    model: str
    labels: Mapping[str, Any]
    iterations: int
    seeds: list[int] = field(default_factory=list)
    errors: dict[str, list[float]] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Add a run."""
        self.seeds.append(record.seed)
        curves = {"validation": record.validation, "test": record.test, **record.errors}
        for name, curve in curves.items():
            if curve.ndim > 1:
                continue  # an error with several values, such as one per length, has a page of its own
            self.errors.setdefault(name, []).append(float(curve[record.chosen]))


class OtherCases:
    """Collects such cases, without keeping their records."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], OtherCase] = {}

    def add(self, record: Record) -> None:
        """Add a run to its case."""
        key = (record.model, json.dumps(record.identity, sort_keys=True))
        if key not in self._known:
            self._known[key] = OtherCase(record.task, record.model, record.labels, record.iterations)
        self._known[key].add(record)

    def by_task(self) -> dict[str, list[OtherCase]]:
        """All cases by the name of their task, sorted by labels and model."""
        found: dict[str, list[OtherCase]] = {}
        for case in sorted(
            self._known.values(), key=lambda c: (c.task, str(c.labels), c.model, c.iterations)
        ):
            found.setdefault(case.task, []).append(case)
        return found
