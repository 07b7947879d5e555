"""The properties of three losses (thesis, table 6.3), found by calling them: 1 for a tick, 0 for none.

A property is a change of predictions p or targets y that a loss must not notice:

- batch mean: the whole batch twice over;
- difference of prediction from target: errors of the opposite sign, y - d instead of y + d;
- standardisation: both multiplied by the same number;
- mean centering: the same number added to all predictions.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from nalm.papers.claims import Findings
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.recipes.losses import MAPE, MSE, PCC, Loss
from nalm.recipes.schedules import StepState
from nalm.streams import Purpose, counters, key, uniform

Change = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
CHANGES: dict[str, Change] = {
    "batch mean": lambda p, y: (torch.cat([p, p], -2), torch.cat([y, y], -2)),
    "difference from target": lambda p, y: (2 * y - p, y),
    "standardisation": lambda p, y: (3 * p, 3 * y),
    "mean centering": lambda p, y: (p + 3, y),
}
LOSSES: dict[str, Loss] = {"MSE": MSE(), "PCC": PCC(), "MAPE": MAPE()}
_ROWS, _CLOSE = 64, 1e-6


def batch() -> tuple[Tensor, Tensor]:
    """Targets of U[1,2) and predictions with errors of U[0,1)."""
    stream = key(torch.zeros(1, dtype=torch.int32), Purpose.DATA, 0)
    u = uniform(stream, counters(2 * _ROWS), torch.float64).reshape(2, 1, _ROWS, 1)
    return 1 + u[0] + u[1], 1 + u[0]


def unnoticed(loss: Loss, change: Change) -> bool:
    """Whether the loss is the same after a change."""
    start = StepState(torch.zeros(1), torch.zeros(1))
    prediction, target = batch()
    before, after = (loss(*pair, start) for pair in ((prediction, target), change(prediction, target)))
    return bool(((after - before).abs() <= _CLOSE * before.abs()).all())


def compute(scale: Scale) -> Measured:
    """Every property of every loss."""
    return Measured(
        Findings(
            {
                (name, column, "tick"): exact(unnoticed(loss, change))
                for name, loss in LOSSES.items()
                for column, change in CHANGES.items()
            }
        )
    )
