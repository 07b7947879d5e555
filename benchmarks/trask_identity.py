"""Trials of the identity of Trask et al. 2018, table 5: the optimiser, which the paper does not state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from nalm.experiment.bench import Experiment
from nalm.experiment.store import Record
from nalm.models.many import Parameters
from nalm.papers.agreement import Finding
from nalm.papers.reproduce import StoreRunner
from nalm.papers.shared.networks import stacked
from nalm.papers.trask2018.entries.identity import ACTIVATIONS, FAR
from nalm.papers.trask2018.programs import identity
from trask_errors import Changing
from trial import Pair, Trial


@dataclass(frozen=True)
class Descent(identity.SideBySide):
    """Plain gradient descent on a hundred networks at once."""

    trainer: ClassVar[str] = identity.SideBySide.trainer

    def over(self, parameters: Parameters) -> torch.optim.Optimizer:
        """The optimiser of all networks."""
        return torch.optim.SGD(parameters.values(), lr=self.learning_rate)


def far_errors(name: str, records: Sequence[Record]) -> list[float]:
    """The mean absolute error of each network on the integers from -1000 to 1000."""
    parameters = stacked(record.final_parameters for record in records)
    return identity.errors(ACTIVATIONS[name], parameters, FAR).mean(-1).tolist()


def mean(errors: Sequence[float]) -> Finding:
    """The mean over networks with twice its standard error; no number if one of them diverged."""
    x = np.asarray(errors)
    if not np.isfinite(x).all():
        return Finding(None, None, None, len(x))
    middle, spread = float(x.mean()), 2 * float(x.std()) / len(x) ** 0.5
    return Finding(middle, middle - spread, middle + spread, len(x))


def scalars(
    change: str, rows: Sequence[str], changing: Changing, choice: Callable[[list[float]], Finding] = mean
) -> Trial:
    """A change to rows of table 5."""

    def measure(run: StoreRunner) -> dict[str, Pair]:
        pairs = {}
        for name in rows:
            before = identity.case(ACTIVATIONS[name], identity.STEPS)
            sides = []
            for case in (before, changing(before)):
                records = run.records(Experiment("causes", (case,), identity.MODELS))[case]
                sides.append(far_errors(name, records))
            pairs[name] = mean(sides[0]), choice(sides[1])
        return pairs

    return Trial("trask2018:table5", ", ".join(rows), change, measure)
