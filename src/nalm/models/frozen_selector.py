r"""The recurrent input selector whose modules have nothing to learn: it learns what each of them reads.

Four modules are preset to cumulative operations: :math:`\sum x_i`, :math:`-\sum x_i`, :math:`\prod x_i` and
:math:`1 / \prod x_i`. At step t each input and each line of working, number r, is available to one module:

.. math::
    m_{t,r} = \mathrm{st\_softmax}(M_{t,r}), \qquad
    a_k = \pm \sum_r m_{t,r,k} z_r \quad\text{or}\quad
    a_k = \Big(\prod_r (m_{t,r,k} z_r + 1 - m_{t,r,k})\Big)^{\pm 1}

and the selected module (algorithm 1, see `nalm.models.selection`) writes line t; the last line is the result.
Thesis, section 7.2.6, figure 7.1d.

The input mask M, `steps x (inputs + lines) x modules`, starts at 0 and at 1 for the line that was written
last, as printed in the thesis. The same number for all modules does not change a softmax over modules, so the
ones have no effect.

Deviations: the softmax of the mask has no temperature, since only algorithm 1 names one. A line that has not
been written yet is left out by all modules: the thesis does not state its value, and as a zero it would make
reciprocals infinite and products zero; `blank` is what products read from it, 1 by default. The reciprocal of
a product nearer to 0 than float32's machine epsilon is that of the epsilon, as in the Real NPU, because a
line may hold 0 and an infinite output would spoil those of the other modules. All logits start at 0,
:math:`g_{ml}` at -1, both per step, as in `nalm.models.selector`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_choice, check_positive
from nalm.models.composite import Composite
from nalm.models.selection import (
    GRADIENTS,
    one_hot_argmax,
    select_in_evaluation,
    select_in_training,
    st_softmax,
)  # fmt: skip
from nalm.models.selector import CERTAIN, check_one_output
from nalm.recipes.initialisers import Constant
from nalm.units._functional import weighted_sum
from nalm.units._options import Common
from nalm.units._product import gated_product
from nalm.units._symbolic import number
from nalm.units.real_npu import EPSILON

MODULES = ("add", "sub", "mul", "div")
"""The modules in their order: sum, negative sum, product and reciprocal of the product."""


def reciprocal(product: Tensor) -> Tensor:
    """1 / product, of at most 1 / epsilon in size."""
    return torch.where(product < 0, -1.0, torch.ones_like(product)) / product.abs().clamp(min=EPSILON)


def cumulative(sums: Tensor, products: Tensor, mask: Tensor) -> Tensor:
    """The outputs of all modules, `*batch x n x 4`, for what each of them may read.

    Args:
        sums: what the first two modules read, `*batch x n x rows`.
        products: what the others read: the same, but for lines that have not been written.
        mask: 1 where a module reads a row, 0 where it leaves it out, `*batch x rows x 4`.
    """
    add, sub, mul, div = (mask[..., None, :, k] for k in range(len(MODULES)))
    product = gated_product(products, mul)
    inverse = reciprocal(gated_product(products, div))
    return torch.cat([weighted_sum(sums, add), -weighted_sum(sums, sub), product, inverse], -1)


@dataclass(frozen=True)
class LastLine:
    """0, and 1 in the row of the line that was written in the step before; the randomness is not used."""

    inputs: int

    def __call__(self, u: Tensor) -> Tensor:
        """The initial values made of `u`, `*batch x steps x (inputs + lines) x modules`."""
        value = torch.zeros_like(u)
        for step in range(1, u.shape[-3]):
            value[..., step, self.inputs + step - 1, :] = 1
        return value


class FrozenSelector(Composite):
    """Preset modules that write lines of working in turn; what they read and who writes is learnt.

    Args:
        in_features: number of inputs.
        out_features: number of outputs: 1.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        steps: number of steps, and of lines of working.
        blank: what products read from a line that has not been written.
        gradient: "soft" (the text of the thesis) or "both" (line 13 of its algorithm 1).

    Example:
        >>> from nalm.models import FrozenSelector
        >>> selector = FrozenSelector(3, 1).eval()
        >>> selector.ideal_("div", 0, 2)
        >>> selector(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[2.5000]])
    """

    name = "frozen-selector"
    ops: tuple[str, ...] = ("add", "sub", "mul", "div", "reciprocal")
    unary = ("reciprocal",)
    recipes = ("published",)

    mask: Tensor
    logits: Tensor
    g_ml: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        steps: int = 2,
        blank: float = 1.0,
        gradient: str = "soft",
        **common: Unpack[Common],
    ) -> None:
        check_one_output(out_features, "frozen selector")
        self.steps, self.blank = check_positive("steps", steps), float(blank)
        self.gradient = check_choice("gradient", gradient, GRADIENTS)
        super().__init__(in_features, out_features, **common)
        if steps == 1:
            self.ops = ("add", "mul", "reciprocal")

    def build(self) -> None:
        """Declare the input mask and the logits of each step."""
        rows = self.in_features + self.steps
        self.declare("mask", (self.steps, rows, len(MODULES)), LastLine(self.in_features))
        self.declare("logits", (self.steps, len(MODULES)), Constant(0.0))
        self.declare("g_ml", (self.steps,), Constant(CERTAIN))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        written: list[Tensor] = []
        u = self.draw(self.logits.shape, self.logits) if self.training else None
        for step in range(self.steps):
            empty = (*x.shape[:-1], self.steps - step)
            sums, products = (torch.cat([x, *written, x.new_full(empty, v)], -1) for v in (0.0, self.blank))
            mask, logits = self.mask[..., step, :, :], self.logits[..., step, :]
            if u is None:
                found = select_in_evaluation(cumulative(sums, products, one_hot_argmax(mask)), logits)
            else:
                noise, certain = u[..., step, :], self.g_ml[..., step]
                outputs = cumulative(sums, products, st_softmax(mask))
                found = select_in_training(outputs, logits, certain, noise, gradient=self.gradient)
            written.append(found)
        return written[-1]

    def weights(self) -> dict[str, Tensor]:
        """Which module reads each row, and which module each step selects, as one-hot vectors."""
        return {"mask": one_hot_argmax(self.mask), "choice": one_hot_argmax(self.logits)}

    def holds(self, x: Tensor) -> Tensor:
        """All rows."""
        return torch.ones_like(x[..., 0], dtype=torch.bool)

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """One step for sums, products and reciprocals, two for differences and quotients."""
        last, line = self.steps - 1, self.in_features + self.steps - 2
        if op in ("sub", "div"):
            self.read_(last - 1, op, [j])
            self.read_(last, "add" if op == "sub" else "mul", [i, line])
        else:
            self.read_(last, "div" if op == "reciprocal" else op, [i] if op == "reciprocal" else [i, j])

    @torch.no_grad()
    def read_(self, step: int, module: str, rows: list[int]) -> None:
        """Let a step, counted from 0, select a module that reads these rows and no others, in place."""
        k = MODULES.index(check_choice("module", module, MODULES))
        self.logits[..., step, :] = 0
        self.logits[..., step, k] = 1
        self.mask[..., step, :, :] = 0
        self.mask[..., step, :, 0 if k else 1] = 1
        self.mask[..., step, rows, :] = 0
        self.mask[..., step, rows, k] = 1

    def rows_read(self, values: dict[str, np.ndarray], step: int) -> tuple[str, list[int]]:
        """The module that a step selects, and the rows that it reads, given the values of one model."""
        k = int(values["logits"][step].argmax())
        return MODULES[k], [r for r, row in enumerate(values["mask"][step]) if int(row.argmax()) == k]

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The expression of the last line."""
        return [self.line_expressions(values, symbols, idealised)[-1]]

    def line_expressions(
        self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool
    ) -> list[Any]:
        """The expression of every line, given the values of all parameters."""
        lines: list[Any] = []
        for step in range(self.steps):
            module, rows = self.rows_read(values, step)
            empty = number(0.0 if module in ("add", "sub") else self.blank)
            given = [*symbols, *lines, *[empty] * (self.steps - step)]
            lines.append(module_expression(module, [given[row] for row in rows]))
        return lines

    def options_repr(self) -> str:
        """The steps, and the options that differ from the defaults."""
        blank = "" if self.blank == 1 else f", blank={self.blank}"
        gradient = "" if self.gradient == "soft" else f", gradient={self.gradient!r}"
        return f", steps={self.steps}{blank}{gradient}"


def module_expression(module: str, given: list[Any]) -> Any:
    """A module applied to expressions."""
    import sympy as sp

    if module in ("add", "sub"):
        return sp.Add(*given) if module == "add" else -sp.Add(*given)
    product = sp.Mul(*given)
    if module == "mul":
        return product
    return 1 / product if product != 0 else sp.Float(1 / EPSILON)
