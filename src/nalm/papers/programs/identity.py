"""The identity on scalars, learnt by networks with three hidden layers of eight values.

Trask et al. 2018, section 1.1 and appendix A: 10,000 steps on the squared error with the rate 0.01, numbers
from -5 to 5. The paper leaves open the optimiser (here Adam), the initial values (Xavier uniform, no shift)
and the batch (128 fresh numbers a step).
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor

from nalm.compose import ModelSpec
from nalm.tasks._base import Numbers, Split, Task
from nalm.training.engine import train_runs
from nalm.training.models import Models
from nalm.training.recipe import Adam, Recipe

HIDDEN, LAYERS = 8, 3
STEPS, RATE, BOUND = 10_000, 0.01, 5.0


class Identity(Task):
    """y = x for x uniform in [-5, 5)."""

    name = "identity"
    in_features = 1

    def shape(self) -> Hashable:
        """There is one only."""
        return type(self)

    def numbers(self, seed: int, split: Split) -> dict[str, Any]:
        """Nothing differs between runs."""
        return {}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Numbers, and the same numbers."""
        x = (BOUND * (2 * u - 1)).mT
        return x, x


def network(activation: str) -> ModelSpec:
    """1 -> 8 -> 8 -> 8 -> 1 with an activation on the hidden layers."""
    return ModelSpec.parse("+".join(["linear", *[f"linear(activation={activation})"] * LAYERS]))


@functools.lru_cache(maxsize=32)
def reconstructions(activation: str, models: int, steps: int, farthest: int) -> Tensor:
    """What trained networks make of the integers from -farthest to farthest: `models x integers`, float64."""
    model = network(activation).build(1, 1, hidden=HIDDEN)
    recipe = Recipe(optimiser=Adam(RATE), iterations=steps)
    # Compiling would take longer than training does.
    trained = train_runs(
        model,
        [Identity()] * models,
        [recipe] * models,
        range(models),
        log_interval=steps,
        compiled=False,
    )
    x = torch.arange(-farthest, farthest + 1, dtype=torch.float32)[None, :, None]
    predictor = Models(model, torch.float32, torch.device("cpu"))
    with torch.no_grad():
        return predictor.predict(trained.final_parameters, x.expand(models, -1, 1))[..., 0].double()
