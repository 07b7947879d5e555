"""`nalm.attach`: projection, and with a known number of steps published recipes, in a user's own loop.

Every unit of a model follows its own recipe, on its own parameters: learning rate, clips, penalties with
their windows, clamps. If the loop has fewer steps than the recipe, it goes through the recipe faster.

Recipes are published for single units. In a stack most initial weights end in a local minimum with any
penalties. Units with a `batch_shape` are many starts side by side, which cost little more than one; `best`
returns the one that fits best.
"""

from __future__ import annotations

import copy
import functools
from typing import Any, overload

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from nalm.errors import ArgumentError, check_above_zero, check_positive, unknown
from nalm.models.many import apply
from nalm.recipes import Recipe
from nalm.recipes.centred import Centred
from nalm.recipes.gradients import Gradients
from nalm.recipes.optimisers import SGD, Adam, Optimiser, RMSProp
from nalm.recipes.schedules import StepState
from nalm.units._base import COMMON_RECIPES, Unit, outer_units, units_of
from nalm.units.helpers import checked_units, project_

FASTEST = 0.03
"""The largest learning rate that is set: larger ones (the NRU's 1) destabilise the other units of a model."""
JUDGED = 0.05
"""The last share of the steps: models side by side are compared by their mean loss in it."""

_SAME_KIND: dict[type[Optimiser], type[torch.optim.Optimizer]] = {
    Adam: torch.optim.Adam,
    SGD: torch.optim.SGD,
    RMSProp: torch.optim.RMSprop,
}
"""Optimisers whose learning rates mean the same; `torch.optim.AdamW` is an `Adam`."""


@overload
def attach(model: nn.Module, optimizer: torch.optim.Optimizer) -> RemovableHandle: ...


@overload
def attach(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    iterations: int,
    op: str | None = ...,
    recipe: str | None = ...,
    strength: float = ...,
) -> Attachment: ...


def attach(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    iterations: int | None = None,
    op: str | None = None,
    recipe: str | None = None,
    strength: float = 1.0,
) -> RemovableHandle | Attachment:
    """Project the model after every step of the optimiser; `.remove()` on the result ends it.

    With `iterations` every unit also follows its own published recipe: its learning rate, clips and clamps
    are applied in the optimiser's step, and `penalty(loss)` of the result must be added to the loss.

    Args:
        model: any module that contains units.
        optimizer: the optimiser that trains it.
        iterations: the number of steps of the loop.
        op: units that can express this operation take its recipe; others take that of their first operation.
        recipe: units that have a recipe of this name take it; others, and all by default, take "published".
        strength: factor of all penalties; in stacks a tenth works better than the published 1.
    """
    checked_units(model)
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise ArgumentError("optimizer", "a torch.optim.Optimizer", type(optimizer).__name__)
    if iterations is not None:
        return Attachment(model, optimizer, iterations, op, recipe, strength)
    if op is not None or recipe is not None or strength != 1:
        expected = "the number of steps if `op`, `recipe` or `strength` is given"
        raise ArgumentError("iterations", expected, "None")

    def after_step(*_: Any) -> None:
        project_(model)

    return optimizer.register_step_post_hook(after_step)


