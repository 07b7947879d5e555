r"""sNMU, the stochastic Neural Multiplication Unit.

.. math:: m_o = \frac{\prod_i (n_i x_i W_{o,i} + 1 - W_{o,i})}{\prod_i (n_i W_{o,i} + 1 - W_{o,i})}, \qquad
          W \in [0, 1],\ n_i \sim U[a, b]

while training; in evaluation it is the NMU. Noise is drawn separately for each element of the input. Thesis,
section 4.2, equations 4.1-4.2; U[1, 5] in its section 4.4. With `noise="batch"` the range is U[1, 1 +
1/std(x)], with the standard deviation of the whole batch of each model.

Deviations: numerator and denominator are divided factor by factor, which gives the same result and does not
overflow with many inputs. With `noise="batch"`, the standard deviation is taken to be at least 1e-3, and has
no gradient. Penalty, clamp and recipe are the NMU's.
"""

from __future__ import annotations

from typing import Unpack

from torch import Tensor

from nalm.errors import ArgumentError, check_choice
from nalm.units._options import Common
from nalm.units._product import gated, product
from nalm.units.nmu import NMU

LEAST_DEVIATION = 1e-3
"""The smallest standard deviation: a batch of equal inputs would have infinite noise."""


def snmu(x: Tensor, weight: Tensor, noise: Tensor) -> Tensor:
    """Noisy product divided by its noise: x and noise `*batch x n x in`, weight `*batch x out x in`."""
    return product(lambda x, n, w: gated(n * x, w) / gated(n, w), (x, noise), (weight,))


class SNMU(NMU):
    """Stochastic NMU: trained on inputs scaled by noise, which is divided out of the output again.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        noise: "range" for U[low, high], or "batch" for U[1, 1 + 1/std(x)].
        low: lower end of the noise's range, above 0.
        high: upper end of the noise's range.

    Example:
        >>> unit = nalm.SNMU(3, 1).eval()
        >>> unit.ideal_("mul", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[10.]], grad_fn=<...>)
    """

    name = "snmu"
    papers = ("mistry2023",)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        noise: str = "range",
        low: float = 1.0,
        high: float = 5.0,
        **common: Unpack[Common],
    ) -> None:
        self.noise = check_choice("noise", noise, ("range", "batch"))
        for name, value in (("low", low), ("high", high)):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ArgumentError(name, "a number above 0", repr(value))
        if not 0 < low < float("inf"):
            hint = "Noise that touches zero cannot be divided out again."
            raise ArgumentError("low", "a number above 0", repr(low), hint)
        if not low < high < float("inf"):
            raise ArgumentError("high", f"a number above low = {low}", repr(high))
        self.low, self.high = float(low), float(high)
        super().__init__(in_features, out_features, **common)

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself; in evaluation the equation of the NMU."""
        if not self.training:
            return super().compute(x)
        return snmu(x, self.weight, self.draw_noise(x))

    def draw_noise(self, x: Tensor) -> Tensor:
        """A factor for each element of x."""
        u = self.draw(x.shape, x)
        if self.noise == "range":
            return self.low + (self.high - self.low) * u
        several = x.shape[-2] * x.shape[-1] > 1
        deviation = x.detach().std((-2, -1), correction=int(several), keepdim=True)
        return 1 + u / deviation.clamp(min=LEAST_DEVIATION)

    def options_repr(self) -> str:
        """The noise, if it is not U[1, 5]."""
        if self.noise == "batch":
            return ", noise='batch'"
        return "" if (self.low, self.high) == (1, 5) else f", low={self.low}, high={self.high}"
