"""Weights and gates of a unit over time, one line per seed."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from torch import Tensor

from nalm.evaluate.outcome import Outcome
from nalm.papers.figures import COLOURS
from nalm.recipes import Ramp, Recipe
from nalm.report.gallery.picture import Drawn, Kind, Studio, new_figure
from nalm.report.gallery.tasks import task_text
from nalm.tasks import SingleModule
from nalm.training.published import published_recipe
from nalm.training.result import TrainResult
from nalm.training.train import train
from nalm.units import unit_class

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEEDS = 8
CASES = {
    "nau": SingleModule("sub", "1:2"),
    "nmu": SingleModule("mul", "-2:-1"),
    "realnpu": SingleModule("mul", "1.1:1.2"),
    "inalu": SingleModule("mul", "-2:-1"),
}
"""What each unit learns: a sum that always succeeds, and products on which some seeds fail."""
_SOLVED, _FAILED = COLOURS[0], COLOURS[4]
_MOST_COLUMNS = 3


def followed(unit: str, result: TrainResult) -> dict[str, Tensor]:
    """Weights and gates over time by their name and number, each `runs x points`."""
    shape = next(iter(result.history.values())).shape[:2]
    held = unit_class(unit)(2, 1, batch_shape=shape)
    held.load_state_dict(result.history)
    found = {}
    for name, values in held.discrete().items():
        flat = values.detach().flatten(2)
        for k in range(flat.shape[-1]):
            found[f"{name}[{k + 1}]" if flat.shape[-1] > 1 else name] = flat[..., k]
    return found


def draw(unit: str, studio: Studio, *, seeds: int = SEEDS, steps: int | None = None) -> Drawn:
    """The weights and gates of a unit in some runs of its published recipe."""
    task = CASES[unit]
    result = train(unit, task, seeds=seeds, iterations=steps)
    solved = [outcome is Outcome.SOLVED for outcome in result.outcomes()]
    values = followed(unit, result)
    columns = 2 if len(values) == 4 else min(_MOST_COLUMNS, len(values))
    rows = math.ceil(len(values) / columns)
    figure = new_figure(1.0 + 3.0 * columns, 1.3 + 2.3 * rows)
    axes = list(figure.subplots(rows, columns, squeeze=False, sharex=True).flat)
    window = _window(published_recipe(unit_class(unit)(2, 1), task), result)
    for axis, (name, curves) in zip(axes, values.items()):
        _panel(axis, name, result.history_steps, curves, solved, window)
    for axis in axes[len(values) :]:
        axis.remove()
    _legend(figure, window)
    figure.suptitle(f"{unit} learns {task_text(task)}: solved by {sum(solved)} of {seeds} seeds", fontsize=11)
    return Drawn(
        figure, unit, _sentence(unit, task, solved), f"nalm gallery --only weights-{unit}", vector=True
    )


def _panel(
    axis: Axes, name: str, steps: Tensor, curves: Tensor, solved: list[bool], window: Ramp | None
) -> None:
    for curve, right in zip(curves, solved):
        axis.plot(steps / 1000, curve, color=_SOLVED if right else _FAILED, linestyle="-" if right else "--",
                  linewidth=1.3, alpha=0.85)  # fmt: skip
    if window is not None:
        axis.axvspan(window.start / 1000, window.end / 1000, color="0.92", zorder=0)
    for value in (-1, 0, 1):
        if curves.min() - 0.2 <= value <= curves.max() + 0.2:
            axis.axhline(value, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    axis.set_title(name, fontsize=10)
    axis.set_xlabel("thousand steps", fontsize=9)
    axis.tick_params(labelsize=8, labelbottom=True)
    axis.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, window: Ramp | None) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    made: list[Line2D | Patch] = [
        Line2D([], [], color=_SOLVED, label="a seed that solves it"),
        Line2D([], [], color=_FAILED, linestyle="--", label="a seed that does not"),
    ]
    if window is not None:
        made.append(Patch(color="0.92", label="the penalty grows"))
    figure.legend(handles=made, loc="outside lower center", ncols=3, frameon=False, fontsize=9)


def _window(recipe: Recipe, result: TrainResult) -> Ramp | None:
    """The steps in which a penalty grows, as in the recipe; shortened with it if it was."""
    share = float(result.steps[-1]) / recipe.iterations
    for penalty in recipe.penalties:
        schedule = getattr(penalty, "schedule", None)
        if isinstance(schedule, Ramp):
            return Ramp(schedule.start * min(1.0, share), schedule.end * min(1.0, share))
    return None


def _sentence(unit: str, task: SingleModule, solved: list[bool]) -> str:
    gates = " and gates" if unit_class(unit)(2, 1).gates() else ""
    return (
        f"The weights{gates} of {len(solved)} seeds of the published recipe over time; "
        f"{task_text(task, plain=True)} is solved by {sum(solved)} of them."
    )


KIND = Kind(
    "weights",
    "Weights and gates over time",
    "What training does to everything of a unit that should end up discrete.",
    {f"weights-{unit}": functools.partial(draw, unit) for unit in CASES},
)
