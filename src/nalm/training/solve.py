"""`nalm.solve`: second-order training of a user's own model on a user's own table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_positive
from nalm.models.many import Models, check_changeable, check_weights
from nalm.models.spec import ModelSpec
from nalm.second_order.checks import check_model, column_notes
from nalm.second_order.consensus import without_outliers
from nalm.second_order.flat import Flat
from nalm.second_order.solution import Found, Solution
from nalm.second_order.solver import Rows, solve_rows
from nalm.second_order.verdict import is_determined
from nalm.streams import Purpose, check_seed, counters, key, uniform
from nalm.symbolic.stack import as_stack
from nalm.tasks.tabular import check_finite, column_names, matrix
from nalm.threads import one_thread
from nalm.units._remarks import forget_remarks_, remark_

_FRESH = 0.25
"""The share of the rows that is not fitted to but used to choose between solutions."""


def solve(
    model: nn.Module | str,
    x: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    hidden: int = 2,
    starts: int = 4,
    grow: bool = True,
    steps: int = 100,
    seed: int = 0,
) -> Solution:
    """Fit a model to a table by second-order steps from many starts, and make its weights exact if possible.

    The model is trained in place: it ends with the weights that were found, in its own precision. A quarter
    of the rows is not fitted to; it is used to choose between starts, and between continuous and discrete
    weights.

    Args:
        model: a unit, a stack of units, or any small `nn.Module`, of at most 4,096 parameters; or the name of
            one, such as "nau" or "nau+nmu", which is then made in float64 and returned as `solution.model`.
        x: inputs, `n x in`: a tensor, an array, a list of rows, or a DataFrame.
        y: targets, `n` or `n x out`, of the same kinds, or a Series.
        names: names of the columns of x, for the solution's text; by default those of the DataFrame, or x1,
            x2, …
        hidden: the number of values between the units of a stack given by name.
        starts: the number of starts drawn by the units' initialisers.
        grow: begin with starts that are grown on the data (see docs/robustness.md).
        steps: the most steps per stage of each start.
        seed: seed of the drawn starts, and of the choice of rows that are not fitted to.

    Returns:
        Whether the solution is exact, discrete, approximate or failed, whether the data determine it, and
        its cost.

    Example:
        >>> x = torch.rand(500, 10, dtype=torch.float64) * 4 - 2
        >>> unit = nalm.NMRU(10, 1)
        >>> solution = nalm.solve(unit, x, x[:, 3] / x[:, 7])
        >>> str(solution.found)
        'exact'
    """
    _check_options(starts, grow, steps, seed)
    with torch.inference_mode(False):  # inference tensors have no gradients
        inputs, targets, columns = _rows(x, y, names)
    model = _model(model, inputs.shape[-1], targets.shape[-1], hidden)
    forget_remarks_(model)
    with torch.inference_mode(False), torch.no_grad(), one_thread():
        notes = column_notes(inputs, columns)
        # A module that only passes rows from unit to unit is solved as a stack of its units.
        stack = as_stack(model) or model
        flat = Flat(Models(stack, torch.float64, torch.device("cpu")))
        flat.models.check_fit(inputs.shape[1:], targets.shape[1:])
        rows = _split(inputs, targets, seed)
        options: Any = {"starts": starts, "grow": grow, "steps": steps}
        result = solve_rows(flat, rows, seed, **options)
        result = without_outliers(flat, rows, seed, result, **options)
        discrete = result.verdict is not None
        unique = discrete and not notes and is_determined(flat, result.vector, inputs, targets)
    with torch.no_grad():
        for name, value in flat.named(result.vector[None]).items():
            if name not in flat.models.frozen:
                stack.get_parameter(name).copy_(value[0])
    said = () if result.verdict is None else result.verdict.notes
    found = Found(result.cost.found)
    solution = Solution(model, found, unique, (*notes, *said), result.cost, tuple(columns))
    if found is not Found.EXACT:
        reasons = "".join(f"; {note.rstrip('.')}" for note in said)
        remark_(model, f"`nalm.solve` found it {solution.headline}{reasons}")
    return solution


def _check_options(starts: int, grow: bool, steps: int, seed: int) -> None:
    check_positive("steps", steps)
    check_seed(seed)
    if not isinstance(grow, bool):
        raise ArgumentError("grow", "True or False", repr(grow))
    if starts != 0 or not grow:
        check_positive("starts", starts)


def _rows(x: Any, y: Any, names: Sequence[str] | None) -> tuple[Tensor, Tensor, list[str]]:
    """Inputs, targets, and the names of the columns of the inputs."""
    columns = column_names(x, names)
    inputs, targets = matrix("x", x), matrix("y", y)
    _check_shapes(inputs, targets, columns)
    columns = columns or [f"x{k + 1}" for k in range(inputs.shape[-1])]
    check_finite("x", inputs, columns)
    check_finite("y", targets, None)
    return inputs, targets, columns


def _model(model: nn.Module | str, inputs: int, outputs: int, hidden: int) -> nn.Module:
    """The model, made if it is given by name; one that cannot be solved is refused."""
    if isinstance(model, str):
        spec = ModelSpec.parse(model)
        if spec.recipe not in (None, "second-order"):
            hint = "To train by a recipe, use `nalm.train`."
            raise ArgumentError("model", "a name without a recipe", repr(model), hint)
        model = spec.build(inputs, outputs, hidden=check_positive("hidden", hidden), dtype=torch.float64)
    if not isinstance(model, nn.Module):
        raise ArgumentError("model", "an nn.Module or the name of one", type(model).__name__)
    check_weights(model)
    check_changeable(model)
    check_model(model)
    return model


def _check_shapes(x: Tensor, y: Tensor, columns: list[str] | None) -> None:
    if len(y) != len(x):
        raise ArgumentError("y", f"of {len(x)} rows like x", f"{len(y)} rows")
    if len(x) < 4:
        raise ArgumentError("x", "of four rows or more", f"{len(x)}")
    if columns is not None and len(columns) != x.shape[-1]:
        raise ArgumentError("names", f"{x.shape[-1]} names, one per column of x", f"{len(columns)}")


def _split(x: Tensor, y: Tensor, seed: int) -> Rows:
    """A quarter of the rows, shuffled by the seed, to choose by; the others to fit to."""
    stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.TASK, 2)
    order = uniform(stream, counters(len(x)), torch.float64)[0].argsort()
    kept = max(1, round(_FRESH * len(x)))
    fresh, fit = order[:kept], order[kept:]
    return Rows((x[fit], y[fit]), (x[fresh], y[fresh]), (x, y))
