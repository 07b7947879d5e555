"""Running products and sums of digits: tasks and changes that Madsen & Johansen and the thesis share."""

from __future__ import annotations

from dataclasses import replace

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.shared.digits import DigitRow
from nalm.papers.shared.series import Change
from nalm.recipes import InputIdentity, Recipe
from nalm.tasks import MnistSequential

SEEDS = 10
PRODUCT, SUM = MnistSequential("mul"), MnistSequential("add")
SOLVED = "solved"
"""The row of the reference, whose cell computes the operation itself."""
SOLVED_PRODUCT = DigitRow(SOLVED, "mul", PRODUCT)
PRODUCT_NOTE = (
    "Strengths of penalties are in neither paper (10, and 1 for R_z, are those of public programs); the mean "
    "in R_z is over batch and time, as the thesis has it, because the formula of Madsen & Johansen is "
    "garbled. A run succeeds at a length if its error there, at the step with the lowest validation error, "
    "is below the upper end of a one-sided 1 % t interval of the errors of the solved reference; solved at "
    "is the first logged step (an epoch) below it. Batches are drawn with replacement."
)


def without_r_z(recipe: Recipe) -> Recipe:
    """No penalty on what the unit reads."""
    kept = tuple(part for part in recipe.penalties if not isinstance(part, InputIdentity))
    return replace(recipe, penalties=kept)


def with_r_z(model: str, task: MnistSequential) -> Change:
    """The penalty on what the unit reads that another model has on this task."""

    def change(recipe: Recipe) -> Recipe:
        theirs = Case(ModelSpec.parse(model), task).named_recipe.penalties
        r_z = tuple(part for part in theirs if isinstance(part, InputIdentity))
        return replace(recipe, penalties=(*recipe.penalties, *r_z))

    return change
