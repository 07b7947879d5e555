r"""An NMU between learnt scales of its inputs and its output (thesis, table 6.1).

.. math:: \hat X = \frac{2 (X - \bar X)}{\max X - \min X} \odot w^{in} + b^{in}, \quad z = NMU(\hat X), \quad
          \hat y = (z w^{out} + b^{out}) \frac{\max y - \min y}{2}

Thesis, equation 6.1. The thesis does not give its batch: here it has 128 samples of x1 from U[0.6, 3.7) and
x2 from U[1.9, 9.5), whose mean and extent are like the thesis's. Nor does it give the optimiser: here it is
L-BFGS, starting from scales of 1, offsets of 0 and NMU weights drawn by the seed.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.evaluate.intervals import median_interval
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.models import GivenModel
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget
from nalm.papers.claims import Check, Claim, Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.figures import COLOURS, MARKERS
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import found
from nalm.papers.shared.networks import final_model
from nalm.papers.shared.own_trainer import Ended, OwnOptimiser, last_step
from nalm.recipes import Recipe
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import Task
from nalm.threads import one_thread
from nalm.trained import Options, RunGroup, StepsDone, Trained
from nalm.training.trainers import Trainer
from nalm.units import NMU

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIXED, LEARNT = "Fixed NMU", "Learnt NMU"
_SEEDS, _SAMPLES, _ROUNDS = 10, 128, 400
_LOW, _HIGH = (0.6, 1.9), (3.7, 9.5)
_TERMS = ("x1 x2", "x1", "x2", "1")


def batch(samples: int = _SAMPLES) -> tuple[Tensor, Tensor]:
    """Two inputs and their product."""
    stream = key(torch.zeros(1, dtype=torch.int32), Purpose.DATA, 0)
    low, high = (torch.tensor(end, dtype=torch.float64) for end in (_LOW, _HIGH))
    x = low + (high - low) * uniform(stream, counters(2 * samples), torch.float64).reshape(samples, 2)
    return x, x.prod(-1, keepdim=True)


class MinMaxScaled(nn.Module):
    """An NMU whose inputs are scaled by their extent, and whose output is scaled by that of the targets."""

    centre: Tensor
    extent: Tensor
    half_extent: Tensor

    def __init__(self, x: Tensor, y: Tensor, fixed: bool) -> None:
        super().__init__()
        self.register_buffer("centre", x.mean(0))
        self.register_buffer("extent", 2 / (x.amax(0) - x.amin(0)))
        self.register_buffer("half_extent", (y.max() - y.min()) / 2)
        self.w_in = nn.Parameter(torch.ones(2, dtype=x.dtype))
        self.b_in = nn.Parameter(torch.zeros(2, dtype=x.dtype))
        self.w_out = nn.Parameter(torch.ones((), dtype=x.dtype))
        self.b_out = nn.Parameter(torch.zeros((), dtype=x.dtype))
        self.nmu = NMU(2, 1, dtype=x.dtype)
        if fixed:
            self.nmu.ideal_("mul")
            self.nmu.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        """The equation."""
        z = self.nmu((x - self.centre) * self.extent * self.w_in + self.b_in)
        return (z * self.w_out + self.b_out) * self.half_extent

    @torch.no_grad()
    def terms(self) -> Tensor:
        """The coefficients of x1 x2, x1, x2 and 1 in its output, from the corners of the unit square."""
        corners = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=self.w_in.dtype)
        none, second, first, both = self(corners).flatten()
        return torch.stack([both - first - second + none, first - none, second - none, none])


def fit(model: MinMaxScaled, seed: int, rounds: int = _ROUNDS) -> tuple[MinMaxScaled, Tensor]:
    """A copy of the model, trained on the one batch, and its error; each round ends with the NMU's clamp."""
    (x, y), model = batch(), copy.deepcopy(model)
    if model.nmu.weight.requires_grad:
        model.nmu.reset_parameters(torch.Generator().manual_seed(seed))
    learnt = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.LBFGS(
        learnt, max_iter=20, line_search_fn="strong_wolfe", tolerance_grad=0, tolerance_change=0
    )

    def loss() -> Tensor:
        optimiser.zero_grad()
        error = (model(x) - y).square().mean()
        error.backward()
        return error

    for _ in range(rounds):
        if optimiser.step(loss).detach() < 1e-24:
            break
        model.nmu.project_()
    return model, loss().detach()


@dataclass(frozen=True)
class OneBatch(Task):
    """The product of two inputs, trained and tested on one batch."""

    name = "mistry2023-one-batch"
    in_features = 2
    dtype = torch.float64

    def shape(self) -> Hashable:
        """There is one such task."""
        return (type(self),)

    def identity(self) -> dict[str, Any]:
        """The batch."""
        drawn = {"samples": _SAMPLES, "low": list(_LOW), "high": list(_HIGH)}
        return {"name": self.name, "inputs": 2, "outputs": 1, **drawn}

    def labels(self) -> dict[str, str | int]:
        """The function."""
        return {"function": "x1 x2"}


@dataclass(frozen=True)
class LBFGS(OwnOptimiser):
    """Rounds of twenty steps of L-BFGS."""

    learning_rate: float = 1.0

    trainer: ClassVar[str] = "nalm.papers.mistry2023.programs.learnt_scales:OneByOne"
    work: ClassVar[int] = 20


