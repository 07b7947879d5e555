"""Training in a worker: errors, weights and formulas at each evaluation, and a verdict at the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from torch import nn

from nalm.errors import check_choice
from nalm.evaluate.outcome import Limits, Outcome, limits, outcome_of
from nalm.experiment.compute import ideal_errors
from nalm.experiment.rebuild import weights_of
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.models.patience import ESCAPES
from nalm.play.asked import MOST_STEPS, Training
from nalm.recipes.plain import in_words, to_plain
from nalm.report.short_formula import with_few_digits
from nalm.symbolic import Explanation, explain
from nalm.tasks import OPERATIONS, RANGES, SingleModule, Split
from nalm.trained import Logged
from nalm.training.result import TrainResult
from nalm.training.trainers import train_runs, trainer_of
from nalm.units import UNITS

Tell = Callable[[str, Any], None]
"""Sends a message of some kind to the page."""
POINTS = 100
"""How many evaluations are shown."""
PAUSE = 0.05
"""Seconds between two evaluations that people watch, at least."""
_READING = 0.03
"""Seconds that may be spent on formulas at an evaluation; one is always read."""


def choices() -> dict[str, Any]:
    """What can be chosen on the page: units with their operations and recipes, operations, ranges."""
    able = [unit for unit in UNITS.values() if set(unit.ops) & set(OPERATIONS)]
    return {
        "ops": list(OPERATIONS),
        "units": {unit.name: {"ops": list(unit.ops), "recipes": list(unit.all_recipes())} for unit in able},
        "ranges": {name: f"{train}, tested on {test}" for name, (train, test) in RANGES.items()},
    }


def train(asked: Training, tell: Tell) -> dict[str, Any]:
    """Train, and tell the page about every evaluation; the answer is what became of each seed."""
    case = _case(asked)
    seeds = list(range(asked.first_seed, asked.first_seed + asked.seeds))
    steps = case.recipe.iterations
    runs = [Run(case, seed) for seed in seeds]
    model = case.build()
    below = _limits(model, runs)
    tell(
        "begun", {"seeds": seeds, "steps": steps, "below": below[0].test if below[0] else None} | _about(case)
    )
    result = train_runs(
        model,
        [case.task] * len(seeds),
        [case.recipe] * len(seeds),
        seeds,
        log_interval=max(1, steps // POINTS),
        dtype=trainer_of(case.recipe).precision_of(case.task),
        initial=case.initial(seeds),
        on_logged=_Watcher(case, len(seeds), tell, PAUSE if asked.is_slowed else 0.0),
    )
    return {"runs": _judged(case, result, below), "seconds": result.seconds}


def _case(asked: Training) -> Case:
    """The case of a benchmark; only our own units and their own recipes can be asked for."""
    unit = UNITS[check_choice("unit", asked.unit, choices()["units"])]
    check_choice("recipe", asked.recipe, unit.all_recipes())
    task = SingleModule(asked.op, asked.range, asked.inputs)
    case = Case(ModelSpec.parse(f"{unit.name}@{asked.recipe}"), task, asked.steps, schedule="scaled")
    if case.recipe.iterations <= MOST_STEPS:
        return case
    return Case(case.model, task, MOST_STEPS, schedule="scaled")


def _about(case: Case) -> dict[str, str]:
    assert isinstance(case.task, SingleModule)
    task = f"trained on {case.task.train_range}, tested on {case.task.test_range}"
    return {"task": task, "recipe": in_words(to_plain(case.recipe))}


def _limits(model: nn.Module, runs: list[Run]) -> list[Limits | None]:
    """The limits of each run: the task's, or those of ideal weights on the run's own data."""
    ideal = ideal_errors(model, runs)
    errors = [ideal.get(run, {}) for run in runs]
    return [limits(run.case.task, e.get(Split.TEST), e.get(Split.VALIDATION)) for run, e in zip(runs, errors)]


class _Watcher:
    """Tells the page about evaluations.

    Args:
        case: what is trained.
        runs: how many seeds.
        tell: sends a message.
        pause: seconds between two messages, at least.
    """

    def __init__(self, case: Case, runs: int, tell: Tell, pause: float) -> None:
        self._case, self._runs, self._tell, self._pause = case, runs, tell, pause
        self._models: dict[int, nn.Module] = {}
        self._turn = 0
        self._last = 0.0

    def __call__(self, logged: Logged) -> None:
        """Send errors, weights and the formulas that there is time for."""
        runs = len(logged.test)
        weights = _weights(self._model(runs, logged))
        self._tell(
            "point",
            {
                "first": logged.first,
                "step": logged.step,
                "test": _finite(logged.test),
                "validation": _finite(logged.validation),
                "weights": weights,
                "formulas": self._formulas(runs, logged),
            },
        )
        time.sleep(max(0.0, self._last + self._pause - time.monotonic()))
        self._last = time.monotonic()

    def _model(self, runs: int, logged: Logged) -> nn.Module:
        """The models of these runs side by side, with their present parameters."""
        if runs not in self._models:
            self._models[runs] = self._case.build((runs,))
        self._models[runs].load_state_dict(logged.parameters)
        return self._models[runs]

    def _formulas(self, runs: int, logged: Logged) -> dict[int, dict[str, Any]]:
        """The formulas of some runs by index: of all in turn, as many as there is time for."""
        began, found = time.monotonic(), {}
        for _ in range(runs):
            run = self._turn % runs
            self._turn += 1
            model = self._case.build()
            model.load_state_dict({name: p[run] for name, p in logged.parameters.items()})
            found[run] = _formula(model)
            if time.monotonic() - began > _READING:
                break
        return found


def _weights(model: nn.Module) -> dict[str, list[list[float | None]]]:
    """Weights and gates by name, each as numbers per run."""
    return {
        name: [_finite(row) for row in value.reshape(len(value), -1)]
        for name, value in weights_of(model).items()
    }


def _formula(model: nn.Module) -> dict[str, Any]:
    """The formula of a model with few digits, and whether it is read from discrete weights."""
    try:
        found = explain(model)
    except ESCAPES as error:
        return {"text": f"no formula: {error}", "readable": False}
    assert isinstance(found, Explanation)
    text = with_few_digits(", ".join(map(str, found.expressions))) if found.expressions else str(found)
    return {"text": text, "readable": found.readable, "reading": found.reading}


def _judged(case: Case, result: TrainResult, below: list[Limits | None]) -> list[dict[str, Any]]:
    test, validation = result.chosen_error(Split.TEST), result.chosen_error(Split.VALIDATION)
    judged = []
    for run, limit in enumerate(below):
        errors, diverged = (float(validation[run]), float(test[run])), bool(result.diverged_at[run] >= 0)
        outcome = outcome_of(*errors, diverged, limit) if limit is not None else None
        solved = outcome is Outcome.SOLVED and limit is not None
        first = int((result.test[run] < limit.test).nonzero()[0, 0]) if solved and limit is not None else None
        judged.append(
            {
                "seed": int(result.seeds[run]),
                "outcome": None if outcome is None else str(outcome),
                "advice": "" if outcome is None else outcome.advice,
                "test": _number(errors[1]),
                "solved_at": None if first is None else int(result.steps[first]),
                "formula": _formula(result.model_of(run)),
            }
        )
    return judged


def _finite(values: Any) -> list[float | None]:
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
