"""Stored runs with their limits and their assessment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from nalm.evaluate.outcome import Limits
from nalm.evaluate.summary import Assessment, judge


class Curves(Protocol):
    """The part of a stored run that is needed here: see `nalm.experiment.record.Record`."""

    @property
    def steps(self) -> np.ndarray: ...  # noqa: D102
    @property
    def validation(self) -> np.ndarray: ...  # noqa: D102
    @property
    def test(self) -> np.ndarray: ...  # noqa: D102
    @property
    def chosen(self) -> int: ...  # noqa: D102
    @property
    def diverged_at(self) -> int: ...  # noqa: D102
    @property
    def sparsity(self) -> float | None: ...  # noqa: D102
    @property
    def sparsity_with_gates(self) -> float | None: ...  # noqa: D102


R = TypeVar("R", bound=Curves)


@dataclass(frozen=True)
class Judged(Generic[R]):
    """A stored run, the limits it was judged by, and the assessment."""

    record: R
    below: Limits
    assessment: Assessment


def assess(record: Curves, below: Limits) -> Assessment:
    """The assessment of a stored run."""
    return judge(
        record.steps,
        record.validation,
        record.test,
        record.chosen,
        diverged=record.diverged_at >= 0,
        below=below,
        sparsity=record.sparsity,
        sparsity_with_gates=record.sparsity_with_gates,
    )
