"""A sum of two inputs times a sum of two others, with right and wrong weights (thesis, table 6.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nalm.papers.agreement import Finding
from nalm.papers.claims import Claim, Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.figures import COLOURS, row_of_panels
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.units import NAU, NMU

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INPUTS = {"i1": (1.0, 2.0, 3.0, 4.0), "i2": (1.11, 1.12, 1.13, 1.14)}
_RIGHT, _CLOSE, _WRONG = "selection ✓ weights ✓", "selection ✓ weights ✗", "selection ✗ weights ✗"
_FIRST_SUM = {
    _RIGHT: (0.0, 1.0, 1.0, 0.0),
    _CLOSE: (0.0, 0.9, 1.0, 0.0),
    _WRONG: (0.0, 0.0, 1.0, 0.9),
}
"""The weights of the first sum; those of the second are always right."""
_SECOND_SUM = (0.0, 0.0, 1.0, 1.0)


def output(case: str, inputs: tuple[float, ...]) -> Tensor:
    """The output of NAU and NMU, stacked, with the weights of a case."""
    add, multiply = NAU(4, 2, dtype=torch.float64), NMU(2, 1, dtype=torch.float64)
    with torch.no_grad():
        multiply.ideal_("mul")
        add.weight.copy_(torch.tensor([_FIRST_SUM[case], _SECOND_SUM], dtype=torch.float64))
        return multiply(add(torch.tensor([inputs], dtype=torch.float64))).squeeze()


def compute(scale: Scale) -> Measured:
    """Outputs and absolute errors of all cases for both inputs."""
    findings: dict[Key, Finding] = {}
    for case in _FIRST_SUM:
        for name, inputs in _INPUTS.items():
            value = output(case, inputs)
            findings[case, f"{name} out", "value"] = exact(value)
            findings[case, f"{name} AE", "value"] = exact((value - output(_RIGHT, inputs)).abs())
    return Measured(Findings(findings))


def _error(f: Findings, case: str, name: str) -> float:
    return f[case, f"{name} AE", "value"].value or 0.0


def _gap(f: Findings, name: str) -> float:
    return abs(_error(f, _WRONG, name) - _error(f, _CLOSE, name))


CLAIMS = (
    Claim("i2", "errors of both cases differ much less than those of i1",
          lambda f: _gap(f, "i2") < 0.1 * _gap(f, "i1")),
    Claim("i2", "the wrong selection has the lower error",
          lambda f: _error(f, _WRONG, "i2") < _error(f, _CLOSE, "i2")),
    Claim("i1", "the wrong selection has the higher error",
          lambda f: _error(f, _WRONG, "i1") > _error(f, _CLOSE, "i1")),
)  # fmt: skip


def draw(measured: Measured, figure: Figure) -> None:
    """The error of each case, one panel per input."""
    for axis, (name, inputs) in zip(row_of_panels(figure, len(_INPUTS), 4.2, 3.2), _INPUTS.items()):
        errors = [_error(measured.findings, case, name) for case in _FIRST_SUM]
        bars = axis.bar(range(len(errors)), errors, color=COLOURS[: len(errors)], width=0.6)
        axis.bar_label(bars, fmt="%.5g", padding=2)
        axis.set_xticks(range(len(errors)), [case.replace(" weights", "\nweights") for case in _FIRST_SUM])
        axis.set(title=f"{name} = {list(inputs)}", ylabel="absolute error")
        axis.margins(y=0.15)
