"""Networks whose printed weights add or subtract exactly (thesis, figures 1.4 and 1.5).

The network of one hidden unit, relu(w x1 + w x2 - b) / w + b / w, is x1 + x2 wherever w (x1 + x2) is at least
b, and b / w elsewhere. The network of four hidden units splits both inputs into their positive and negative
parts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nalm.models.baselines import MLP
from nalm.papers.agreement import Finding
from nalm.papers.claims import Check, Claim, Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.papers.shared.points import evenly_spaced, lattice

RANGES = {"U[1,2)": (1.0, 2.0), "U[2,6)": (2.0, 6.0), "[-6,6]": (-6.0, 6.0)}
"""Training range, test range, and the domain of the thesis's surfaces."""
_POINTS = 61
_CLOSE = 1e-12
NARROW = {
    "w = 1, b = 0": (1.0, 0.0),
    "w = 0.5, b = 0.5": (0.5, 0.5),
    "w = 3, b = -2": (3.0, -2.0),
    "w = 1, b = 5": (1.0, 5.0),
    "w = 1, b = -12": (1.0, -12.0),
}
"""Weight and shift of the network of one hidden unit: "w any positive value and b any value"."""
SPLIT = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
"""First layer of the network of four hidden units."""
WIDE = {"add": (1.0, -1.0, 1.0, -1.0), "sub": (1.0, -1.0, -1.0, 1.0)}
"""Its second layer, by operation."""
_FAR = (-3e38, -1e30, -1.0, -1e-30, 0.0, 1e-30, 0.1, 1e30)
"""Floating-point numbers of all sizes, whose sums and differences are finite."""


def network(first: Tensor, shift: Tensor, second: Tensor, last: float) -> MLP:
    """The network with these weights, in float64."""
    model = MLP(2, 1, hidden=(len(first),), dtype=torch.float64)
    hidden, output = (layer for layer in model.modules() if isinstance(layer, nn.Linear))
    with torch.no_grad():
        for held, value in ((hidden.weight, first), (hidden.bias, shift), (output.weight, second[None])):
            held.copy_(value)
        output.bias.fill_(last)
    return model


def narrow(w: float, b: float) -> MLP:
    """Figure 1.4."""
    first, shift = torch.full((1, 2), w), torch.full((1,), -b)
    return network(first, shift, torch.tensor([1 / w], dtype=torch.float64), b / w)


def wide(op: str, order: Sequence[int] = range(4)) -> MLP:
    """Figure 1.5, with its hidden units in any order."""
    first, second = torch.tensor(SPLIT)[list(order)], torch.tensor(WIDE[op])[list(order)]
    return network(first, torch.zeros(4), second, 0.0)


def largest_error(model: MLP, op: str, x: Tensor) -> Tensor:
    """The largest difference from x1 + x2 or x1 - x2, in units of the larger input or 1."""
    with torch.no_grad():
        y = x[:, 0] + x[:, 1] if op == "add" else x[:, 0] - x[:, 1]
        return ((model(x)[:, 0] - y).abs() / x.abs().amax(-1).clamp(min=1)).max()


def on(range_: str) -> Tensor:
    """Pairs of inputs all over a range."""
    axis = evenly_spaced(*RANGES[range_], _POINTS)
    return lattice(axis, axis)


def compute_narrow(scale: Scale) -> Measured:
    """The errors of the network of figure 1.4 on all ranges."""
    return Measured(
        Findings(
            {
                (row, range_, "error"): exact(largest_error(narrow(*numbers), "add", on(range_)))
                for row, numbers in NARROW.items()
                for range_ in RANGES
            }
        )
    )


def compute_wide(scale: Scale) -> Measured:
    """The errors of the networks of figure 1.5 on all ranges, on far numbers, and in any order of units."""
    far = torch.tensor(list(itertools.product(_FAR, repeat=2)), dtype=torch.float64)
    found: dict[Key, Finding] = {}
    for op in WIDE:
        for range_ in RANGES:
            found[op, range_, "error"] = exact(largest_error(wide(op), op, on(range_)))
        found[op, "numbers of all sizes", "error"] = exact(largest_error(wide(op), op, far))
        orders = itertools.permutations(range(4))
        errors = [largest_error(wide(op, order), op, on("[-6,6]")) for order in orders]
        found[op, "24 orders of hidden units", "error"] = exact(torch.stack(errors).max())
    return Measured(Findings(found))


def _right(row: str, *columns: str) -> Check:
    return lambda f: all((f[row, column, "error"].value or 0) < _CLOSE for column in columns)


def _wrong(row: str) -> Check:
    return lambda f: not _right(row, "[-6,6]")(f)


NARROW_CLAIMS = (
    *(Claim(row, "adds positive numbers", _right(row, "U[1,2)", "U[2,6)")) for row in NARROW),
    *(Claim(row, "holds for positive inputs only", _wrong(row)) for row in NARROW),
)
WIDE_CLAIMS = (
    *(Claim(op, "is right for all positive and negative inputs", _right(op, *RANGES)) for op in WIDE),
    *(Claim(op, "is right for any two numbers", _right(op, "numbers of all sizes")) for op in WIDE),
    *(
        Claim(op, "remains right if the hidden units are permuted", _right(op, "24 orders of hidden units"))
        for op in WIDE
    ),
)
