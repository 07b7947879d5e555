r"""G-NALU, the NALU with a golden-ratio base.

.. math:: W = \tanh_\phi(\hat W) \odot \sigma_\phi(\hat M), \qquad
          \sigma_\phi(x) = \frac{1}{1 + \phi^{-x}}, \qquad
          \tanh_\phi(x) = \frac{\phi^{2x} - 1}{\phi^{2x} + 1}, \qquad \phi = \frac{1 + \sqrt 5}{2}

and otherwise the NALU. Rana et al. 2019; thesis, equations 2.22-2.25. Since :math:`\phi^x = e^{x \ln \phi}`,
both functions are the usual ones of :math:`x \ln \phi`, and the product of equation 2.25 is that of the NALU.

Deviations: none in the equation. It is initialised like the NALU. `golden_gate=True` also changes the base of
the gate's logistic function, as one public version does.
"""

from __future__ import annotations

import math
from typing import Unpack

from nalm.units._options import Common
from nalm.units.nac_mul import EPSILON
from nalm.units.nalu import NALU

LOG_PHI = math.log((1 + math.sqrt(5)) / 2)


class GNALU(NALU):
    """NALU whose weight uses the golden ratio as base, for a smoother change between discrete values.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        shared: whether both paths use the same weight.
        epsilon: added to the magnitudes, so that their logarithm is finite.
        golden_gate: whether the gate's logistic function has the golden ratio as base too.

    Example:
        >>> unit = nalm.GNALU(3, 1)
        >>> unit.ideal_("add", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[7.]], grad_fn=<...>)
    """

    name = "gnalu"
    papers = ("rana2019", "mistry2023")

    log_base = LOG_PHI

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        shared: bool = True,
        epsilon: float = EPSILON,
        golden_gate: bool = False,
        **common: Unpack[Common],
    ) -> None:
        self.golden_gate = golden_gate
        self.gate_log_base = LOG_PHI if golden_gate else 1.0
        super().__init__(in_features, out_features, shared=shared, epsilon=epsilon, **common)

    def options_repr(self) -> str:
        """The options that differ from the original."""
        return super().options_repr() + (", golden_gate=True" if self.golden_gate else "")
