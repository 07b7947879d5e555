"""What `nalm.explain` returns, and the sentences it prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nalm.symbolic.latex import latex
from nalm.symbolic.rounding import Move

TOLERANCE = 0.01
"""Weights further than this from a discrete value are not read as that value."""
_CLOSE = 0.1
"""Weights up to this far from a discrete value are moving towards it, if the model fits its data."""


@dataclass(frozen=True)
class Explanation:
    """What a model computes.

    Attributes:
        expressions: a sympy expression per output: of the snapped model if it is readable, otherwise of the
            model as it is, with its weights as decimal numbers. Empty if the model is not readable and
            `only_readable` was set, or if it does not compute what the formulas of its parts give.
        readable: whether all weights and gates are close enough to discrete values to be read.
        distance: the largest distance of a weight or gate from its discrete value.
        tolerance: the largest distance that was allowed.
        reading: where the expressions hold, if not everywhere.
        reason: why the model is not readable, if not because of a distance.
        remarks: what else is known about the model with these weights, such as that `nalm.solve` failed.
        move: the weight or gate with the largest distance.
    """

    expressions: list[Any]
    readable: bool
    distance: float
    tolerance: float = TOLERANCE
    reading: str = ""
    reason: str = ""
    remarks: tuple[str, ...] = ()
    move: Move | None = None

    def __str__(self) -> str:
        formulas = ", ".join(map(str, self.expressions))
        if self.readable:
            said = "; ".join(part for part in (self.reading, *self.remarks) if part)
            return f"{formulas} ({said})" if said else formulas
        said = " ".join([f"not readable: {self._why()}.", *self._advice()])
        return f"{said} As it is: {formulas}" if formulas else said

    def _why(self) -> str:
        if self.reason:
            return self.reason
        seen = str(self.move) if self.move else f"a weight is {self.distance:.3g} away from a discrete value"
        return f"{seen} (at most {self.tolerance:g} can be read)"

    def _advice(self) -> list[str]:
        """The remarks on the model, or else what to do; nothing if that is not known.

        A weight far from any discrete value may belong to a model that does not fit, which no penalty cures.
        """
        if self.remarks:
            return [f"{remark[:1].upper()}{remark[1:]}." for remark in self.remarks]
        if self.reason or not self.distance <= _CLOSE:
            return []
        return ["If the model fits its data, a longer or stronger penalty can close such a small gap."]

    def latex(self) -> str:
        """The expressions for LaTeX."""
        return ", ".join(map(latex, self.expressions))
