r"""Thesis, appendix D.1, and primer, section 6.3: the equations of an epidemic by a stack of NPU and NAU.

The texts name the experiment of Heim et al. 2020 without details; the plain SIR model, its settings and the
noise are ours (see `nalm.tasks.Epidemic`). A run is judged by what its rates of change are made of: over
states of every kind, they are written as :math:`a S I + b I` by least squares. Its error is the largest of
the errors of the six coefficients, relative to :math:`\beta` and :math:`\gamma`, and of the share of the
rates that both terms leave unexplained. It succeeds if that is at most 1 %.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median, share
from nalm.papers.shared.networks import chosen_model
from nalm.tasks import Epidemic
from nalm.tasks.epidemic import NOISES, OFF, SYSTEMS

ROWS = {
    "NPU": "npu+nau(clamp=false)",
    "Real NPU": "realnpu+nau(clamp=false)",
    "Real NPU, second order": "realnpu+nau@second-order",
}
ERROR = "coefficient error"
SEEDS, QUICK_SEEDS, HIDDEN = 10, 5, 4


def states() -> np.ndarray:
    """States of every kind, `points x 3`: shares in steps of 0.05 that sum to 1."""
    steps = np.arange(1, 19) / 20
    pairs = [(s, i) for s in steps for i in steps if s + i < 0.99]
    return np.array([(s, i, 1 - s - i) for s, i in pairs])


def coefficient_error(rates: nn.Module) -> float:
    """The largest error of the coefficients of S I and of I, and of what both leave; see the module."""
    x = states()
    terms = np.stack([x[:, 0] * x[:, 1], x[:, 1]], -1)
    with torch.no_grad():
        found = rates.double()(torch.from_numpy(x)).numpy()
    if not np.isfinite(found).all():
        return float("inf")
    fitted = np.linalg.lstsq(terms, found, rcond=None)[0]
    true = np.linalg.lstsq(terms, SYSTEMS["sir"].rates(x, 1.0), rcond=None)[0]
    off = np.abs(fitted - true) / np.abs(true).max(1, keepdims=True)
    left = np.linalg.norm(found - terms @ fitted) / max(np.linalg.norm(found), np.finfo(float).tiny)
    return float(max(off.max(), left))


def _budget(scale: Scale) -> Budget:
    return Budget(scale, SEEDS, QUICK_SEEDS)


def cases(scale: Scale) -> dict[tuple[str, str], Case]:
    """The models of the rows that the scale asks for, with each noise."""
    wanted = {row: ModelSpec.parse(ROWS[row]) for row in chosen_rows(scale, ROWS)}
    steps = _budget(scale).steps(Epidemic.steps)
    return {
        (row, f"noise {noise} %"): Case(
            model,
            Epidemic("sir", noise),
            None if model.recipe == "second-order" or steps == Epidemic.steps else steps,
            hidden=HIDDEN,
        )
        for row, model in wanted.items()
        for noise in NOISES
    }


def plan(scale: Scale) -> list[Experiment]:
    """Every model with every noise."""
    return [Experiment("mistry2023:appendixD.1", tuple(cases(scale).values()), _budget(scale).seeds)]


def compute(scale: Scale, records: Records) -> Measured:
    """How many runs have both terms within 1 %, and how far off they are."""
    found: dict[Key, Finding] = {}
    for (row, column), case in cases(scale).items():
        models = [chosen_model(case, record) for record in records[case]]
        errors = [coefficient_error(_rates(model)) for model in models]
        found[row, column, "success"] = share([error <= OFF for error in errors])
        found[row, column, ERROR] = median(errors)
    return Measured(Findings(found), _budget(scale).reduced())


def _rates(model: nn.Module) -> nn.Module:
    """The unit inside the solver."""
    inside = model.get_submodule("unit")
    assert isinstance(inside, nn.Module)
    return inside
