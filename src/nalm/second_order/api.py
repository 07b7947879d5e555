"""`nalm.solve`: second-order training of a user's own model on a user's own table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_positive
from nalm.second_order.checks import check_model, check_rows, column_notes
from nalm.second_order.consensus import without_outliers
from nalm.second_order.flat import Flat
from nalm.second_order.solution import Found, Solution
from nalm.second_order.solver import Rows, solve_rows
from nalm.second_order.verdict import is_determined
from nalm.streams import Purpose, check_seed, counters, key, uniform
from nalm.training.models import Models
from nalm.training.program import one_thread

_FRESH = 0.25
"""Part of the rows that is kept to choose by."""


def solve(
    model: nn.Module,
    x: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    starts: int = 4,
    grow: bool = True,
    steps: int = 100,
    seed: int = 0,
) -> Solution:
    """Fit a model to a table by second-order steps from many starts, and make its weights exact if it can be.

    The model is trained in place: it ends with the weights that were found, in its own precision. A quarter
    of the rows is not fitted to; it decides between starts, and between continuous and discrete weights.

    Args:
        model: a unit, a stack of units, or any small `nn.Module`, of at most 4,096 parameters.
        x: inputs, `n x in`: a tensor, an array, or a table with column names.
        y: targets, `n` or `n x out`.
        names: names of the columns of x, for what is said about them; by default its own, or x1, x2, …
        starts: starts drawn from the units' own initial weights.
        grow: begin with starts that are grown on the data (see docs/robustness.md).
        steps: steps at most of each stage of a member.
        seed: of the drawn starts, and of the rows that are kept.

    Returns:
        What was found: exact, discrete, approximate or failed, whether the data determine it, its cost.

    Example:
        >>> x = torch.rand(500, 10, dtype=torch.float64) * 4 - 2
        >>> unit = nalm.NMRU(10, 1)
        >>> solution = nalm.solve(unit, x, x[:, 3] / x[:, 7])
        >>> str(solution.found)
        'exact'
    """
    if not isinstance(model, nn.Module):
        raise ArgumentError("model", "an nn.Module", type(model).__name__)
    check_positive("steps", steps)
    check_seed(seed)
    if starts != 0 or not grow:
        check_positive("starts", starts)
    check_model(model)
    columns = _names(names, x)
    inputs, targets = _table("x", x), _table("y", y)
    _check_shapes(inputs, targets, columns)
    columns = columns or [f"x{k + 1}" for k in range(inputs.shape[-1])]
    check_rows(inputs, targets, columns)
    notes = column_notes(inputs, columns)
    flat = Flat(Models(model, torch.float64, torch.device("cpu")))
    flat.models.check_fit(inputs.shape[-1], targets.shape[-1])
    with torch.inference_mode(False), torch.no_grad(), one_thread():
        rows = _split(inputs, targets, seed)
        options: Any = {"starts": starts, "grow": grow, "steps": steps}
        result = solve_rows(flat, rows, seed, **options)
        result = without_outliers(flat, rows, seed, result, **options)
        discrete = result.verdict is not None
        unique = discrete and not notes and is_determined(flat, result.vector, inputs, targets)
        for name, value in flat.named(result.vector[None]).items():
            if name not in flat.models.frozen:
                model.get_parameter(name).copy_(value[0])
    said = () if result.verdict is None else result.verdict.notes
    return Solution(model, Found(result.cost.found), unique, (*notes, *said), result.cost)


def _names(names: Sequence[str] | None, x: Any) -> list[str] | None:
    if names is None and hasattr(x, "columns"):
        names = list(x.columns)
    return None if names is None else [str(name) for name in names]


def _table(argument: str, values: Any) -> Tensor:
    """A matrix in float64, from anything that holds numbers."""
    if isinstance(values, Tensor):
        if values.is_complex():
            raise ArgumentError(argument, "real numbers", str(values.dtype))
        made = values.detach().to("cpu", torch.float64)
    else:
        import numpy as np

        if np.iscomplexobj(values):
            raise ArgumentError(argument, "real numbers", "complex ones")
        try:
            made = torch.from_numpy(np.array(values, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise ArgumentError(argument, "a table of numbers", str(error)) from None
    if argument == "y" and made.dim() == 1:
        made = made[:, None]
    if made.dim() != 2:
        expected = "of shape n x in" if argument == "x" else "of shape n or n x out"
        raise ArgumentError(argument, expected, f"shape {tuple(made.shape)}")
    return made.contiguous()


def _check_shapes(x: Tensor, y: Tensor, columns: list[str] | None) -> None:
    if len(y) != len(x):
        raise ArgumentError("y", f"of {len(x)} rows like x", f"{len(y)}")
    if len(x) < 4:
        raise ArgumentError("x", "of four rows or more", f"{len(x)}")
    if columns is not None and len(columns) != x.shape[-1]:
        raise ArgumentError("names", f"{x.shape[-1]} names, one per column of x", f"{len(columns)}")


def _split(x: Tensor, y: Tensor, seed: int) -> Rows:
    """A quarter of the rows, shuffled by the seed, to choose by; the others to fit."""
    stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.TASK, 2)
    order = uniform(stream, counters(len(x)), torch.float64)[0].argsort()
    kept = max(1, round(_FRESH * len(x)))
    fresh, fit = order[:kept], order[kept:]
    return Rows((x[fit], y[fit]), (x[fresh], y[fresh]), (x, y))
