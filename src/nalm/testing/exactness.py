"""Checks that a unit is exact at ideal weights, and that projecting and snapping do not change them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from nalm.testing.measures import weights
from nalm.testing.subject import Subject

ARITHMETIC: dict[str, Callable[..., Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "reciprocal": lambda a, b: 1 / a,
}
LOGIC: dict[str, Callable[..., Tensor]] = {
    "and": torch.logical_and,
    "or": torch.logical_or,
    "not": lambda a, b: a == 0,
    "nand": lambda a, b: ~torch.logical_and(a, b),
    "nor": lambda a, b: ~torch.logical_or(a, b),
    "implies": lambda a, b: torch.logical_or(a == 0, b),
}
COMPARISONS: dict[str, Callable[..., Tensor]] = {
    "lt": torch.lt,
    "gt": torch.gt,
    "le": torch.le,
    "ge": torch.ge,
    "eq": torch.eq,
    "ne": torch.ne,
}


def is_exact_at_ideal_weights(subject: Subject) -> None:
    """With ideal weights every operation is exact, except for a declared epsilon.

    Arithmetic is checked from 1e-6 to 1e6, logic on truth values, comparisons on whole numbers from -1e6 to
    1e6.
    """
    sizes = 10.0 ** torch.linspace(-6, 6, 25, dtype=torch.float64)
    signed = sizes if subject.unit.positive else torch.cat([sizes, -sizes])
    whole = torch.tensor([-1e6, -7, -1, 0, 1, 2, 1e6], dtype=torch.float64)
    for op in subject.make().ops:
        unit = subject.make(4, 2)
        unit.ideal_(op, 1, 3)
        epsilon = getattr(unit, "epsilon", 0.0)
        if op in ARITHMETIC:
            x, a, b = _pairs(signed)
            target = ARITHMETIC[op](a, b)
            allowed = subject.exact + 2 * epsilon * (1 / a.abs() + 1 / b.abs())
        else:
            x, a, b = _pairs(torch.tensor([0.0, 1.0], dtype=torch.float64) if op in LOGIC else whole)
            target = ({**LOGIC, **COMPARISONS}[op](a, b)).double()
            target, allowed = target + 1, torch.full_like(a, subject.exact + 3 * epsilon)
        output = unit(x).detach() + (
            op not in ARITHMETIC
        )  # truth values are compared with 1 and 2, not 0 and 1
        error = ((output - target[:, None]) / target[:, None].abs().clamp(min=1e-300)).abs()
        counted = (target != 0) & (target.abs() <= subject.unit.largest)
        worst = float(error[counted].max())
        assert bool((error <= allowed[:, None])[counted].all()), f"{op} is off by {worst:.3g}"
        if not epsilon:
            assert float(unit.sparsity_error(biases=True).detach()) < 1e-12, (
                f"ideal weights for {op} are not discrete"
            )


def projects_and_snaps(subject: Subject) -> None:
    """Projection is idempotent and keeps ideal weights; snapping gives discrete weights."""
    unit = subject.make()
    with torch.no_grad():
        for p in unit.parameters():
            p.mul_(3)
    unit.project_()
    once = weights(unit)
    unit.project_()
    assert all(torch.equal(a, b) for a, b in zip(once, weights(unit))), "a second projection changes weights"
    unit.snap_()
    distance = float(unit.sparsity_error(gates=True, biases=True).detach())
    assert min(distance % 0.5, 0.5 - distance % 0.5) < 1e-6, "snapped weights are not discrete"
    for op in unit.ops:
        unit.ideal_(op, 0, 1)
        ideal = weights(unit)
        unit.project_()
        unit.snap_()
        same = all(torch.equal(a, b) for a, b in zip(ideal, weights(unit)))
        assert same, f"projecting and snapping change the ideal weights for {op}"


def _pairs(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows with all pairs of these values as inputs 1 and 3 of four, and the two values of each pair."""
    a, b = torch.cartesian_prod(values, values).T
    return torch.stack([values[:1].expand(len(a)), a, 3 * b, b], -1), a, b
