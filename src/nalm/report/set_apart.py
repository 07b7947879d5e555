"""Runs with a section of their own, set apart from all others by the name of their task.

Of a run, only what it measured at its chosen step is kept.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from nalm.experiment.store import Record
from nalm.experiment.stored_cases import variant_of

_STEPS = "iterations="


class SetApart:
    """Collects the runs of some tasks.

    Attributes:
        names: the names of the tasks.
        total: the number of runs so far.
    """

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self.total = 0
        self._known: dict[tuple[str, str], list[Record]] = {}

    def set_apart(self, records: Iterable[Record]) -> Iterator[Record]:
        """All runs of other tasks; those of these tasks are kept here."""
        for record in records:
            if record.task in self.names:
                self.add(record)
            else:
                yield record

    def add(self, record: Record) -> None:
        """Add a run, of which only the chosen step is kept."""
        key = (record.model, as_text(record.identity))
        self._known.setdefault(key, []).append(at_chosen_step(record))
        self.total += 1

    def cases(self) -> Iterator[tuple[Record, ...]]:
        """The runs that differ in their seed alone, in its order."""
        for runs in self._known.values():
            yield tuple(sorted(runs, key=lambda run: run.seed))


def at_chosen_step(record: Record) -> Record:
    """The run with a single log, that of its chosen step, and without parameters."""
    k = record.chosen
    return replace(
        record,
        steps=record.steps[k : k + 1],
        validation=record.validation[k : k + 1],
        test=record.test[k : k + 1],
        chosen=0,
        errors={name: curve[..., k : k + 1].copy() for name, curve in record.errors.items()},
        chosen_parameters={},
        final_parameters={},
        history={},
    )


def as_text(held: Any) -> str:
    """Plain data as text; equal data have equal texts, whether they come from a store or not."""
    return json.dumps(held, sort_keys=True)


def variant_besides_steps(record: Record) -> tuple[str, ...]:
    """How a run differs from what its model's text means today, its number of steps aside."""
    return tuple(part for part in variant_of(record) if not part.startswith(_STEPS))
