r"""How the iNALU's authors train (Schlör, Ring, Hotho 2020, sections 3.3 and 4; their public program).

An epoch is one pass, in a fixed order, over 64,000 fixed samples in batches of 64. Of every ten batches eight
train :math:`\hat W` and :math:`\hat M` and two train G, by RMSProp on the mean squared error with every
element of the gradient clipped to [-0.1, 0.1].

- After epoch 10, a batch with an error below 1 is followed by two steps on the regulariser alone,
  :math:`0.05 \sum_v \mathrm{mean} \max(20 - |v|, 0)`: one of :math:`\hat W, \hat M`, then one of G.
- In every tenth epoch, all variables are drawn again from U(-2, 2) if three conditions hold: more than 10,000
  errors were recorded since the start or the last reinitialisation, the mean of their first half is at most
  mean + standard deviation of the second half, and the mean of the second half is above 1. The optimiser's
  state stays.

Deviations: where the regulariser takes steps, the authors record the error after the first of them; here the
error that the batch was trained on is recorded. Such errors are below 1, and only means above 1 reinitialise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.engine.program import Program
from nalm.papers.schloer2020.programs.layers import LayerKind, Tensors
from nalm.streams import Purpose, counters, key, normal, uniform
from nalm.threads import one_thread

_RATE, _DECAY, _EPSILON = 0.01, 0.9, 1e-10
_CLIP = 0.1
_PENALTY, _SATURATED = 0.05, 20.0
_MEANS = {"w": 1.0, "m": -1.0, "g": 0.0}
_DEVIATION = 0.1
_CYCLE, _OF_WEIGHTS = 10, 8
"""Batches in a cycle, and how many of them train the weights; the others train the gates."""
_TENTH = 10
"""In every tenth epoch models may be reinitialised; after epoch 10 they are regularised."""


@dataclass(frozen=True)
class EpochPlan:
    """How long to train: epochs, samples in each, and samples in a batch."""

    epochs: int = 100
    samples: int = 64_000
    batch: int = 64

    @property
    def steps(self) -> int:
        """Batches of an epoch."""
        return self.samples // self.batch


@dataclass(frozen=True)
class Data:
    """Fixed samples.

    Attributes:
        x: inputs, `batches x datasets x 1 x in x samples`.
        y: targets, `batches x datasets x tasks x samples`.
        seed: of each dataset.
        place: a number that distinguishes datasets of the same seed.
    """

    x: Tensor
    y: Tensor
    seed: Tensor
    place: Tensor


def train(
    kind: LayerKind,
    sizes: tuple[int, ...],
    data: Data,
    plan: EpochPlan,
    *,
    compiled: bool = True,
    on_progress: Callable[[int, int], None] = lambda epoch, epochs: None,
) -> Tensors:
    """Train one model per dataset and task; return the variables by name."""
    shapes = kind.shapes(sizes)
    state = initial_state(shapes, data)
    program = Program(
        make_step(kind, shapes),
        state,
        {"x": data.x[0], "y": data.y[0]},
        {"weights": torch.tensor(True), "late": torch.tensor(False)},
        compiled=compiled,
    )
    past = Past(plan, state["error"].shape)
    with one_thread():
        for epoch in range(plan.epochs):
            late = torch.tensor(epoch > _TENTH)
            for batch in range(plan.steps):
                weights = torch.tensor(batch % _CYCLE < _OF_WEIGHTS)
                inputs = {"x": data.x[batch], "y": data.y[batch], "weights": weights, "late": late}
                state = program.repeat(state, inputs, 1)
                past.note(state["error"])
                if epoch and epoch % _TENTH == 0 and (again := past.stuck()).any():
                    state |= {
                        name: _redrawn(name, k, state, again, data, past) for k, name in enumerate(shapes)
                    }
                    past.forget(again)
            on_progress(epoch + 1, plan.epochs)
    return {name: state[name].detach() for name in shapes}


def initial_state(shapes: dict[str, tuple[int, int]], data: Data) -> Tensors:
    """Variables, normal around the means that the authors found best; mean squares of 1; errors of 0."""
    tasks = data.y.shape[2]
    state: Tensors = {}
    for part, (name, shape) in enumerate(shapes.items()):
        noise = normal(key(data.seed, Purpose.INIT, data.place, part), counters(tasks, *shape))
        state[name] = _MEANS[name[0]] + _DEVIATION * noise
        state[f"square {name}"] = torch.ones_like(noise)
    state["error"] = torch.zeros(len(data.seed), tasks)
    return state


def make_step(kind: LayerKind, shapes: dict[str, tuple[int, int]]) -> Callable[[Tensors, Tensors], Tensors]:
    """One batch: a step on the error, then the steps on the regulariser where they are due."""

    def step(state: Tensors, inputs: Tensors) -> Tensors:
        variables = {name: state[name].detach().requires_grad_() for name in shapes}
        residual = kind.forward(variables, inputs["x"])[:, :, 0] - inputs["y"]
        error = residual.square().mean(-1)
        slopes = torch.autograd.grad(error.sum(), list(variables.values()))
        error, regular = error.detach(), inputs["late"] & (error.detach() < 1)
        after = {"error": error}
        for name, slope in zip(variables, slopes):
            turn = inputs["weights"] if name[0] != "g" else ~inputs["weights"]
            value, square = rmsprop(state[name], state[f"square {name}"], slope, turn)
            # The regulariser treats gates and weights separately: the order of its two steps does not matter.
            due = regular[..., None, None]
            after[name], after[f"square {name}"] = rmsprop(value, square, penalty_slope(value), due)
        return after

    return step


def rmsprop(value: Tensor, square: Tensor, slope: Tensor, where: Tensor) -> tuple[Tensor, Tensor]:
    """A step of RMSProp on the clipped gradient where `where` is true: the new value and mean square."""
    slope = slope.clamp(-_CLIP, _CLIP)
    new_square = _DECAY * square + (1 - _DECAY) * slope.square()
    new_value = value - _RATE * slope / torch.sqrt(new_square + _EPSILON)
    return torch.where(where, new_value, value), torch.where(where, new_square, square)


def penalty_slope(value: Tensor) -> Tensor:
    """The gradient of the regulariser, which drives values away from 0 up to 20, averaged over elements."""
    size = value.shape[-1] * value.shape[-2]
    return -_PENALTY / size * value.sign() * (value.abs() < _SATURATED)


class Past:
    """The errors of every model since its start or last reinitialisation, as cumulative sums.

    Attributes:
        step: number of errors recorded.
    """

    def __init__(self, plan: EpochPlan, models: torch.Size) -> None:
        self.step = 0
        self._least = _TENTH * plan.steps
        self._start = torch.zeros(models, dtype=torch.int64)
        self._sums = torch.zeros(plan.epochs * plan.steps + 1, 2, *models, dtype=torch.float64)

    def note(self, error: Tensor) -> None:
        """Record one more error of each model."""
        error = error.double()
        torch.add(self._sums[self.step], torch.stack([error, error.square()]), out=self._sums[self.step + 1])
        self.step += 1

    def stuck(self) -> Tensor:
        """Which models are to be reinitialised, by the rule in the module's docstring."""
        count = self.step - self._start
        middle = self._start + count // 2
        before, between, now = self._at(self._start), self._at(middle), self._sums[self.step]
        first = (between - before)[0] / (middle - self._start)
        second, squares = (now - between) / (self.step - middle)
        deviation = (squares - second.square()).clamp(min=0).sqrt()
        return (count > self._least) & (first <= second + deviation) & (second > 1)

    def forget(self, which: Tensor) -> None:
        """Forget the errors of these models so far."""
        self._start = torch.where(which, self.step, self._start)

    def _at(self, step: Tensor) -> Tensor:
        """The sums up to `step`, which differs between models: `2 x models`."""
        index = step.expand(1, 2, *step.shape)
        return self._sums.gather(0, index)[0]


def _redrawn(name: str, part: int, state: Tensors, again: Tensor, data: Data, past: Past) -> Tensor:
    """A variable, drawn again from U(-2, 2) in the models that `again` selects."""
    old = state[name]
    # One stream per dataset and step: no two reinitialisations of a run are alike.
    stream = key(data.seed, Purpose.REINIT, data.place + 64 * past.step, part)
    return torch.where(again[..., None, None], 4 * uniform(stream, counters(*old.shape[1:])) - 2, old)


def errors(kind: LayerKind, variables: Tensors, data: Data) -> Tensor:
    """The mean squared error of every model over all samples: `datasets x tasks`.

    One dataset at a time: side by side, a model's last digits would depend on its position.
    """
    found = []
    with torch.no_grad(), one_thread():
        for k in range(len(data.seed)):
            own = {name: value[k : k + 1] for name, value in variables.items()}
            x, y = (part[:, k].movedim(0, -2).flatten(-2)[None] for part in (data.x, data.y))
            found.append((kind.forward(own, x)[:, :, 0] - y).double().square().mean(-1))
    return torch.cat(found)
