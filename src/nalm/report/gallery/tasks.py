"""Tasks in words, for titles and sentences."""

from __future__ import annotations

from nalm.tasks import SingleModule

_SIGNS = {"add": "$x_1 + x_2$", "sub": "$x_1 - x_2$", "mul": "$x_1 x_2$", "div": "$x_1 / x_2$"}


def range_text(task: SingleModule) -> str:
    """The training range."""
    low, high = task.range.split(":")
    return f"U[{low}, {high})"


def task_text(task: SingleModule, *, plain: bool = False) -> str:
    """Operation and training range; plain text has no marks for formulas."""
    sign = _SIGNS[task.op]
    return f"{sign.replace('$', '').replace('_', '') if plain else sign} on {range_text(task)}"