class OneByOne(Trainer):
    """Fits one model after the other."""

    name, chunk = LBFGS.trainer, _SEEDS
    SECONDS_PER_ROUND: ClassVar[float] = 0.02

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Fit a copy of the model for every seed."""
        began, fitted = time.perf_counter(), []
        assert isinstance(runs.model, MinMaxScaled)
        for seed in runs.seeds:
            with torch.inference_mode(False), torch.enable_grad(), one_thread():
                fitted.append(fit(runs.model, seed, options.iterations))
            if options.on_progress is not None:
                done, total = (options.iterations * count for count in (len(fitted), len(runs)))
                options.on_progress(StepsDone(done, total, time.perf_counter() - began))
        held = [dict(model.named_parameters()) for model, _ in fitted]
        parameters = {name: torch.stack([each[name].detach() for each in held]) for name in held[0]}
        error = torch.stack([error for _, error in fitted])
        return last_step(runs, options, Ended(parameters, error, error), time.perf_counter() - began)

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """Roughly how long these runs take on one core."""
        return runs * recipe.iterations * self.SECONDS_PER_ROUND


def _numbers(model: MinMaxScaled) -> dict[str, Tensor]:
    named = {"w_in": model.w_in, "b_in": model.b_in, "NMU weight": model.nmu.weight.flatten()}
    pairs = {f"{name} {k + 1}": value[k] for name, value in named.items() for k in range(2)}
    terms = {f"factor of {name}": value for name, value in zip(_TERMS, model.terms())}
    return {**pairs, "w_out": model.w_out, "b_out": model.b_out, **terms}


def _scaled(fixed: bool, inputs: int, outputs: int) -> MinMaxScaled:
    return MinMaxScaled(*batch(), fixed)


def _budget(scale: Scale) -> Budget:
    return Budget(scale, _SEEDS, quick_seeds=_SEEDS)


def case(row: str, scale: Scale) -> Case:
    """A model on the batch."""
    recipe = Recipe(
        optimiser=LBFGS(), clamps=(), batch_size=_SAMPLES, iterations=_budget(scale).steps(_ROUNDS)
    )
    model = GivenModel(f"mistry2023-table6.1:{row}", partial(_scaled, row == FIXED))
    return Case(model, OneBatch(), other_recipe=recipe)


def plan(scale: Scale) -> list[Experiment]:
    """Both models; the fixed one draws nothing, so it has one seed."""
    tries = {FIXED: 1, LEARNT: _budget(scale).seeds}
    return [Experiment("mistry2023:table6.1", (case(row, scale),), count) for row, count in tries.items()]


def compute(scale: Scale, records: Records) -> Measured:
    """What both models learn: medians over seeds."""
    findings: dict[Key, Finding] = {}
    for row in (FIXED, LEARNT):
        trained = case(row, scale)
        models = [final_model(trained, record) for record in records[trained]]
        learnt = [_numbers(model) for model in models if isinstance(model, MinMaxScaled)]
        for name in learnt[0]:
            values = [each[name].item() for each in learnt]
            findings[row, name, "value"] = found(median_interval(values), len(values))
            findings[row, name, "lowest"] = Finding(min(values), None, None, len(values))
            findings[row, name, "highest"] = Finding(max(values), None, None, len(values))
    budget = _budget(scale)
    return Measured(Findings(findings), budget.fewer_seeds() + budget.fewer_steps(_ROUNDS, "rounds"))


def within(row: str, column: str, low: float, high: float) -> Check:
    """The values of all seeds are between `low` and `high`."""
    return lambda f: (
        low <= (f[row, column, "lowest"].value or 0.0) and (f[row, column, "highest"].value or 0.0) <= high
    )


def _multiplies(row: str) -> Check:
    def check(f: Findings) -> bool:
        others = all(within(row, f"factor of {term}", -1e-5, 1e-5)(f) for term in _TERMS[1:])
        return others and bool(within(row, "factor of x1 x2", 1 - 1e-5, 1 + 1e-5)(f))

    return check


CLAIMS = (
    *(Claim(row, "learns x1 x2", _multiplies(row)) for row in (FIXED, LEARNT)),
    Claim(LEARNT, "its NMU weights are not (1, 1)",
          lambda f: any(within(LEARNT, f"NMU weight {k}", 0, 0.99)(f) for k in (1, 2))),
    Claim(LEARNT, "its NMU weights would round to (0, 0)",
          lambda f: all(within(LEARNT, f"NMU weight {k}", 0, 0.5)(f) for k in (1, 2))),
    *(Claim(row, "the offset of the output is nothing", within(row, "b_out", -1e-6, 1e-6))
      for row in (FIXED, LEARNT)),
)  # fmt: skip


def draw(measured: Measured, figure: Figure) -> None:
    """Everything that is learnt, the fixed next to the learnt NMU, with intervals over seeds."""
    names = measured.findings.columns(FIXED, "value")
    figure.set_size_inches(7.4, 3.8)
    axis = figure.subplots()
    for k, row in enumerate((FIXED, LEARNT)):
        cells = [measured.findings[row, name, "value"] for name in names]
        middle = [cell.value or 0.0 for cell in cells]
        low = [value - (cell.low or 0.0) for value, cell in zip(middle, cells)]
        high = [(cell.high or 0.0) - value for value, cell in zip(middle, cells)]
        places = [place + 0.3 * (k - 0.5) for place in range(len(names))]
        axis.errorbar(
            places, middle, yerr=[low, high], fmt=MARKERS[k], color=COLOURS[k], capsize=2, label=row
        )
    axis.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axis.set_ylabel("value")
    axis.grid(axis="y", alpha=0.3)
    axis.legend(frameon=False)
