"""The gradients that the thesis prints in appendix H, beside those of automatic differentiation.

A NAU followed by an NMU or an sNMU, squared error, one sample. The weights of the thesis are W^A of `in x
out` and W^M of `in x 1`; ours are stored the other way round. As many values between the units as inputs, so
that an index of the inputs is one of the values between, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from nalm.papers.madsen2020.programs.printed_gradients import Pair
from nalm.units.nau import nau
from nalm.units.nmu import nmu
from nalm.units.nru import NRU
from nalm.units.snmu import snmu

_SIZE = 3


def _parts(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """An input, its target, weights of both units, and noise from U[1, 5]."""
    random = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=random, dtype=torch.float64)

    add, multiply = 2 * drawn(_SIZE, _SIZE) - 1, drawn(1, _SIZE)
    return (
        1 + drawn(1, _SIZE),
        drawn(1, 1),
        add.requires_grad_(),
        multiply.requires_grad_(),
        1 + 4 * drawn(1, _SIZE),
    )


def _without(factors: Tensor) -> Tensor:
    """The product of all factors but one, for each of them."""
    kept = 1 - torch.eye(_SIZE, dtype=factors.dtype)
    return (factors * kept + (1 - kept)).prod(-1)


def of_nmu(unit: str) -> Pair:
    """Appendix H.3: the gradients of the loss of a NAU and an NMU."""
    x, y, a, m, _ = _parts()
    prediction = nmu(nau(x, a), m)
    (ours,) = torch.autograd.grad((y - prediction).square().sum(), a if unit == "NAU" else m)
    with torch.no_grad():
        z = nau(x, a)
        start = -2 * (y - prediction) * _without(m * z + 1 - m)
        printed = (start * m).mT * x if unit == "NAU" else start * (z - 1)
    return printed, ours


def of_snmu(unit: str, *, corrected: bool = True) -> Pair:
    """Appendix H.4: the gradients of the loss of a NAU and an sNMU.

    The gradient of the NAU's weight (i, l) is printed with the sNMU's weight and noise of the input i. The
    corrected one has those of the value l, which the weight leads to.
    """
    x, y, a, m, noise = _parts()
    prediction = snmu(nau(x, a), m, noise)
    (ours,) = torch.autograd.grad((y - prediction).square().sum(), a if unit == "NAU" else m)
    with torch.no_grad():
        z = nau(x, a)
        others = _without(noise * m * z + 1 - m)
        whole = (noise * m + 1 - m).prod()
        residual = -2 * (y - prediction)
        if unit == "NAU":
            scale = residual * others / whole
            printed = (scale * m * noise).mT * x if corrected else scale.mT * (m * noise * x)
        else:
            inner = whole * (noise * z - 1)
            inner = inner - (m * noise * z + 1 - m) * (noise - 1) * _without(noise * m + 1 - m)
            printed = residual * others / whole**2 * inner
    return printed, ours


def of_nru() -> Pair:
    """Equation 5.3: the gradient of the output of an NRU, with small weights, where tanh is not saturated."""
    random = torch.Generator().manual_seed(0)
    unit = NRU(_SIZE, 1, dtype=torch.float64).train()
    x = torch.tensor([[0.5, -1.5, 2.0]], dtype=torch.float64)
    with torch.no_grad():
        unit.weight.copy_(2e-3 * torch.rand(1, _SIZE, generator=random, dtype=torch.float64) - 1e-3)
    (ours,) = torch.autograd.grad(unit(x).sum(), unit.weight)
    with torch.no_grad():
        w = unit.weight
        tanh = torch.tanh(1000 * w)
        steep, power = 2000 / torch.cosh(1000 * w) ** 2, x.sign() * x.abs() ** w
        others = _without(power * tanh**2 + 1 - tanh**2)
        printed = tanh * (power * (tanh * torch.log(x.abs()) + steep) - steep) * others
    return printed, ours


PAIRS: Mapping[tuple[str, str], Callable[[], Pair]] = {
    ("NRU", "equation 5.3, W"): of_nru,
    ("NAU-NMU", "H.3, W of the NAU"): lambda: of_nmu("NAU"),
    ("NAU-NMU", "H.3, W of the NMU"): lambda: of_nmu("NMU"),
    ("NAU-sNMU", "H.4, W of the NAU, as printed"): lambda: of_snmu("NAU", corrected=False),
    ("NAU-sNMU", "H.4, W of the NAU, corrected"): lambda: of_snmu("NAU"),
    ("NAU-sNMU", "H.4, W of the sNMU"): lambda: of_snmu("sNMU"),
}
