r"""Two units of the same inputs with a gate between them that does not depend on the input.

.. math:: y_o = \sigma(g_o)\, m_{1,o}(x) + (1 - \sigma(g_o))\, m_{2,o}(x)

Thesis, section 7.2.4, with the gate of the iNALU (Schlör et al. 2020; thesis, equations 2.11 and 2.12). A
stack of two such layers is written `gated(units=nau|nmu)+gated(units=nau|nmu)`.

Deviations: the section writes g without an index. There is one gate per output here, as in the iNALU that it
refers to; table 7.4 shows that it was so there too: the first layer of its sub-sub model has ab and
a - 0.5b + c among its outputs. The initial gate is not stated; it is the iNALU's in the thesis's benchmark,
normal with deviation 0.2 around 0. The gate has no penalty (`nalm.models.composition_recipe`).
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.models.composite import Composite, part_classes
from nalm.units._options import Common
from nalm.units._symbolic import number
from nalm.units.inac import INITIAL
from nalm.units.nac import SATURATED


def gated(gate: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Gated sum: gate `*batch x out`, both others `*batch x n x out`."""
    g = gate[..., None, :]
    return g * first + (1 - g) * second


class GatedPair(Composite):
    """Two units and a learnt gate per output that chooses between them.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        units: the names of both units; an open gate is the first.

    Example:
        >>> from nalm.models import GatedPair
        >>> pair = GatedPair(3, 1, units="nau|nmu")
        >>> pair.ideal_("mul", 0, 2)
        >>> pair(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[10.]], grad_fn=<...>)
    """

    name = "gated"
    papers = ("mistry2023", "schloer2020")

    gate: Tensor

    def __init__(
        self, in_features: int, out_features: int, *, units: str = "nau|nmu", **common: Unpack[Common]
    ) -> None:
        part_classes(units, 2)
        self.units = units
        super().__init__(in_features, out_features, **common)
        self.limit_ops()

    def build(self) -> None:
        """Declare the gate and make both units."""
        self.declare("gate", (self.out_features,), INITIAL["benchmark"]["gate"])
        for k, kind in enumerate(part_classes(self.units, 2)):
            self.add_part(f"m{k + 1}", kind, self.in_features, self.out_features)

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        first, second = (part(x) for part in self.parts.values())
        return gated(torch.sigmoid(self.gate), first, second)

    def gates(self) -> dict[str, Tensor]:
        """1 where an output is that of the first unit, 0 where it is that of the second."""
        return {"g": torch.sigmoid(self.gate)}

    def decides(self, name: str) -> Tensor:
        """The outputs whose gate is open for this part."""
        return self.gate > 0 if name == "m1" else self.gate <= 0

    @torch.no_grad()
    def snap_(self) -> None:
        """Round the gates to {0, 1}, and the weights of both units."""
        super().snap_()
        self.gate.copy_(torch.where(self.gate > 0, SATURATED, -SATURATED))

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """The ideal weights of the first unit that can express it, with the gate open for that unit."""
        name = self.able_part(op)
        for part in self.parts.values():
            part.snap_()
        self.parts[name].set_ideal_(op, i, j)
        self.gate.fill_(SATURATED if name == "m1" else -SATURATED)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The gated sum for each output; if idealised, only the unit that the gate chooses."""
        first, second = (self.part_symbolic(name, values, symbols, idealised) for name in self.parts)
        gates = torch.sigmoid(torch.from_numpy(np.asarray(values["gate"]))).numpy()
        if idealised:
            return [a if g > 0.5 else b for g, a, b in zip(gates, first, second)]
        return [number(g) * a + number(1 - g) * b for g, a, b in zip(gates, first, second)]

    def options_repr(self) -> str:
        """Both units."""
        return f", units={self.units!r}"
