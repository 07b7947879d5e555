"""The identity on scalars, learnt by networks with three hidden layers of eight values.

Trask et al. 2018, section 1.1 and appendix A: 10,000 steps on the squared error with learning rate 0.01,
numbers from -5 to 5. The paper does not give the optimiser (here Adam), the initialisation (Xavier uniform,
biases 0) and the batch (64 fresh numbers per step).

All models of one activation train side by side, model axis first, each on numbers of its own seed.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.models.many import Models, Parameters
from nalm.papers.shared.own_trainer import BlockTrainer, Ended, OnStep, OwnOptimiser
from nalm.recipes import Recipe
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import Task
from nalm.trained import Options, RunGroup
from nalm.units._activations import FUNCTIONS

HIDDEN, LAYERS = 8, 3
MODELS, STEPS, RATE, BATCH, BOUND = 100, 10_000, 0.01, 64, 5.0
NEAR = 20
"""How far from zero the networks are tested in figure 1."""
_REPORT = 100
"""Steps between reports of progress."""


@dataclass(frozen=True)
class Identity(Task):
    """The number itself; the error is the mean absolute error on the integers."""

    name = "trask2018-identity"
    in_features = 1

    def shape(self) -> Hashable:
        """There is one such task."""
        return (type(self),)

    def identity(self) -> dict[str, Any]:
        """There is one such task."""
        return {"name": self.name, "inputs": 1, "outputs": 1}

    def labels(self) -> dict[str, str | int]:
        """The function."""
        return {"function": "x"}


@dataclass(frozen=True)
class SideBySide(OwnOptimiser):
    """Adam on a hundred networks at once."""

    learning_rate: float = RATE

    trainer: ClassVar[str] = "nalm.papers.trask2018.programs.identity:Hundred"

    def over(self, parameters: Parameters) -> torch.optim.Optimizer:
        """The optimiser of all networks. Adam works element by element: one for all equals one for each."""
        return torch.optim.Adam(parameters.values(), lr=self.learning_rate, fused=True)


ADAM = SideBySide()
"""The optimiser of the entries."""


class Hundred(BlockTrainer):
    """Networks of one activation, a hundred seeds at a time."""

    name, chunk, block = SideBySide.trainer, MODELS, MODELS
    SECONDS_PER_STEP = 1e-5

    def train_block(self, runs: RunGroup, seeds: range, options: Options, on_step: OnStep) -> Ended:
        """One network per seed."""
        activation: str = runs.model[-1].activation  # type: ignore[index]
        together = torch.tensor(seeds, dtype=torch.int32)
        (optimiser,) = {recipe.optimiser for recipe in runs.recipes}
        assert isinstance(optimiser, SideBySide)
        parameters = trained(activation, together, options.iterations, on_step, optimiser)
        error, inside = errors(activation, parameters, NEAR), torch.arange(-NEAR, NEAR + 1).abs() <= BOUND
        return Ended(parameters, error[:, inside].mean(-1), error[:, ~inside].mean(-1))

    def place(self, task: Task, seed: int) -> int:
        """In the order of the seeds."""
        return seed


def network(activation: str) -> ModelSpec:
    """1 -> 8 -> 8 -> 8 -> 1 with an activation on the hidden layers."""
    return ModelSpec.parse("+".join(["linear", *[f"linear(activation={activation})"] * LAYERS]))


def case(activation: str, steps: int) -> Case:
    """Networks with an activation, trained for `steps` steps."""
    recipe = Recipe(optimiser=SideBySide(), clamps=(), batch_size=BATCH, iterations=steps)
    return Case(network(activation), Identity(), other_recipe=recipe, hidden=HIDDEN)


def initial(activation: str, seeds: Tensor) -> Parameters:
    """The parameters of untrained networks, `models x ...` by layer and name."""
    built = network(activation).build(1, 1, hidden=HIDDEN)
    return Models(built, torch.float32, torch.device("cpu")).initial(seeds)


def apply(activation: str, parameters: Parameters, x: Tensor) -> Tensor:
    """All networks: x `models x n x 1` to `models x n x 1`.

    Computes the same as the stack of units, by batched products, which are fastest without compiling.
    """
    function = FUNCTIONS[activation]
    for layer in range(LAYERS + 1):
        if layer:
            slope = parameters.get(f"{layer}.slope")
            x = function(x) if slope is None else function(x, slope)
        x = torch.baddbmm(parameters[f"{layer}.bias"][:, None], x, parameters[f"{layer}.w_hat"].mT)
    return x


def trained(
    activation: str,
    seeds: Tensor,
    steps: int,
    on_step: OnStep = lambda step: None,
    optimiser: SideBySide = ADAM,
) -> Parameters:
    """The parameters of networks after `steps` steps."""
    parameters = {name: p.requires_grad_() for name, p in initial(activation, seeds).items()}
    stepper = optimiser.over(parameters)
    elements = counters(BATCH, 1)
    for step in range(steps):
        if step % _REPORT == 0:
            on_step(step)
        u = uniform(key(seeds, Purpose.DATA, step), elements)
        x = BOUND * (2 * u - 1)
        loss = (apply(activation, parameters, x) - x).square().mean((1, 2)).sum()
        stepper.zero_grad()
        loss.backward()
        stepper.step()
    return {name: p.detach() for name, p in parameters.items()}


def errors(activation: str, parameters: Parameters, farthest: int) -> Tensor:
    """|f(x) - x| of networks for the integers from -farthest to farthest: `models x integers`."""
    models = len(parameters["0.bias"])
    x = torch.arange(-farthest, farthest + 1, dtype=torch.float32)[None, :, None].expand(models, -1, 1)
    with torch.no_grad():
        return (apply(activation, parameters, x) - x).abs()[..., 0].double()
