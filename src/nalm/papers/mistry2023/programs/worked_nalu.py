"""The NALU's subtraction worked out step by step (thesis, appendix C.2): 2 - 3 of the inputs 2, 3, 4."""

from __future__ import annotations

import torch

from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.units import NALU
from nalm.units._functional import weighted_sum
from nalm.units.nac_mul import power_product

_INPUT = (2.0, 3.0, 4.0)
_FAR = 1e3
"""A raw number whose tanh and logistic function are 1 in float64."""
_RAW = {"w_hat": (_FAR, -_FAR, 0.0), "m_hat": (_FAR, _FAR, -_FAR), "gate": (_FAR, _FAR, _FAR)}
_NO_EPSILON = 1e-300
"""The example assumes epsilon = 0; the unit takes numbers above 0 only."""


def unit() -> NALU:
    """The NALU with the example's parameters."""
    made = NALU(3, 1, epsilon=_NO_EPSILON, dtype=torch.float64)
    with torch.no_grad():
        for name, raw in _RAW.items():
            getattr(made, name).copy_(torch.tensor([raw]))
    return made


@torch.no_grad()
def compute(scale: Scale) -> Measured:
    """Every intermediate result of the example."""
    made, x = unit(), torch.tensor([_INPUT], dtype=torch.float64)
    weight = made.weights()["W"]
    steps = {
        "1. tanh(W^)": torch.tanh(made.w_hat),
        "2. sigmoid(M^)": torch.sigmoid(made.m_hat),
        "3. W": weight,
        "4. NAC+": weighted_sum(x, weight),
        "5. NAC•": power_product(x, weight, made.epsilon),
        "6. gate": torch.sigmoid(weighted_sum(x, made.gate)),
        "7. output": made(x),
    }
    found: dict[Key, Finding] = {}
    for row, values in steps.items():
        for k, value in enumerate(values.flatten()):
            found[row, f"input {k + 1}" if values.numel() > 1 else "value", "value"] = exact(value)
    return Measured(Findings(found))
