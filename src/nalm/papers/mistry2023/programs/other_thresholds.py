"""Other thresholds of success than the thesis's (section 3.3.1.1), computed on its ranges.

The threshold is the error of a model whose features are all off by epsilon (section 3.3.1). The section names
three things that could be changed: the model, such as a NALU in log space; the metric, such as PCC or MAPE;
and epsilon. It asks that a threshold depend on task and range, whatever is changed.

Where the section is silent: in log space the weights of both operands are 1 - epsilon in size; sums have no
logarithms, so that the model is the same. Thresholds other than those of the mean squared error are means
over 10,000 samples of the test range.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from nalm.papers.agreement import Finding
from nalm.papers.claims import Check, Claim, Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.recipes.losses import MAPE, PCC, Loss
from nalm.recipes.schedules import StepState
from nalm.tasks import OPERATIONS, RANGE_SETS, SingleModule, Split
from nalm.tasks.sampling import sample
from nalm.units.nac_mul import power_product

EPSILON = 1e-5
_ROWS = 10_000
_PLAIN, _LOG, _MAPE, _PCC = "MSE, ε = 1e-5", "log space", "MAPE", "PCC"
_EPSILONS = {"MSE, ε = 1e-6": 1e-6, _PLAIN: EPSILON, "MSE, ε = 1e-4": 1e-4}
_LOSSES: dict[str, Loss] = {_MAPE: MAPE(), _PCC: PCC(epsilon=1e-30)}
_ROUNDING = 1e-13
"""What rounding leaves of a threshold of 0."""


def close_prediction(op: str, x: Tensor) -> Tensor:
    """What the epsilon-perfect model of section 3.3.1 predicts for two inputs, `n x 1`."""
    first, second = x[:, :1], x[:, 1:]
    off = EPSILON * (first.abs() + second.abs())
    if op == "mul":
        return first * second * (1 - EPSILON) ** 2
    if op == "div":
        return first * (1 - EPSILON) / (second * (1 + EPSILON))
    return (first + second if op == "add" else first - second) - off


def log_prediction(op: str, x: Tensor) -> Tensor:
    """The same of a model in log space, with the sign of the product: `n x 1`."""
    if op in ("add", "sub"):
        return close_prediction(op, x)
    sign = x.sign().prod(-1, keepdim=True)
    weight = torch.tensor([[1.0, 1.0 if op == "mul" else -1.0]], dtype=x.dtype) * (1 - EPSILON)
    return sign * power_product(x, weight, 1e-300)


def thresholds(op: str, range_: str) -> dict[str, float]:
    """All thresholds of an operation on the test range of a training range."""
    task = SingleModule(op, range_)
    x, y = sample(task, 0, Split.TEST, _ROWS)
    start = StepState(torch.zeros(1), torch.zeros(1))
    found = {row: task.threshold(epsilon=epsilon) or 0.0 for row, epsilon in _EPSILONS.items()}
    found[_LOG] = float((log_prediction(op, x) - y).square().mean())
    for row, loss in _LOSSES.items():
        found[row] = float(loss(close_prediction(op, x)[None], y[None], start))
    return found


def compute(scale: Scale) -> Measured:
    """The least and the largest threshold over the nine ranges, for each operation."""
    found: dict[Key, Finding] = {}
    for op in OPERATIONS:
        all_ranges = [thresholds(op, range_) for range_ in RANGE_SETS["uniform"]]
        for row in all_ranges[0]:
            values = [each[row] for each in all_ranges]
            found[row, f"{op}, least", "threshold"] = exact(min(values))
            found[row, f"{op}, largest", "threshold"] = exact(max(values))
    return Measured(Findings(found))


def _ends(f: Findings, row: str, op: str) -> tuple[float, float]:
    least, largest = (f[row, f"{op}, {end}", "threshold"].value or 0.0 for end in ("least", "largest"))
    return least, largest


def _differ(one: float, other: float) -> bool:
    """By more than a tenth, and by more than rounding."""
    return abs(one - other) > max(_ROUNDING, 0.1 * max(one, other))


def depends_on_range(row: str, *ops: str) -> Check:
    """Whether the ranges have different thresholds, for each of these operations."""
    return lambda f: all(_differ(*_ends(f, row, op)) for op in ops)


def depends_on_task(row: str) -> Check:
    """Whether operations have different thresholds; those of sums and differences are equal."""
    pairs = list(itertools.combinations(("add", "mul", "div"), 2))
    return lambda f: all(any(map(_differ, _ends(f, row, one), _ends(f, row, other))) for one, other in pairs)


def _more_tolerant(f: Findings) -> bool:
    return all(
        small < large
        for op in OPERATIONS
        for one, other in itertools.pairwise(_EPSILONS)
        for small, large in zip(_ends(f, one, op), _ends(f, other, op))
    )


CLAIMS = (
    Claim("epsilon", "a larger one is more tolerant, a smaller one tighter", _more_tolerant),
    *(Claim(row, "depends on the range", depends_on_range(row, *OPERATIONS)) for row in (_PLAIN, _LOG)),
    *(
        Claim(row, f"depends on the range ({op}), as a valid metric should", depends_on_range(row, op))
        for row in (_MAPE, _PCC)
        for op in ("mul", "div")
    ),
    *(Claim(row, "depends on the task", depends_on_task(row)) for row in (_PLAIN, _LOG)),
)
