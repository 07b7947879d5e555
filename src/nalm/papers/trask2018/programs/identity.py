"""The identity on scalars, learnt by networks with three hidden layers of eight values.

Trask et al. 2018, section 1.1 and appendix A: 10,000 steps on the squared error with the rate 0.01, numbers
from -5 to 5. The paper leaves open the optimiser (here Adam), the initial values (Xavier uniform, no shift)
and the batch (64 fresh numbers a step).

All models of one activation train side by side, model axis first, each on numbers of its own seed.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from nalm.models import ModelSpec
from nalm.models.many import Models, Parameters
from nalm.streams import Purpose, counters, key, uniform
from nalm.units._activations import FUNCTIONS

HIDDEN, LAYERS = 8, 3
MODELS, STEPS, RATE, BATCH, BOUND = 100, 10_000, 0.01, 64, 5.0


def network(activation: str) -> ModelSpec:
    """1 -> 8 -> 8 -> 8 -> 1 with an activation on the hidden layers."""
    return ModelSpec.parse("+".join(["linear", *[f"linear(activation={activation})"] * LAYERS]))


def initial(activation: str, seeds: Tensor) -> Parameters:
    """The parameters of untrained networks, `models x ...` by layer and name."""
    built = network(activation).build(1, 1, hidden=HIDDEN)
    return Models(built, torch.float32, torch.device("cpu")).initial(seeds)


def apply(activation: str, parameters: Parameters, x: Tensor) -> Tensor:
    """All networks: x `models x n x 1` to `models x n x 1`.

    What the stack of units computes, by batched products: those cost an uncompiled program least.
    """
    function = FUNCTIONS[activation]
    for layer in range(LAYERS + 1):
        if layer:
            slope = parameters.get(f"{layer}.slope")
            x = function(x) if slope is None else function(x, slope)
        x = torch.baddbmm(parameters[f"{layer}.bias"][:, None], x, parameters[f"{layer}.w_hat"].mT)
    return x


@functools.lru_cache(maxsize=32)
def trained(activation: str, models: int, steps: int) -> Parameters:
    """The parameters of networks after this many steps."""
    seeds = torch.arange(models, dtype=torch.int32)
    parameters = {name: p.requires_grad_() for name, p in initial(activation, seeds).items()}
    # Adam works element by element: one for all is one for each.
    adam = torch.optim.Adam(parameters.values(), lr=RATE, fused=True)
    elements = counters(BATCH, 1)
    with torch.inference_mode(False), torch.enable_grad():
        for step in range(steps):
            u = uniform(key(seeds, Purpose.DATA, step), elements)
            x = BOUND * (2 * u - 1)
            loss = (apply(activation, parameters, x) - x).square().mean((1, 2)).sum()
            adam.zero_grad()
            loss.backward()
            adam.step()
    return {name: p.detach() for name, p in parameters.items()}


def errors(activation: str, models: int, steps: int, farthest: int) -> Tensor:
    """|f(x) - x| of trained networks for the integers from -farthest to farthest: `models x integers`."""
    x = torch.arange(-farthest, farthest + 1, dtype=torch.float32)[None, :, None].expand(models, -1, 1)
    with torch.no_grad():
        return (apply(activation, trained(activation, models, steps), x) - x).abs()[..., 0].double()
