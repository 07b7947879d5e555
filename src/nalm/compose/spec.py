"""Models by name: `nmu`, `nalu(shared=false)`, a stack `nau+nmu`, a recipe `nmu@arithmetic`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from nalm.errors import ArgumentError, check_choice, check_positive, unknown
from nalm.training.recipe import Recipe
from nalm.units import Unit, unit_class

_UNIT = re.compile(
    r"(?P<name>[\w-]+)(?:@(?P<recipe>[\w-]+))?(?:\((?P<options>[^()]*)\))?(?:@(?P<late>[\w-]+))?"
)
_BETWEEN = re.compile(r"\+(?![^()]*\))")  # a plus outside brackets
_COMMON = ("in_features", "out_features", "batch_shape", "device", "dtype")


@dataclass(frozen=True)
class ModelSpec:
    """A stack of one unit or more, with the options of each and the name of a recipe.

    Attributes:
        units: the classes, first layer first.
        options: the options of each layer, as pairs of name and value.
        recipe: the name of the recipe, or None for the usual one.
    """

    units: tuple[type[Unit], ...]
    options: tuple[tuple[tuple[str, Any], ...], ...]
    recipe: str | None = None

    @classmethod
    def parse(cls, text: str) -> ModelSpec:
        """Read `name[@recipe][(option=value;…)]`, joined by `+` for a stack."""
        units, options, recipe = [], [], None
        for part in _BETWEEN.split(text):
            match = _UNIT.fullmatch(part.strip())
            if match is None:
                raise ArgumentError("unit", "name[@recipe][(option=value;…)], joined by +", repr(text))
            unit = unit_class(match["name"])
            units.append(unit)
            options.append(_options(unit, match["options"]))
            recipe = match["recipe"] or match["late"] or recipe
        if recipe is not None:
            check_choice("recipe", recipe, units[-1].recipes)
        return cls(tuple(units), tuple(options), recipe)

    def with_recipe(self, name: str | None) -> ModelSpec:
        """The same with this recipe, unless it names one itself."""
        if name is None or self.recipe is not None:
            return self
        return replace(self, recipe=check_choice("recipe", name, self.units[-1].recipes))

    def __str__(self) -> str:
        parts = []
        for layer, (unit, options) in enumerate(zip(self.units, self.options)):
            inner = ";".join(f"{name}={_show(value)}" for name, value in options)
            recipe = f"@{self.recipe}" if self.recipe and layer == len(self.units) - 1 else ""
            parts.append(unit.name + recipe + (f"({inner})" if inner else ""))
        return "+".join(parts)

    def build(
        self,
        in_features: int,
        out_features: int,
        *,
        hidden: int = 2,
        batch_shape: Sequence[int] = (),
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> nn.Module:
        """The model: a unit, or an `nn.Sequential` of units with `hidden` values between them."""
        check_positive("hidden", hidden)
        sizes = [in_features, *[hidden] * (len(self.units) - 1), out_features]
        common: dict[str, Any] = {"batch_shape": batch_shape, "device": device, "dtype": dtype}
        layers = [
            unit(before, after, **common, **dict(options))
            for unit, options, before, after in zip(self.units, self.options, sizes, sizes[1:])
        ]
        return layers[0] if len(layers) == 1 else nn.Sequential(*layers)

    @property
    def ops(self) -> tuple[str, ...]:
        """What the last unit, with its options, can express."""
        return self.units[-1](2, 1, **dict(self.options[-1])).ops

    @property
    def usual_recipe(self) -> str:
        """The published recipe: of the unit, or for a stack of its last unit on the arithmetic dataset."""
        stack = len(self.units) > 1 and "arithmetic" in self.units[-1].recipes
        return "arithmetic" if stack else "published"

    def make_recipe(self, op: str, inputs: int) -> Recipe:
        """The recipe that was named, or the usual one."""
        return self.units[-1].recipe(op, self.recipe or self.usual_recipe, inputs=inputs)


def _options(unit: type[Unit], text: str | None) -> tuple[tuple[str, Any], ...]:
    known = {
        name: parameter.default
        for name, parameter in inspect.signature(unit).parameters.items()
        if name not in _COMMON
    }
    options = []
    for item in filter(None, re.split("[;,]", text or "")):
        name, equals, value = item.partition("=")
        name = name.strip()
        if not equals:
            raise ArgumentError("option", "option=value", repr(item))
        if name not in known:
            raise unknown("option", name, known)
        options.append((name, _value(name, value.strip(), known[name])))
    return tuple(options)


def _value(name: str, text: str, default: Any) -> Any:
    """The value in the type of the option's default; a number where that is None."""
    if default is None:
        default = 0.0
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise ArgumentError(name, "true or false", repr(text))
        return text.lower() == "true"
    try:
        return type(default)(text)
    except ValueError:
        raise ArgumentError(name, f"of type {type(default).__name__}", repr(text)) from None


def _show(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
