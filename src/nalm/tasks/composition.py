"""Composition: expressions of several steps, such as op2(op1(a, b), c) of the inputs [a, b, c, d].

Thesis, chapter 7: 16 expressions of two cumulative operations, where sub is -x1 - x2 and div is 1 / (x1 x2)
(table 7.1), trained on U[1, 2) and tested on U[2, 6). They are named after their operations, `add-mul`.

Beyond the thesis: expressions of any number of steps over any number of inputs, drawn one after the other
from a fixed stream with the ordinary operations x1 - x2 and x1 / x2. `3-step-17` is the 17th of three steps,
counted from 0, `3-step(add|mul)-17` that of sums and products only, and `3-step:200` the first 200.

Deviations: the thesis states no threshold. Here it is the mean squared error of an expression in which every
weight, 1 or -1, is too small by epsilon: each step multiplies its operands by 1 - epsilon, or takes them to
that power. This extends the epsilon-perfect model of its section 3.3.1.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from nalm.errors import ArgumentError, nearest
from nalm.models.composition_recipe import composition_recipe
from nalm.symbolic.expression_graph import PRODUCT, SIGNS, SUM, ExpressionGraph, Step, applied, letters
from nalm.tasks._base import OPERATIONS, Numbers, Split
from nalm.tasks._sampling import RangeTask, check_inputs
from nalm.tasks.known_ranges import parse_pair
from nalm.tasks.sampled_expressions import sampled_expression
from nalm.tasks.sampling import Aside, sample
from nalm.units import UNITS

if TYPE_CHECKING:
    from nalm.models import ModelSpec
    from nalm.recipes import Recipe

CUMULATIVE = {"add": "add", "sub": "minus", "mul": "mul", "div": "inverse"}
"""The thesis's operations, and what one step of an expression graph calls them."""
TWO_STEPS = tuple(f"{first}-{second}" for first, second in itertools.product(CUMULATIVE, repeat=2))
"""The 16 expressions of the thesis."""
OTHER_READINGS = {
    "mul-sub*": ("mul", "sub"),
    "div-sub*": ("inverse", "sub"),
}
"""Table 7.6 of the thesis writes ab - c and 1/(ab) - c for two of them, table 7.1 -ab - c and -1/(ab) - c."""
_SAMPLED = re.compile(r"(?P<steps>\d+)-step(?:\((?P<ops>[a-z|]+)\))?(?P<how>[-:])(?P<number>\d+)")
_NAMED = {op: tuple(CUMULATIVE[part] for part in op.split("-")) for op in TWO_STEPS} | OTHER_READINGS
_FORMS = "one of the 16 such as add-mul, 3-step-17 or 3-step:200"
_CODES = tuple(op for op, (_, _, second) in SIGNS.items() if second)
MOST_STEPS, MOST_EXPRESSIONS = 8, 10_000
_SIMULATED = 10_000