class Attachment:
    """Recipes applied to a model in a user's own loop, made by `nalm.attach(..., iterations=...)`.

    Add `penalty(loss)` to the loss; everything else happens in the optimiser's step. Learning rates are set
    once: to use others, change `optimizer.param_groups` afterwards. `print` it to see each unit's recipe.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        iterations: int,
        op: str | None = None,
        recipe: str | None = None,
        strength: float = 1.0,
    ) -> None:
        check_positive("iterations", iterations)
        if isinstance(optimizer, torch.optim.LBFGS):
            hint = "For second-order training, use `nalm.solve`."
            raise ArgumentError("optimizer", "one that takes one gradient per step", "LBFGS", hint)
        self.model, self.iterations = model, iterations
        self.strength = check_above_zero("strength", strength)
        trained = _trained_units(model, optimizer)
        _check_known("op", op, [known for unit in trained.values() for known in unit.ops])
        _check_known("recipe", recipe, [known for unit in trained.values() for known in unit.recipes])
        self._courses = [_Course(unit, name, op, recipe, iterations) for name, unit in trained.items()]
        for course in self._courses:
            course.set_rate(optimizer)
        self.step = 0
        self._judged: list[Tensor] = []
        self._hooks = [
            optimizer.register_step_pre_hook(self._before),
            optimizer.register_step_post_hook(self._after),
        ]

    def penalty(self, loss: Tensor) -> Tensor:
        """What the recipes add to this loss at the current step: one number, or one per model of a batch.

        The loss is only read: models side by side are compared by it, and some penalties wait for a low loss.
        """
        if not isinstance(loss, Tensor) or not loss.is_floating_point():
            raise ArgumentError("loss", "the loss of this step, a tensor", repr(loss))
        if int((1 - JUDGED) * self.iterations) <= self.step < self.iterations:
            self._judged.append(loss.detach())
        found = [course.penalty(self._done, loss.detach()) for course in self._courses]
        return self.strength * torch.stack(found).sum(0)

    def best(self) -> nn.Module:
        """A copy of the best of the models side by side, as an ordinary model without a batch shape.

        The best has the lowest mean of the losses given to `penalty` in the last steps, one per model.
        """
        losses = self.losses()
        at = torch.unravel_index(losses.argmin(), losses.shape)
        return one_of(self.model, tuple(int(index) for index in at))

    def losses(self) -> Tensor:
        """The mean loss of each model in the last steps; infinite if it is not finite."""
        shape = self._courses[0].unit.batch_shape
        losses = torch.stack(self._judged).mean(0) if self._judged else torch.empty(0)
        if not shape or losses.shape != shape:
            got = f"{tuple(losses.shape)} for models of shape {tuple(shape)}" if self._judged else "none yet"
            raise ArgumentError("loss", "one per model held side by side, until the last step", got)
        return losses.nan_to_num(torch.inf)

    def remove(self) -> None:
        """Detach the recipes from the optimiser's step. Learning rates stay as they are."""
        for hook in self._hooks:
            hook.remove()

    def state_dict(self) -> dict[str, Any]:
        """The state for a checkpoint, in addition to those of the model and the optimiser."""
        return {"step": self.step, "judged": list(self._judged)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume from a checkpoint."""
        self.step, self._judged = state["step"], list(state["judged"])

    def __str__(self) -> str:
        times = [] if self.strength == 1 else [f"all penalties are multiplied by {self.strength:g}"]
        return "\n".join([*map(str, self._courses), *times])

    @property
    def _done(self) -> float:
        """The share of the steps that is done, from 0 to 1."""
        return min(1.0, self.step / self.iterations)

    def _before(self, *_: Any) -> None:
        for course in self._courses:
            course.treat_gradients(self._done)

    def _after(self, *_: Any) -> None:
        for course in self._courses:
            course.clamp()
        self.step += 1


def _trained_units(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Unit]:
    """The units that the optimiser trains, by their paths in the model; frozen units are left out."""
    held = {id(p) for group in optimizer.param_groups for p in group["params"] if p.requires_grad}
    outer = set(outer_units(model))  # the recipe of a composite covers its parts
    units = {name: module for name, module in model.named_modules() if module in outer}
    trained = {name: unit for name, unit in units.items() if any(id(p) in held for p in unit.parameters())}
    if not trained:
        got = "one that has none of them" if units else "a model without units"
        raise ArgumentError("optimizer", "one that trains the parameters of the model's units", got)
    return trained


def _check_known(argument: str, got: str | None, known: list[str]) -> None:
    """Refuse an operation or a recipe that no unit of the model has."""
    usable = [name for name in dict.fromkeys(known) if name not in COMMON_RECIPES]
    if got is not None and got not in usable:
        raise unknown(argument, got, usable)


def one_of(model: nn.Module, index: tuple[int, ...]) -> nn.Module:
    """A copy of one of the models side by side; layers that are not units are the same in all of them."""
    single = copy.deepcopy(model)
    for unit in units_of(single):
        unit.batch_shape = torch.Size(())
        for name, held in list(unit.named_parameters(recurse=False)):
            setattr(unit, name, nn.Parameter(held.detach()[index].clone(), held.requires_grad))
    return single


class _Course:
    """The recipe of one unit in a loop of `steps` steps."""

    def __init__(self, unit: Unit, name: str, op: str | None, recipe: str | None, steps: int) -> None:
        self.unit, self.name, self.steps = unit, name or "the model", steps
        abilities = unit.ops or type(unit).ops  # with some options the unit itself has none
        self.op = op if op in abilities else abilities[0]
        chosen = recipe if recipe in unit.recipes else "published"
        self.recipe: Recipe = type(unit).recipe(self.op, chosen or "published", inputs=unit.in_features)
        self.rate: float | None = None
        self.skeleton = copy.deepcopy(unit)
        for part in units_of(self.skeleton):
            part.batch_shape = torch.Size((1,))  # only its length is used

    def set_rate(self, optimizer: torch.optim.Optimizer) -> None:
        """Give the unit its own group with the recipe's learning rate, if the optimiser is of its kind."""
        own = {id(p) for p in self.unit.parameters()}
        optimiser = self.recipe.optimiser
        plain = optimiser.optimiser if isinstance(optimiser, Centred) else optimiser
        if not isinstance(optimizer, _SAME_KIND.get(type(plain), ())):
            return
        for group in list(optimizer.param_groups):
            mine = [p for p in group["params"] if id(p) in own]
            if mine:
                self.rate = min(plain.learning_rate * self.recipe.iterations / self.steps, FASTEST)
                group["params"] = [p for p in group["params"] if id(p) not in own]
                others = {key: value for key, value in group.items() if key not in ("params", "initial_lr")}
                decay = {"weight_decay": 0.0} if "weight_decay" in group else {}
                optimizer.add_param_group(
                    {**others, **decay, "params": mine, "lr": self.rate, "unit": self.name}
                )
        optimizer.param_groups[:] = [group for group in optimizer.param_groups if group["params"]]

    def penalty(self, done: float, loss: Tensor) -> Tensor:
        """The recipe's penalties with their current strengths, shape `batch_shape`."""
        held = {name: self._with_axis(p) for name, p in self.unit.named_parameters()}
        first = next(iter(held.values()))
        total, now = first.new_zeros(len(first)), self._now(done, first, loss)
        for penalty in self.recipe.penalties:
            value = apply(self.skeleton, held, functools.partial(penalty, now=now))
            total = total if value is None else total + value
        return total.reshape(self.unit.batch_shape)

    def treat_gradients(self, done: float) -> None:
        """Apply the recipe's clips and noise to the gradients of this unit."""
        recipe, named = self.recipe, dict(self.unit.named_parameters())
        held: Gradients = {n: self._with_axis(p.grad) for n, p in named.items() if p.grad is not None}
        if not held:
            return
        for treat in (recipe.clip_norm, recipe.clip_value):
            held = treat(held) if treat is not None else held
        if recipe.gradient_noise is not None:
            first = next(iter(held.values()))
            now = self._now(done, first, first.new_tensor(torch.inf))
            held = recipe.gradient_noise(held, {n: torch.randn_like(g) for n, g in held.items()}, now)
        for name, gradient in held.items():
            named[name].grad.copy_(gradient.reshape(named[name].shape))  # type: ignore[union-attr]

    def clamp(self) -> None:
        """Apply the recipe's clamps."""
        for clamp in self.recipe.clamps:
            clamp(self.unit)

    def _with_axis(self, tensor: Tensor) -> Tensor:
        """A tensor of the unit with a single model axis in front, as the parts of recipes expect."""
        return tensor.reshape(self.unit.batch_shape.numel(), *tensor.shape[len(self.unit.batch_shape) :])

    def _now(self, done: float, like: Tensor, loss: Tensor) -> StepState:
        step = like.new_full((len(like),), done * self.recipe.iterations)
        return StepState(step, loss.to(like).reshape(-1).expand(len(like)))

    def __str__(self) -> str:
        rate = "your own learning rate" if self.rate is None else f"learning rate {self.rate:.3g}"
        part = self.recipe.iterations / self.steps
        speed = "" if part == 1 else f", its {self.recipe.iterations} steps in {self.steps}"
        held = [repr(p) for p in (*self.recipe.penalties, self.recipe.clip_norm, self.recipe.clip_value) if p]
        return (
            f"{self.name}: {self.unit.name} for {self.op}, {rate}{speed}: {', '.join(held) or 'no penalty'}"
        )
