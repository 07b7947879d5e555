"""The published recipe of a model on a task, which `nalm.train` and benchmarks share."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from nalm.models import ModelSpec
from nalm.models.many import is_native
from nalm.models.spec import usual_recipe
from nalm.recipes import InputIdentity, Recipe
from nalm.tasks import Task
from nalm.units import outer_units


def published_recipe(model: ModelSpec | nn.Module, task: Task) -> Recipe:
    """The recipe of the last unit, as the papers use it on the task.

    A model given by name may name its recipe. A stack on a synthetic task takes the recipe of the arithmetic
    dataset, if its last unit has one. A module without units takes plain Adam.
    """
    given = task.recipe_op
    if isinstance(model, ModelSpec):
        op = given or next(iter(model.layers[-1].ops or ()), "add")
        made = task.adapt(model.make_recipe(op, task.in_features, task.stack_recipe))
        return _for_inputs(made, model, task)
    units = outer_units(model)
    if not units:
        return task.adapt(Recipe())
    last = units[-1]
    able = last.ops or type(last).ops  # with some options the unit itself has none
    # Behind other layers a unit need not compute the operation of the task itself.
    op = given if given is not None and (given in able or is_native(model)) else able[0]
    name = usual_recipe(last.recipes, len(units), task.stack_recipe)
    return task.adapt(last.recipe(op, name, inputs=task.in_features))


def _for_inputs(recipe: Recipe, model: ModelSpec, task: Task) -> Recipe:
    """Without R_z, if the weights of the last unit are not made discrete: it is about weights of 1."""
    others = tuple(part for part in recipe.penalties if not isinstance(part, InputIdentity))
    if len(others) == len(recipe.penalties):
        return recipe
    units = outer_units(model.build(*task.unit_features))
    return recipe if units and units[-1].is_discretised else replace(recipe, penalties=others)
