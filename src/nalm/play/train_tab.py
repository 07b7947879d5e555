"""The tab on which units train: a form, Run and Stop, and one or two sides that move while they do."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from nalm.play.asked import (
    LARGEST_SEED,
    LEAST_INPUTS,
    MOST_INPUTS,
    MOST_SEEDS,
    MOST_STEPS,
    TRAINING_SECONDS,
    Training,
)
from nalm.play.play import Play
from nalm.play.running import Running
from nalm.play.side import Side

_OPS = {"add": "x1 + x2", "sub": "x1 - x2", "mul": "x1 * x2", "div": "x1 / x2"}
_HINT = (
    "Press Run: the unit sees examples of the operation on one range of numbers and is tested on another. "
    "The error falls, the weights move to whole values, and the formula appears."
)
_LIMITS = (
    f"At most {MOST_SEEDS} seeds, {MOST_INPUTS} inputs, {MOST_STEPS:,} steps and {TRAINING_SECONDS:.0f} s. "
    "Inputs beyond the first two do not matter, and the unit has to find that out."
)


def train_tab(play: Play) -> None:
    """Fill the tab."""
    ui.label(_HINT).classes("play-soft")
    _TrainTab(play)


class _TrainTab:
    """The form, and the sides that it fills."""

    def __init__(self, play: Play) -> None:
        usual = Training()
        with ui.element("div").classes("play-column"):
            self._make_form(play.choices, usual)
            self._running = Running(play, "Run", self._asked, self._on_message, self._draw, self._on_end)
            with ui.element("div").classes("play-sides"):
                self._sides = [
                    Side(play.choices, usual.op, title) for title in ("First recipe", "Second recipe")
                ]
        self._sides[1].choose("second-order")
        self._sides[1].card.bind_visibility_from(self._compare, "value")
        self._solved: dict[int, tuple[int, int]] = {}

    def _make_form(self, choices: dict[str, Any], usual: Training) -> None:
        ops = {op: f"{op}: {_OPS.get(op, op)}" for op in choices["ops"]}
        ranges = {
            name: words if words.startswith(f"{name},") else f"{name}: {words}"
            for name, words in choices["ranges"].items()
        }
        with ui.element("div").classes("play-form"):
            self._op = ui.select(ops, value=usual.op, label="Operation", on_change=self._offer_units)
            self._range = ui.select(ranges, value=usual.range, label="Range").classes("play-wide")
            self._inputs = _number("Inputs", usual.inputs, LEAST_INPUTS, MOST_INPUTS)
            self._seeds = _number("Seeds", usual.seeds, 1, MOST_SEEDS)
            self._first = _number("First seed", usual.first_seed, 0, LARGEST_SEED)
            self._steps = _number("Steps", None, 1, MOST_STEPS)
        self._steps.props('stack-label placeholder="those of the recipe"')
        for field in (self._op, self._range):
            field.props("outlined dense")
        with ui.element("div").classes("play-row"):
            self._compare = ui.switch("Two recipes side by side")
            self._slow = ui.switch("Slow down, to watch", value=usual.is_slowed)
        ui.label(_LIMITS).classes("play-soft play-recipe")

    def _offer_units(self) -> None:
        for side in self._sides:
            side.offer_units(str(self._op.value))

    def _asked(self) -> list[Training]:
        sides = self._sides if self._compare.value else self._sides[:1]
        self._solved = {}
        asked = [
            Training(
                unit=side.unit,
                recipe=side.recipe,
                op=self._op.value,
                range=self._range.value,
                inputs=_whole(self._inputs),
                seeds=_whole(self._seeds),
                first_seed=_whole(self._first),
                steps=None if self._steps.value is None else _whole(self._steps),
                is_slowed=bool(self._slow.value),
            )
            for side in sides
        ]
        for each in asked:
            each.check()
        for side in self._sides:
            side.clear()
        return asked

    def _on_message(self, index: int, kind: str, what: Any) -> None:
        side = self._sides[index]
        if kind == "begun":
            side.begin(what)
            self._running.say("Training …")
        elif kind == "point":
            side.add(what)
        elif kind == "done":
            self._solved[index] = (side.finish(what), len(what["runs"]))

    def _draw(self) -> None:
        for side in self._sides:
            side.draw()

    def _on_end(self) -> None:
        if not self._solved:
            return  # refused or stopped, which has been said
        several = len(self._solved) > 1
        said = [
            f"{f'{self._sides[k].unit}, {self._sides[k].recipe}: ' if several else ''}{n} of {of} solved"
            for k, (n, of) in sorted(self._solved.items())
        ]
        self._running.say(f"Finished: {'; '.join(said)}.")


def _number(label: str, value: int | None, least: int, most: int) -> ui.number:
    made = ui.number(label, value=value, min=least, max=most, step=1, precision=0)
    return made.props("outlined dense")


def _whole(field: ui.number) -> Any:
    """The number in a field as a whole number, or whatever else a browser has sent."""
    value = field.value
    return int(value) if isinstance(value, float) and value.is_integer() else value
