"""What a unit can do, found by running it: the questions behind the thesis's tables 2.1 and 2.2.

Nothing is read off a declaration where it can be tried out. A unit can express an operation if some of its
discrete settings computes it: the ideal weights of each operation that it declares, and each selection of two
inputs from {-1, 0, 1}. Rows that a unit cannot take, such as numbers for a unit of truth values, count as
wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from nalm.units import Unit

Operation = Callable[[Tensor, Tensor], Tensor]
ARITHMETIC: dict[str, Operation] = {
    "addition": torch.add,
    "subtraction": torch.sub,
    "multiplication": torch.mul,
    "division": torch.div,
}
BOOLEAN: tuple[Operation, ...] = (
    lambda a, b: a * b,
    lambda a, b: torch.maximum(a, b),
    lambda a, b: 1 - a,
)
"""And, or, not, on truth values."""
CONTROL: tuple[Operation, ...] = (
    lambda a, b: (a < b).double(),
    lambda a, b: (a > b).double(),
    lambda a, b: (a == b).double(),
)
"""Comparisons of whole numbers."""
_CLOSE = 1e-5
"""Relative error of an operation that is right: the papers' epsilons cost up to 1e-6 here."""
_STEPS = 60
"""Halvings of an interval of raw weights."""


def _pairs(values: Sequence[float]) -> Tensor:
    return torch.tensor(list(itertools.product(values, repeat=2)), dtype=torch.float64)


POSITIVE, SIGNED = _pairs((0.5, 1.0, 1.75, 3.0)), _pairs((-3.0, -1.25, 0.5, 2.0))
TRUTH, WHOLE = _pairs((0.0, 1.0)), _pairs((-4.0, -1.0, 0.0, 2.0))


def settings(kind: type[Unit]) -> Iterator[Unit]:
    """The unit with two inputs in each of its discrete settings."""
    for op in kind.ops:
        unit = kind(2, 1, dtype=torch.float64).eval()
        unit.ideal_(op, 0, *(() if op in kind.unary else (1,)))
        yield unit
    for pair in itertools.product((-1.0, 0.0, 1.0), repeat=2):
        unit = kind(2, 1, dtype=torch.float64).eval()
        try:
            unit.select_(torch.tensor([pair], dtype=torch.float64))
        except NotImplementedError:
            return
        yield unit


def right(unit: Unit, operation: Operation, x: Tensor) -> bool:
    """Whether a unit takes all these rows and computes the operation on them."""
    with torch.no_grad():
        if unit.logical and not bool(unit.holds(x).all()):
            return False
        y = operation(x[:, 0], x[:, 1])
        return bool(((unit(x)[:, 0] - y).abs() <= _CLOSE * y.abs().clamp(min=1)).all())


def expresses(kind: type[Unit], operations: Sequence[Operation], x: Tensor) -> bool:
    """Whether for each operation some discrete setting computes it on these rows."""
    return all(any(right(unit, operation, x) for unit in settings(kind)) for operation in operations)


def known(kind: type[Unit]) -> list[tuple[Operation, Tensor]]:
    """The operations that the unit can express, each with rows of any sign to try it on."""
    found = [(f, SIGNED) for f in ARITHMETIC.values() if expresses(kind, [f], POSITIVE)]
    return [*found, *((f, WHOLE) for f in CONTROL if expresses(kind, [f], WHOLE.abs()))]


def takes_negative(kind: type[Unit]) -> bool:
    """Whether everything that it can express is right for negative inputs too."""
    operations = known(kind)
    return bool(operations) and all(expresses(kind, [f], x) for f, x in operations)


def reaches_powers(kind: type[Unit], powers: Sequence[float]) -> bool:
    """Whether some value of a single raw weight makes it x ** p, for each power."""
    return all(any(_reaches(unit, p) for unit in settings(kind)) for p in powers)


def _reaches(unit: Unit, power: float) -> bool:
    # The second input is 1, so that its weight does not matter; the first is the base.
    x = torch.stack([POSITIVE[:, 0], torch.ones(len(POSITIVE), dtype=torch.float64)], -1)
    if unit.logical:
        return False
    return any(_reaches_by(unit, raw, x, power) for raw in unit.parameters() if raw.dim() == 2)


@torch.no_grad()
def _reaches_by(unit: Unit, raw: Tensor, x: Tensor, power: float) -> bool:
    """Halve an interval of the first raw weight so that 3 becomes 3 ** p, then look at the other bases."""
    kept, last = raw.clone(), x[-1:]

    def missing(value: float) -> float:
        raw[0, 0] = value
        return float(unit(last)[0, 0]) - float(last[0, 0]) ** power

    low, high = -20.0, 20.0
    rises = missing(high) > missing(low)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if (missing(middle) > 0) == rises else (middle, high)
    reached = right(unit, lambda a, b: a**power, x)
    raw.copy_(kept)
    return reached


def has_gate(kind: type[Unit]) -> bool:
    """Whether it has a gate, computed from the input or a parameter of its own."""
    unit = kind(2, 1)
    return bool(unit.gates()) or "gate" in dict(unit.named_parameters())


def discretises(kind: type[Unit]) -> bool:
    """Whether its penalty vanishes at discrete weights and not in between."""
    ideal, between = next(settings(kind)), kind(2, 1, dtype=torch.float64)
    with torch.no_grad():
        for raw in between.parameters():
            raw.fill_(0.4)
        return float(ideal.penalty()) == 0 < float(between.penalty())


def clips_weights(kind: type[Unit]) -> bool:
    """Whether weights are moved back into bounds after a step."""
    unit = kind(2, 1, dtype=torch.float64)
    with torch.no_grad():
        for raw in unit.parameters():
            raw.fill_(7.0)
        unit.project_()
        return all(float(value.abs().max()) <= 1 for value in unit.weights().values()) and not all(
            bool((raw == 7).all()) for raw in unit.parameters()
        )
