"""One side of a comparison: a unit and a recipe, its curves, and a line for each seed."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from nalm.play.charts import chart, draw, error_options, weight_options

_PREFERRED = ("nau", "nmu", "nmru")
"""Units to begin with, the first that can do the operation."""
_MOST_LINES = 24
"""How many weights are drawn."""


class Side:
    """One side of a comparison.

    Args:
        choices: what can be chosen.
        op: the operation that its unit must be able to do.
        title: what it is called.
    """

    def __init__(self, choices: dict[str, Any], op: str, title: str) -> None:
        self._choices = choices
        with ui.element("section").classes("play-card").props(f'aria-label="{title}"') as self.card:
            with ui.element("div").classes("play-pair"):
                self._unit = ui.select([], label="Unit", on_change=self._offer_recipes).props(
                    "outlined dense"
                )
                self._recipe = ui.select([], label="Recipe").props("outlined dense")
            self._about = ui.label().classes("play-soft play-recipe")
            self._seeds = ui.element("div").classes("play-seeds")
            with ui.element("div").classes("play-sides"):
                self._errors = chart("Test error over steps, one line per seed")
                with ui.element("div"):
                    self._weights = chart("Weights and gates of one seed over steps")
                    self._shown = ui.select(
                        [0], value=0, label="Weights of seed", on_change=self._draw_weights
                    )
                    self._shown.props("outlined dense")
        self.offer_units(op)
        self.clear()

    @property
    def unit(self) -> str:
        """The unit that is chosen."""
        return str(self._unit.value)

    @property
    def recipe(self) -> str:
        """The recipe that is chosen."""
        return str(self._recipe.value)

    def choose(self, recipe: str) -> None:
        """Choose a recipe, if the unit has it."""
        if recipe in self._choices["units"][self.unit]["recipes"]:
            self._recipe.set_value(recipe)

    def offer_units(self, op: str) -> None:
        """Offer the units that can do an operation; keep the one that is chosen if it can."""
        able = [name for name, unit in self._choices["units"].items() if op in unit["ops"]]
        chosen = next(name for name in (self._unit.value, *_PREFERRED, *able) if name in able)
        self._unit.set_options(able, value=chosen)
        self._offer_recipes()

    def _offer_recipes(self) -> None:
        recipes = self._choices["units"].get(self._unit.value, {"recipes": ["published"]})["recipes"]
        kept = self._recipe.value if self._recipe.value in recipes else recipes[0]
        self._recipe.set_options(recipes, value=kept)

    # -- what comes from a worker ----------------------------------------------------------------

    def clear(self) -> None:
        """Forget the last training."""
        self._below: float | None = None
        self._last: int | None = None
        self._tests: dict[int, list[tuple[float, float | None]]] = {}
        self._held: dict[int, dict[str, list[tuple[float, float | None]]]] = {}
        self._lines: list[_SeedLine] = []
        self._seeds.clear()
        self._about.set_text("")
        self._has_changed = True
        self.draw()

    def begin(self, what: dict[str, Any]) -> None:
        """Training begins: which seeds, how many steps, what is the threshold."""
        self.clear()
        self._below, self._last = what["below"], what["steps"]
        self._about.set_text(f"{what['steps']:,} steps, {what['task']}")
        self._tests = {seed: [] for seed in what["seeds"]}
        self._held = {seed: {} for seed in what["seeds"]}
        self._shown.set_options(what["seeds"], value=what["seeds"][0])
        with self._seeds:
            self._lines = [_SeedLine(seed) for seed in what["seeds"]]

    def add(self, what: dict[str, Any]) -> None:
        """Errors, weights and formulas at an evaluation."""
        self._has_changed = True
        seeds = list(self._tests)[what["first"] :]
        for run, (seed, error) in enumerate(zip(seeds, what["test"])):
            self._tests[seed].append((what["step"], error))
            for name, values in what["weights"].items():
                for label, value in _labelled(name, values[run]):
                    self._held[seed].setdefault(label, []).append((what["step"], value))
            self._lines[what["first"] + run].measure(what["step"], error)
        for run, formula in what["formulas"].items():
            self._lines[what["first"] + int(run)].read(formula)

    def finish(self, what: dict[str, Any]) -> int:
        """The verdicts; returns how many seeds are solved."""
        for line, run in zip(self._lines, what["runs"]):
            line.judge(run)
        return sum(run["outcome"] == "solved" for run in what["runs"])

    def draw(self) -> None:
        """Show what was added since the last time."""
        if not self._has_changed:
            return
        self._has_changed = False
        named = {f"seed {seed}": points for seed, points in self._tests.items()}
        draw(self._errors, error_options(named, self._below, self._last))
        self._draw_weights()

    def _draw_weights(self) -> None:
        held = self._held.get(self._shown.value, {})
        draw(self._weights, weight_options(dict(list(held.items())[:_MOST_LINES]), self._last))


class _SeedLine:
    """A seed: its formula, its error, and in the end the verdict."""

    def __init__(self, seed: int) -> None:
        with ui.element("div").classes("play-seed"):
            ui.label(f"seed {seed}").classes("play-soft")
            self._formula = ui.label("…").classes("play-formula")
            self._error = ui.label().classes("play-soft")
            self._verdict = ui.label().classes("play-advice")

    def measure(self, step: int, error: float | None) -> None:
        """The error at a step."""
        self._error.set_text(_written(error))

    def read(self, formula: dict[str, Any]) -> None:
        """The formula at the moment; one that is read from discrete weights stands out."""
        where = formula.get("reading")
        self._formula.set_text(
            f"{formula['text']} ({where})" if where and formula["readable"] else formula["text"]
        )
        self._formula.classes(
            add="play-read" if formula["readable"] else "", remove="" if formula["readable"] else "play-read"
        )

    def judge(self, run: dict[str, Any]) -> None:
        """The verdict at the end."""
        self.read(run["formula"])
        self._error.set_text(_written(run["test"]))
        if run["outcome"] is None:
            self._verdict.set_text("There is no threshold for this range, and therefore no verdict.")
            return
        when = f" at step {run['solved_at']:,}" if run["solved_at"] is not None else ""
        self._verdict.set_text(f"{run['outcome'].replace('_', ' ')}{when}. {run['advice']}")
        self._verdict.classes("play-good" if run["outcome"] == "solved" else "play-bad")


def _written(error: float | None) -> str:
    if error is None:
        return "not finite"
    return f"{error:.1e}" if error else "0"


def _labelled(name: str, values: list[float | None]) -> list[tuple[str, float | None]]:
    """The numbers of a weight with a name each."""
    if len(values) == 1:
        return [(name, values[0])]
    return [(f"{name}[{k}]", value) for k, value in enumerate(values)]
