"""Sums over time of two parts of the inputs, then an operation, learnt by recurrent models.

Trask et al. 2018, section 4.1 and appendix B: ten inputs per step, training on sequences of 10 steps, testing
on sequences of 10 and 1000; the error is relative to that of an untrained LSTM. States have two values: "all
models use a hidden layer size of 2".

Chosen here, because the paper does not say: inputs from U[0,1), parts of two inputs that share one, Adam with
the learning rate 0.01, batches of 32 sequences, 10,000 steps, gradients clipped to norm 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nalm.papers.shared.own_trainer import OnStep
from nalm.papers.trask2018.programs.recurrent_cells import Model, Parameters, RecurrentKind, kinds
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import ArithmeticDataset

INPUTS, SIZE, SHORT, LONG = 10, 2, 10, 1000
SEEDS, STEPS, RATE, BATCH, SAMPLES, NORM = 10, 10_000, 0.01, 32, 500, 1.0
LAST = 100
"""The training error is the mean over this many last steps."""
OVERFLOW = 1e300
"""Replaces errors that are NaN or infinite."""
_REPORT = 50
"""Steps between reports of progress."""

TARGETS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "a": lambda a, b: a,
    "a + b": torch.add,
    "a - b": torch.sub,
    "a × b": torch.mul,
    "a / b": torch.div,
    "a²": lambda a, b: a * a,
    "√a": lambda a, b: a.sqrt(),
}
"""The seven functions of the two sums."""
KINDS = kinds(INPUTS, SIZE)


@dataclass(frozen=True)
class Errors:
    """Mean squared errors, `targets x seeds` each."""

    training: np.ndarray
    interpolation: np.ndarray
    extrapolation: np.ndarray


class Lanes:
    """Models side by side: every target for every seed, targets first. Models of a seed share their data.

    Args:
        seeds: one per model of a target.
        dtype: precision of the data.
    """

    def __init__(self, seeds: Sequence[int], dtype: torch.dtype = torch.float32) -> None:
        self.seeds = torch.tensor(seeds, dtype=torch.int32)
        parts = ArithmeticDataset("add", "0:1", inputs=INPUTS)
        self.subsets = torch.tensor(np.stack([parts.subsets(seed) for seed in seeds]), dtype=dtype)
        self.dtype = dtype

    def all_seeds(self) -> Tensor:
        """The seed of every model."""
        return self.seeds.repeat(len(TARGETS))

    def inputs(self, purpose: Purpose, step: int, *shape: int) -> Tensor:
        """Uniform inputs `seeds x *shape x inputs` of a step."""
        return uniform(key(self.seeds, purpose, step), counters(*shape, INPUTS), self.dtype)

    def spread(self, x: Tensor) -> Tensor:
        """Repeat data that are given per seed for every model."""
        return x.repeat(len(TARGETS), *[1] * (x.dim() - 1))

    def targets(self, totals: Tensor) -> Tensor:
        """Targets `models x n` of inputs added up over time, `seeds x n x inputs`."""
        a, b = torch.bmm(totals, self.subsets.mT).unbind(-1)
        return torch.cat([target(a, b) for target in TARGETS.values()])

    def by_target(self, errors: Tensor) -> np.ndarray:
        """From `models` to `targets x seeds`; NaN and infinite errors become `OVERFLOW`."""
        return finite(errors).reshape(len(TARGETS), -1).numpy()


def finite(errors: Tensor) -> Tensor:
    """The errors, with `OVERFLOW` for those that are NaN or infinite."""
    return torch.nan_to_num(errors.double(), OVERFLOW, OVERFLOW, OVERFLOW)


def train_loss(model: Model, lanes: Lanes, step: int, batch: int) -> Tensor:
    """The mean squared error of each model on the sequences of a step."""
    x = lanes.inputs(Purpose.DATA, step, SHORT, batch)
    state = model.start(len(TARGETS) * len(x), batch)
    for now in lanes.spread(x).unbind(1):
        state = model.step(now, state)
    return (model.read(state[0])[..., 0] - lanes.targets(x.sum(1))).square().mean(-1)


def test_error(
    kind: RecurrentKind, parameters: Parameters, seeds: Sequence[int], length: int, samples: int
) -> Tensor:
    """The mean squared error of each model on held-out sequences, in double precision."""
    lanes = Lanes(seeds, torch.float64)
    model = kind.make({name: p.detach().double() for name, p in parameters.items()})
    purpose = Purpose.VALIDATION if length == SHORT else Purpose.TEST
    totals = torch.zeros(len(seeds), samples, INPUTS, dtype=torch.float64)
    state = model.start(len(TARGETS) * len(seeds), samples)
    with torch.no_grad():
        for time in range(length):
            x = lanes.inputs(purpose, time, samples)
            totals += x
            state = model.step(lanes.spread(x), state)
        return (model.read(state[0])[..., 0] - lanes.targets(totals)).square().mean(-1)


def test_errors(kind: RecurrentKind, parameters: Parameters, seeds: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The errors of each model on short and on long sequences."""
    short, long = (test_error(kind, parameters, seeds, length, SAMPLES) for length in (SHORT, LONG))
    return short, long


def clip_(parameters: Parameters) -> None:
    """Clip the gradient of each model to norm 1, after setting elements that are NaN or infinite to 0."""
    gradients = [p.grad for p in parameters.values() if p.grad is not None]
    for g in gradients:
        torch.nan_to_num_(g, 0.0, 0.0, 0.0)
    norm = sum(g.flatten(1).square().sum(1) for g in gradients)
    factor = (NORM / torch.as_tensor(norm).sqrt().clamp(min=NORM)).detach()
    for g in gradients:
        g.mul_(factor.reshape(-1, *[1] * (g.dim() - 1)))


def train(
    kind: RecurrentKind,
    seeds: Sequence[int],
    steps: int,
    on_step: OnStep = lambda step: None,
    rate: float = RATE,
) -> tuple[Parameters, Tensor]:
    """Trained parameters, and the mean loss of each model over the last steps."""
    lanes = Lanes(seeds)
    parameters = {name: p.requires_grad_() for name, p in kind.initial(lanes.all_seeds()).items()}
    # Adam works element by element: one optimiser for all models equals one per model.
    adam = torch.optim.Adam(parameters.values(), lr=rate, fused=True)
    last: list[Tensor] = []
    for step in range(steps):
        if step % _REPORT == 0:
            on_step(step)
        losses = train_loss(kind.make(parameters), lanes, step, BATCH)
        adam.zero_grad()
        losses.sum().backward()
        clip_(parameters)
        adam.step()
        if step >= steps - LAST:
            last.append(losses.detach())
    return {name: p.detach() for name, p in parameters.items()}, torch.stack(last).mean(0)


@functools.lru_cache(maxsize=8)
def untrained_errors(seeds: int) -> Errors:
    """The errors of LSTMs with their initial weights; the training error is that on short sequences."""
    kind, lanes = KINDS["LSTM"], Lanes(range(seeds))
    parameters = kind.initial(lanes.all_seeds())
    short, long = map(lanes.by_target, test_errors(kind, parameters, range(seeds)))
    return Errors(short, short, long)