@dataclass(frozen=True)
class Composition(RangeTask):
    """An expression of several steps.

    Args:
        op: the expression: one of the 16, such as add-mul; mul-sub* or div-sub*, as table 7.6 of the thesis
            writes these two; or `3-step-17`.
        range: a name from `nalm list ranges`, or `train=>test` such as `1:2=>2:6`.
        inputs: number of inputs; by default 4 for the 16, and twice the number of steps for others.
    """

    op: str
    range: str = "1:2"
    inputs: int = 0

    name = "composition"
    ops = TWO_STEPS
    models: ClassVar[tuple[str, ...]] = ("composer",)
    ranges: ClassVar[tuple[str, ...]] = ("1:2",)
    has_formulas: ClassVar[bool] = True

    def __post_init__(self) -> None:
        steps = 2 if self.op in _NAMED else _parsed(self.op)[0]
        if self.inputs == 0:
            object.__setattr__(self, "inputs", 2 * steps)
        check_inputs(self.inputs, 3 if self.op in _NAMED else 1)
        parse_pair(self.range)
        self.graph  # noqa: B018 - refuses a number that the language does not have

    @classmethod
    def expand_ops(cls, names: Iterable[str]) -> list[str]:
        """The expressions, with `3-step:200` written out."""
        found: list[str] = []
        for name in names:
            if name in _NAMED:
                found.append(name)
                continue
            _, _, number = _parsed(name)
            first, colon, _ = name.rpartition(":")
            found += [f"{first}-{k}" for k in range(number)] if colon else [name]
        return found

    @classmethod
    def is_offered_to(cls, op: str, model: ModelSpec) -> bool:
        """Every model may try every expression: which of them it can express is not known."""
        return True

    @property
    def graph(self) -> ExpressionGraph:
        """The expression to be learnt."""
        if self.op in _NAMED:
            first, second = _NAMED[self.op]
            return ExpressionGraph(self.inputs, (Step(first, 0, 1), Step(second, self.inputs, 2)))
        steps, operations, number = _parsed(self.op)
        return sampled_expression(steps, self.inputs, operations, number)

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs: a, b, c, …."""
        return letters(self.inputs)

    @property
    def target(self) -> str:
        """The expression in the names of the inputs."""
        return str(self.graph.shortest(self.input_names))

    def is_solution(self, expression: Any) -> bool:
        """Whether an expression is equal to the target, and not only close."""
        return self.graph.is_equal(expression, self.input_names)

    @property
    def recipe_op(self) -> str | None:
        """None: no unit has a recipe for the whole expression."""
        return None

    def shape(self) -> Hashable:
        """What reads what is the same for all runs of a program; operations and ranges are numbers."""
        return (super().shape(), tuple((step.left, step.right) for step in self.graph.steps))

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """Operations and range."""
        codes = [_CODES.index(step.op) for step in self.graph.steps]
        return {"steps": codes, **super().numbers(seed, split)}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs and targets."""
        x = self.draw(u, numbers)
        lines = [x[:, k] for k in range(self.inputs)]
        for k, step in enumerate(self.graph.steps):
            lines.append(_by_code(numbers["steps"][:, k, None], lines[step.left], lines[step.right]))
        return x.mT, lines[-1][..., None]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float:
        """Mean squared error of the expression with all weights too small by epsilon, by samples."""
        return _simulated_error(self, str(split), epsilon)

    def labels(self) -> dict[str, str | int]:
        """The expression, its name, number of inputs and range."""
        return {"expression": self.target, **super().labels()}

    def adapt(self, recipe: Recipe) -> Recipe:
        """Plain gradient descent for 200,000 steps, penalties from 100,000 to 150,000 (thesis, table 7.2)."""
        if recipe.trainer not in ("engine", "loop"):
            return recipe
        return composition_recipe(UNITS, clipped=recipe.clip_value is not None)


def _parsed(op: str) -> tuple[int, tuple[str, ...], int]:
    """Steps, operations and number of `3-step(add|mul)-17` or `3-step:200`."""
    match = _SAMPLED.fullmatch(op)
    if match is None:
        close = nearest(op, TWO_STEPS)
        raise ArgumentError("op", _FORMS, repr(op), f"Did you mean {close!r}?" if close else "")
    operations = tuple((match["ops"] or "|".join(OPERATIONS)).split("|"))
    if not set(operations) <= set(OPERATIONS):
        raise ArgumentError("op", f"an expression of {', '.join(OPERATIONS)}", repr(op))
    steps, number = int(match["steps"]), int(match["number"])
    if not 1 <= steps <= MOST_STEPS:
        raise ArgumentError("op", f"an expression of 1 to {MOST_STEPS} steps", repr(op))
    if number > MOST_EXPRESSIONS or (match["how"] == ":" and number == 0):
        raise ArgumentError("op", f"of 1 to {MOST_EXPRESSIONS:,} expressions", repr(op))
    return steps, tuple(dict.fromkeys(operations)), number


def _by_code(code: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """The operation of each run: code `models x 1`, operands `models x n`."""
    found = applied(_CODES[0], left, right)
    for k, op in enumerate(_CODES[1:], start=1):
        found = torch.where(code == k, applied(op, left, right), found)
    return found


@functools.cache
def _simulated_error(task: Composition, split: str, epsilon: float) -> float:
    def off(op: str, left: Tensor, right: Tensor) -> Tensor:
        kind, first, second = SIGNS[op]
        a, b = (weight * (1 - epsilon) for weight in (first, second))
        if kind == SUM:
            return a * left + b * right
        assert kind == PRODUCT
        return _signed_power(left, a) * _signed_power(right, b)

    x, y = sample(task, 0, split, _SIMULATED, aside=Aside.STATISTICS)
    found = task.graph.lines(x.unbind(-1), off)[task.graph.result]
    return float((found - y[:, 0]).square().mean())


def _signed_power(value: Tensor, power: float) -> Tensor:
    """|value| to the power, with the sign of the value."""
    return value.sign() * value.abs() ** power
