r"""NMU, the Neural Multiplication Unit.

.. math:: m_o = \prod_i (W_{o,i} x_i + 1 - W_{o,i}), \qquad W \in [0, 1]

Penalty: mean of :math:`\min(|W|, |1 - W|)`. Madsen & Johansen 2020, equations 10-12; thesis, equation 2.14.

Deviations: the papers clamp W before use; it is clamped after the optimiser's step (`project_`), which is
the same in training. Initial weights are uniform in (0.25, 0.75) for all sizes, as they are for the sizes
used in the papers; Madsen & Johansen derive the variance 1/4 for many inputs. With `input_variance` they are
uniform around 1/2 with the variance of their equation 69, partly outside [0, 1] until the first clamp. W is
stored as `out x in`, like `nn.Linear`. `clamp=False` and `penalised=False` are the ablation of their appendix
C.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import ArgumentError, check_above_zero
from nalm.recipes import Adam, Centred, Ramp, Recipe, UnitPenalty
from nalm.recipes.distances import distance_to_bit
from nalm.recipes.initialisers import Uniform, gated_product_variance
from nalm.units._base import Unit
from nalm.units._options import Common
from nalm.units._product import gated_product
from nalm.units._symbolic import number


def nmu(x: Tensor, weight: Tensor) -> Tensor:
    """Product of weight * x + 1 - weight: x `*batch x n x in`, weight `*batch x out x in`."""
    return gated_product(x, weight)


class NMU(Unit):
    """Neural Multiplication Unit: multiplies a learnt selection of its inputs.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        clamp: whether weights are kept in [0, 1].
        penalised: whether there is a penalty on weights that are not discrete.
        input_variance: the variance of the inputs, if known, for the initialisation.

    Example:
        >>> unit = nalm.NMU(3, 1)
        >>> unit.ideal_("mul", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[10.]], grad_fn=<...>)
    """

    name = "nmu"
    ops = ("mul",)
    papers = ("madsen2020",)
    recipes = ("published", "arithmetic", "arithmetic-centred", "second-order")

    weight: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        clamp: bool = True,
        penalised: bool = True,
        input_variance: float | None = None,
        **common: Unpack[Common],
    ) -> None:
        self.clamp, self.penalised = clamp, penalised
        self.input_variance = input_variance
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Declare the parameters."""
        shape = (self.out_features, self.in_features)
        self.declare("weight", shape, _initial(self.in_features, self.input_variance))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return nmu(x, self.weight)

    def weights(self) -> dict[str, Tensor]:
        """The weight matrix."""
        return {"W": self.weight}

    def penalty(self) -> Tensor:
        """Mean distance of the weights from {0, 1}."""
        if not self.penalised:
            return super().penalty()
        return distance_to_bit(self.weight).mean((-2, -1))

    @torch.no_grad()
    def project_(self) -> None:
        """Clamp the weights to [0, 1]."""
        if self.clamp:
            self.weight.clamp_(0, 1)

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Set this weight matrix, clamped to [0, 1]."""
        self.weight.copy_(weight.clamp(0, 1))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Thesis, table E.1; with 10 or more inputs, the penalty's window and the steps of its table 5.1.

        "arithmetic-centred" uses Adam in centred coordinates, for stacks that begin with a NAU.
        """
        if name in ("arithmetic", "arithmetic-centred"):
            optimiser = Adam() if name == "arithmetic" else Centred(Adam())
            penalties = (UnitPenalty(10.0, Ramp(1e6, 2e6)),)
            return Recipe(penalties=penalties, optimiser=optimiser, iterations=5_000_000)
        if inputs < 10:
            return Recipe(penalties=(UnitPenalty(10.0, Ramp(20e3, 35e3)),))
        return Recipe(penalties=(UnitPenalty(10.0, Ramp(50e3, 75e3)),), iterations=100_000)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product of weight * input + 1 - weight for each output."""
        return [gated_factors(row, symbols) for row in values["weight"]]

    def options_repr(self) -> str:
        """The options that differ from the published ones."""
        clamp = "" if self.clamp else ", clamp=False"
        penalised = "" if self.penalised else ", penalised=False"
        known = self.input_variance is not None
        return clamp + penalised + (f", input_variance={self.input_variance}" if known else "")


def gated_factors(weights: np.ndarray, symbols: Sequence[Any]) -> Any:
    """Product of weight * symbol + 1 - weight."""
    import sympy as sp

    return sp.Mul(*(number(w) * s + number(1 - w) for w, s in zip(weights, symbols)))


def _initial(inputs: int, input_variance: float | None) -> Uniform:
    if input_variance is None:
        return Uniform(0.25, 0.75)
    variance = gated_product_variance(inputs, check_above_zero("input_variance", input_variance))
    if variance <= 0:
        hint = "No weights can preserve so large a variance (Madsen & Johansen 2020, equation 69)."
        expected = f"a variance that a product of {inputs} inputs can preserve"
        raise ArgumentError("input_variance", expected, input_variance, hint)
    width = math.sqrt(3 * variance)
    return Uniform(0.5 - width, 0.5 + width)
