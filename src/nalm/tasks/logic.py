r"""Logic: gates, and arithmetic that a layer of logic can express (thesis, appendix D.3.1).

Every operation is bilinear in its two operands, which are the first two inputs:

.. math:: y = c_0 + c_1 a + c_2 b + c_3 a b

On truth values 0 and 1 this covers every gate (Boole's expansion), on degrees of truth between them the
product, the mean ("addition with division"), the identity and a constant.

The thesis has neither data nor settings. Ours: gates see independent truth values, each true half of the
time; the other operations see U[0, 1). There is nothing to extrapolate to: the test set is another draw. The
constant is 1. "Addition with division" is read as (a + b) / 2, which stays between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from nalm.errors import ArgumentError
from nalm.recipes import Adam, Recipe
from nalm.tasks._base import Numbers, Split
from nalm.tasks._fields import FieldTask
from nalm.tasks.measures import MeanSquaredError, WrongNumber

GATES = {
    "and": (0.0, 0.0, 0.0, 1.0),
    "or": (0.0, 1.0, 1.0, -1.0),
    "not": (1.0, -1.0, 0.0, 0.0),
    "xor": (0.0, 1.0, 1.0, -2.0),
    "implies": (1.0, -1.0, 0.0, 1.0),
}
"""The coefficients of 1, a, b and ab of operations on truth values."""
DEGREES = {
    "mul": (0.0, 0.0, 0.0, 1.0),
    "mean": (0.0, 0.5, 0.5, 0.0),
    "identity": (0.0, 1.0, 0.0, 0.0),
    "constant": (1.0, 0.0, 0.0, 0.0),
}
"""The coefficients of operations on degrees of truth."""
_BILINEAR = {**GATES, **DEGREES}
_WRITTEN = {
    **{"and": "x1 & x2", "or": "x1 | x2", "not": "~x1", "xor": "x1 ^ x2", "implies": "~x1 | x2"},
    **{"mul": "x1*x2", "mean": "(x1 + x2)/2", "identity": "x1", "constant": "1"},
}


@dataclass(frozen=True)
class Logic(FieldTask):
    """An operation on the first two of `inputs` truth values, or degrees of truth.

    Attributes:
        inputs: number of inputs.
    """

    inputs: int = 2

    name = "logic"
    ops = tuple(_BILINEAR)
    models: ClassVar[tuple[str, ...]] = ("nlrl+nlrl", "nlrl(de_morgan=true)+nlrl(de_morgan=true)", "nlrl")
    measures = (MeanSquaredError(), WrongNumber())
    has_formulas: ClassVar[bool] = True
    shared: ClassVar[tuple[str, ...]] = ("inputs",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.inputs, bool) or not isinstance(self.inputs, int) or self.inputs < 2:
            raise ArgumentError("inputs", "a whole number, at least 2", repr(self.inputs))

    @property
    def in_features(self) -> int:  # type: ignore[override]
        """The number of inputs."""
        return self.inputs

    def labels(self) -> dict[str, str | int]:
        """The operation as a formula, its name, and the number of inputs if it is not 2."""
        return {"expression": _WRITTEN[self.op], **super().labels()}

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The coefficients, and 1 if inputs are truth values."""
        return {"coefficients": list(_BILINEAR[self.op]), "truth": float(self.op in GATES)}

    def samples(self, split: str) -> int:
        """Enough to meet every row of a truth table many times."""
        return 2000

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs and targets."""
        x = torch.where(numbers["truth"][:, None, None] > 0, (u < 0.5).to(u.dtype), u)
        a, b = x[:, 0], x[:, 1]
        one, first, second, product = (c[:, None] for c in numbers["coefficients"].unbind(-1))
        y = one + first * a + second * b + product * a * b
        return x.mT, y[..., None]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float:
        """A root mean squared error of 0.1 for gates, whose answers are then all right; 0.01 for degrees."""
        return 0.01 if self.op in GATES else 1e-4

    def is_solution(self, expression: Any) -> bool:
        """Whether a boolean or a formula has the value of the operation in every row of the truth table."""
        import sympy as sp

        names = sp.symbols(self.input_names, real=True)
        for row in range(4):
            given = {s: bool(row >> k & 1) if k < 2 else False for k, s in enumerate(names)}
            if not _has_value(expression, given, self._at(row & 1, row >> 1)):
                return False
        return not {str(s) for s in expression.free_symbols} - {"x1", "x2"}

    def _at(self, a: int, b: int) -> float:
        one, first, second, product = _BILINEAR[self.op]
        return one + first * a + second * b + product * a * b

    def adapt(self, recipe: Recipe) -> Recipe:
        """Adam with the rate 0.01 for 10,000 steps: ours, because the papers have no recipe."""
        if recipe.trainer != "engine":
            return recipe
        return replace(recipe, optimiser=Adam(1e-2), iterations=10_000)


def _has_value(expression: Any, given: dict[Any, bool], value: float) -> bool:
    """Whether a sympy expression, boolean or not, has a value for truth values."""
    import sympy as sp

    if isinstance(expression, (sp.logic.boolalg.Boolean, sp.Symbol)):
        by_name = {str(symbol): truth for symbol, truth in given.items()}
        found = expression.subs({s: by_name[str(s)] for s in expression.free_symbols if str(s) in by_name})
        return found in (sp.true, sp.false) and float(bool(found)) == value
    number = expression.subs({symbol: int(truth) for symbol, truth in given.items()})
    return bool(number.is_number and abs(float(number) - value) < 1e-6)
