r"""The recurrent input selector: units that take turns, and one line of working per turn.

At step t of T every unit :math:`m_k` sees the inputs and all lines of working, and one unit is selected
(algorithm 1, see `nalm.models.selection`) to write line t; the last line is the result:

.. math::
    l_t = \mathrm{select}\big(m_1(z), \dots, m_K(z);\, w_t, g_{ml,t}\big), \qquad z = [x, l_1, \dots, l_T],
    \qquad y = l_T

Thesis, section 7.2.5, figure 7.1c.

Deviations: what the text leaves open was decided as follows. The same units serve all steps (`shared=True`):
the network is called recurrent and "unrolled", its lists name units twice ([NAU, NAU, NMU]), which only units
that keep their weights need, and in table 7.5 the unread first step of add-mul computes the same a + b + c as
the second. With `shared=False` every step has its own units. Logits and :math:`g_{ml}` belong to a step,
because figure 7.1 has a selection :math:`g_i` per step and table 7.6 selects different modules in turn. All
logits start at 0, so that the first unit is the most likely one until they differ; :math:`g_{ml}` starts at
-1. A line that has not been written yet is 0 (`blank`). Which gradients algorithm 1 has: `gradient`.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import ArgumentError, check_choice, check_positive
from nalm.models.composite import Composite, part_classes
from nalm.models.selection import GRADIENTS, one_hot_argmax, select_in_evaluation, select_in_training
from nalm.recipes.initialisers import Constant
from nalm.units._base import Unit
from nalm.units._options import Common
from nalm.units._symbolic import number

CERTAIN = -1.0
"""The initial logit of the deterministic selection: its probability is 0.27."""


def check_one_output(out_features: int, kind: str) -> None:
    """Refuse any number of outputs but one."""
    if out_features != 1:
        raise ArgumentError(
            "out_features", f"1 for a {kind}, whose lines of working are numbers", out_features
        )


class RecurrentSelector(Composite):
    """Units that write lines of working in turn; each step selects one of them.

    Args:
        in_features: number of inputs.
        out_features: number of outputs: 1.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        units: the names of the units.
        steps: number of steps, and of lines of working.
        shared: whether the same units serve all steps; otherwise every step has its own.
        blank: the value of a line that has not been written.
        gradient: "soft" (the text of the thesis) or "both" (line 13 of its algorithm 1).

    Example:
        >>> from nalm.models import RecurrentSelector
        >>> selector = RecurrentSelector(3, 1, units="nau|nmu").eval()
        >>> selector.ideal_("mul", 0, 2)
        >>> selector(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[10.]], grad_fn=<...>)
    """

    name = "selector"

    logits: Tensor
    g_ml: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        units: str = "nau|nau|nmu",
        steps: int = 2,
        shared: bool = True,
        blank: float = 0.0,
        gradient: str = "soft",
        **common: Unpack[Common],
    ) -> None:
        check_one_output(out_features, "selector")
        part_classes(units)
        self.units, self.shared, self.blank = units, shared, float(blank)
        self.steps = check_positive("steps", steps)
        self.gradient = check_choice("gradient", gradient, GRADIENTS)
        super().__init__(in_features, out_features, **common)
        self.limit_ops()

    def build(self) -> None:
        """Declare the logits of each step and make the units."""
        kinds = part_classes(self.units)
        self.declare("logits", (self.steps, len(kinds)), Constant(0.0))
        self.declare("g_ml", (self.steps,), Constant(CERTAIN))
        for step in range(1 if self.shared else self.steps):
            for k, kind in enumerate(kinds):
                self.add_part(self._name(step, k), kind, self.in_features + self.steps, 1)

    def _name(self, step: int, k: int) -> str:
        return f"m{k + 1}" if self.shared else f"t{step + 1}m{k + 1}"

    def names_at(self, step: int) -> list[str]:
        """The names of the parts that a step, counted from 0, selects from."""
        return [self._name(step, k) for k in range(self.logits.shape[-1])]

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        lines = [torch.full_like(x[..., :1], self.blank) for _ in range(self.steps)]
        u = self.draw(self.logits.shape, self.logits) if self.training else None
        for step in range(self.steps):
            given = torch.cat([x, *lines], -1)
            outputs = torch.cat([self.parts[name](given) for name in self.names_at(step)], -1)
            logits = self.logits[..., step, :]
            lines[step] = (
                select_in_evaluation(outputs, logits)
                if u is None
                else select_in_training(
                    outputs, logits, self.g_ml[..., step], u[..., step, :], gradient=self.gradient
                )
            )
        return lines[-1]

    def weights(self) -> dict[str, Tensor]:
        """Which unit each step selects, as one-hot vectors, `*batch_shape x steps x units`."""
        return {"choice": one_hot_argmax(self.logits)}

    # -- what decides the result -----------------------------------------------------------------

    def decides(self, name: str) -> Tensor:
        """Whether a part is selected in a step whose line is read, directly or not, by the last one."""
        chosen, read = self.weights()["choice"] > 0, self._lines_read()
        used = [torch.ones_like(chosen[..., 0, 0])]
        for step in reversed(range(self.steps - 1)):
            later = range(step + 1, self.steps)
            reads = [
                used[self.steps - 1 - t] & (chosen[..., t, :] & read[t][..., step]).any(-1) for t in later
            ]
            used.append(torch.stack(reads).any(0))
        found = [
            used[self.steps - 1 - step] & chosen[..., step, names.index(name)]
            for step in range(self.steps)
            if name in (names := self.names_at(step))
        ]
        return torch.stack(found).any(0)[..., None]

    def _lines_read(self) -> list[Tensor]:
        """For each step, which lines its units give any weight: bool, `*batch_shape x units x lines`."""
        return [
            torch.stack([self._reads(self.parts[name]) for name in self.names_at(step)], -2)
            for step in range(self.steps)
        ]

    def _reads(self, part: Unit) -> Tensor:
        lead, inputs = len(self.batch_shape), self.in_features
        rows = [w for w in part.weights().values() if w.shape[-1] == part.in_features and w.dim() > lead + 1]
        return torch.stack([(w[..., inputs:] != 0).flatten(lead, -2).any(lead) for w in rows]).any(0)

    def holds(self, x: Tensor) -> Tensor:
        """Rows for which the expression of every deciding part holds in every step that selects it."""
        rows = torch.ones_like(x[..., 0], dtype=torch.bool)
        lines = [torch.full_like(x[..., :1], self.blank) for _ in range(self.steps)]
        deciding = self.deciding_parts()
        for step, k in enumerate(self.weights()["choice"].argmax(-1).tolist()):
            name, given = self.names_at(step)[k], torch.cat([x, *lines], -1)
            if name in deciding:
                rows = rows & self.parts[name].holds(given)
            lines[step] = self.parts[name](given)
        return rows

    # -- ideal weights and formula ---------------------------------------------------------------

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """The last step selects the first unit that can express it, on the inputs alone."""
        for part in self.parts.values():
            part.snap_()
        self.logits.zero_()
        for step in range(self.steps):
            name = next(n for n in self.names_at(step) if op in self.parts[n].ops)
            self.parts[name].set_ideal_(op, i, j)
            self.logits[..., step, self.names_at(step).index(name)] = 1

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The expression of the last line."""
        return [self.line_expressions(values, symbols, idealised)[-1]]

    def line_expressions(
        self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool
    ) -> list[Any]:
        """The expression of every line, given the values of all parameters."""
        lines: list[Any] = [number(self.blank)] * self.steps
        for step in range(self.steps):
            name = self.names_at(step)[int(values["logits"][step].argmax())]
            lines[step] = self.part_symbolic(name, values, [*symbols, *lines], idealised)[0]
        return lines

    def options_repr(self) -> str:
        """The units, and the options that differ from the defaults."""
        own = "" if self.shared else ", shared=False"
        blank = "" if self.blank == 0 else f", blank={self.blank}"
        gradient = "" if self.gradient == "soft" else f", gradient={self.gradient!r}"
        return f", units={self.units!r}, steps={self.steps}{own}{blank}{gradient}"
