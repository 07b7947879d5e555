"""Models by name: `nmu`, `nalu(shared=false)`, `nau+nmu`, `nmu@arithmetic`, a file `./mine.py:MyUnit`."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import nn

from nalm.errors import ArgumentError, NalmError, check_choice, check_positive, unknown
from nalm.models import user_units
from nalm.models.composites import COMPOSITES
from nalm.models.model import Model
from nalm.models.named_baselines import BASELINES
from nalm.models.patience import limited
from nalm.recipes import SECOND_ORDER, Recipe
from nalm.units import UNITS, Unit
from nalm.units._base import COMMON_RECIPES

_LAYER = re.compile(
    r"(?P<name>[^@()]+\.py:\w+|[\w-]+)"
    r"(?:@(?P<recipe>[\w-]+))?(?:\((?P<options>[^()]*)\))?(?:@(?P<late>[\w-]+))?"
)
_BETWEEN = re.compile(r"\+(?![^()]*\))")  # a plus outside brackets
_COMMON = ("in_features", "out_features", "batch_shape", "device", "dtype")


@dataclass(frozen=True)
class Layer:
    """One unit of a stack.

    Attributes:
        name: as it is written on the command line.
        kind: the class.
        options: pairs of name and value.
        origin: where the class comes from, if it is a user's own unit.
    """

    name: str
    kind: type[nn.Module]
    options: tuple[tuple[str, Any], ...] = ()
    origin: user_units.OwnUnit | None = None

    @property
    def is_unit(self) -> bool:
        """Whether it is a unit, not a plain module."""
        return issubclass(self.kind, Unit)

    @property
    def recipes(self) -> tuple[str, ...]:
        """The names of its recipes."""
        return self.kind.all_recipes() if issubclass(self.kind, Unit) else ("published", *COMMON_RECIPES)

    @functools.cached_property
    def ops(self) -> tuple[str, ...] | None:
        """The operations that it can express; None for a plain module, for which they are not known."""
        if self.name in BASELINES:
            known: tuple[str, ...] | None = getattr(self.kind, "ops", None)
            return known
        if not issubclass(self.kind, Unit) or not hasattr(self.kind, "ops"):
            return None
        # With some options a unit can express fewer.
        made = self._made(2, 1, **dict(self.options)) if self.options else self.kind
        return cast("Unit", made).ops

    def can(self, op: str) -> bool:
        """Whether it can express an operation; True if that is not known."""
        return self.ops is None or op in self.ops

    def recipe(self, op: str, name: str, inputs: int) -> Recipe:
        """The unit's recipe; plain Adam for a plain module."""
        if issubclass(self.kind, Unit) and hasattr(self.kind, "ops"):
            return self.kind.recipe(op, name, inputs=inputs)
        if name in COMMON_RECIPES:
            return SECOND_ORDER
        return self.kind.make_recipe(op, name, inputs) if issubclass(self.kind, Unit) else Recipe()

    def build(self, before: int, after: int, common: dict[str, Any]) -> nn.Module:
        """The module from `before` inputs to `after` outputs."""
        if issubclass(self.kind, Unit):
            return self._made(before, after, **common, **dict(self.options))
        if common["batch_shape"]:
            raise ArgumentError("batch_shape", "(), because a plain module has none", common["batch_shape"])
        module = self._made(before, after, **dict(self.options))
        return module.to(device=common["device"], dtype=common["dtype"])

    def _made(self, *sizes: int, **options: Any) -> nn.Module:
        if self.origin is None:
            return self.kind(*sizes, **options)
        try:
            return self.kind(*sizes, **options)
        except user_units.ESCAPES as error:
            expected = f"a class that can be made with ({', '.join(map(str, sizes))})"
            raise ArgumentError("unit", expected, user_units.failure(error, self.origin)) from error

    def identity(self) -> dict[str, Any]:
        """What determines its numbers; for a user's own unit the hash of its source, not the file's path."""
        # Lists, as a store returns them.
        options = {name: list(v) if isinstance(v, tuple) else v for name, v in self.options}
        if self.origin is None:
            return {"unit": self.name, "options": options}
        return {"unit": self.kind.__name__, "source": self.origin.source, "options": options}

    def __str__(self) -> str:
        return self.name + self.options_text

    @property
    def options_text(self) -> str:
        """The options in brackets."""
        inner = ";".join(f"{name}={_show(value)}" for name, value in self.options)
        return f"({inner})" if inner else ""


@dataclass(frozen=True)
class ModelSpec(Model):
    """A stack of one or more units, with the options of each and the name of a recipe.

    Attributes:
        layers: the units, first layer first.
        recipe: the name of the recipe, or None for the default.
    """

    layers: tuple[Layer, ...]
    recipe: str | None = None

    @classmethod
    def parse(cls, text: str, known: Mapping[str, user_units.OwnUnit] | None = None) -> ModelSpec:
        """Read `name[@recipe][(option=value;…)]`, joined by `+` for a stack.

        Args:
            text: the model as it is written on the command line.
            known: classes by their `file.py:Class` names, for files that may not exist here.
        """
        layers, recipe = [], None
        for part in _BETWEEN.split(text):
            match = _LAYER.fullmatch(part.strip())
            if match is None and part.strip().rstrip(":").endswith(".py"):
                raise ArgumentError("unit", "a file and a class in it, as in ./mine.py:MyUnit", repr(text))
            if match is None:
                raise ArgumentError("unit", "name[@recipe][(option=value;…)], joined by +", repr(text))
            found = _layer(match["name"], known or {})
            layers.append(replace(found, options=_options(found.kind, match["options"])))
            recipe = match["recipe"] or match["late"] or recipe
        if recipe is not None:
            check_choice("recipe", recipe, layers[-1].recipes)
        return cls(tuple(layers), recipe)

    def __reduce__(self) -> Any:
        """Pickle as text, with the sources of a user's own units, whose classes have no importable module."""
        origins = {layer.name: layer.origin for layer in self.layers if layer.origin is not None}
        sources = {name: (origin.source, origin.parts) for name, origin in origins.items() if origin.parts}
        return _parsed_again, (str(self), [layer.identity() for layer in self.layers], sources)

    def is_made_for(self, recipe: str | None) -> bool:
        """Whether this recipe is one of the last unit's own; True for None."""
        kind = self.layers[-1].kind
        return recipe is None or (issubclass(kind, Unit) and recipe in kind.recipes)

    def with_recipe(self, name: str | None) -> ModelSpec:
        """The same model with this recipe, unless it already names one."""
        if name is None or self.recipe is not None:
            return self
        return replace(self, recipe=check_choice("recipe", name, self.layers[-1].recipes))

    def __str__(self) -> str:
        *first, last = self.layers
        recipe = f"@{self.recipe}" if self.recipe else ""
        return "+".join([*map(str, first), last.name + recipe + last.options_text])

    @property
    def name(self) -> str:
        """The units alone, without options and recipe."""
        return "+".join(layer.name for layer in self.layers)

    @property
    def units(self) -> tuple[type[nn.Module], ...]:
        """The classes of the layers."""
        return tuple(layer.kind for layer in self.layers)

    @property
    def options(self) -> tuple[tuple[tuple[str, Any], ...], ...]:
        """The options of each layer."""
        return tuple(layer.options for layer in self.layers)

    @property
    def architecture(self) -> str:
        """Units and options, without the recipe."""
        return str(replace(self, recipe=None))

    @property
    def all_options(self) -> dict[str, Any]:
        """The options of a unit by name, those of a stack by layer and name."""
        prefixes = [""] if len(self.layers) == 1 else [f"{layer}." for layer in range(len(self.layers))]
        return {p + name: value for p, options in zip(prefixes, self.options) for name, value in options}

    @property
    def made_of_units(self) -> bool:  # type: ignore[override]
        """Whether all layers are units, not plain modules."""
        return all(layer.is_unit for layer in self.layers)

    @property
    def is_single_unit(self) -> bool:  # type: ignore[override]
        """Whether it is one unit."""
        return self.made_of_units and len(self.layers) == 1

    @property
    def is_users(self) -> bool:  # type: ignore[override]
        """Whether a layer is a user's own unit."""
        return any(layer.origin is not None for layer in self.layers)

    def identity(self) -> list[dict[str, Any]]:
        """What determines its numbers, layer by layer."""
        return [layer.identity() for layer in self.layers]

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
        sizes = [in_features, *[hidden] * (len(self.layers) - 1), out_features]
        common: dict[str, Any] = {"batch_shape": batch_shape, "device": device, "dtype": dtype}
        built = [layer.build(a, b, common) for layer, a, b in zip(self.layers, sizes, sizes[1:])]
        return built[0] if len(built) == 1 else nn.Sequential(*built)

    def check(self, in_features: int, out_features: int) -> None:
        """Try a user's own units on a few rows before any work; errors name the file and the line."""
        sizes = [in_features, *[2] * (len(self.layers) - 1), out_features]
        for layer, before, after in zip(self.layers, sizes, sizes[1:]):
            if layer.origin is not None:
                with limited(f"trying {layer}"):
                    built = layer.build(before, after, {"batch_shape": (), "device": None, "dtype": None})
                    user_units.try_out(built, layer.origin, before, after)

    def explain_failure(self, error: BaseException) -> BaseException:
        """The error itself, or one with file and line if the model has a user's own unit."""
        for layer in self.layers:
            if layer.origin is not None and not isinstance(error, NalmError):
                expected = "one that can be trained for many models at once"
                return ArgumentError("unit", expected, user_units.failure(error, layer.origin))
        return error

    def can(self, op: str) -> bool:
        """Whether the last unit, with its options, can express an operation."""
        return self.layers[-1].can(op)

    def recipe_name(self, of_stacks: str) -> str:
        """The recipe that was named, or the default of the last unit; see `usual_recipe`."""
        return self.recipe or usual_recipe(self.layers[-1].recipes, len(self.layers), of_stacks)

    def make_recipe(self, op: str, inputs: int, of_stacks: str = "arithmetic") -> Recipe:
        """The recipe that was named, or the default.

        Args:
            op: the operation.
            inputs: the number of inputs.
            of_stacks: the default recipe of a stack, if its last unit has it.
        """
        return self.layers[-1].recipe(op, self.recipe_name(of_stacks), inputs)


def usual_recipe(recipes: Sequence[str], layers: int, of_stacks: str) -> str:
    """The default recipe: for a stack `of_stacks`, if its last unit has it; otherwise "published"."""
    return of_stacks if layers > 1 and of_stacks in recipes else "published"


def _layer(name: str, known: Mapping[str, user_units.OwnUnit]) -> Layer:
    if name in known:
        return Layer(name, known[name].kind, origin=known[name])
    if user_units.is_file(name):
        found = user_units.load_file(name)
        return Layer(name, found.kind, origin=found)
    if name in UNITS:
        return Layer(name, UNITS[name])
    if name in COMPOSITES:
        return Layer(name, COMPOSITES[name])
    if name in BASELINES:
        return Layer(name, BASELINES[name])
    offered = user_units.offered_names()
    if name in offered:
        found = user_units.load_offered(name)
        return Layer(name, found.kind, origin=found)
    raise unknown("unit", name, [*UNITS, *COMPOSITES, *BASELINES, *offered])


def _parsed_again(
    text: str, identities: list[dict[str, Any]], sources: dict[str, tuple[str, tuple[user_units.Part, ...]]]
) -> ModelSpec:
    spec = ModelSpec.parse(
        text, {name: user_units.load_again(name, *source) for name, source in sources.items()}
    )
    if [layer.identity() for layer in spec.layers] != identities:
        raise NalmError(f"{text} differs here: its package must have the same version in all processes.")
    return spec


def _options(kind: type[nn.Module], text: str | None) -> tuple[tuple[str, Any], ...]:
    parameters = list(inspect.signature(kind).parameters.values())
    known = {p.name: p.default for p in parameters[2:] if p.name not in _COMMON}
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
    """The value, converted to the type of the option's default; a float if that is None."""
    if default is None or default is inspect.Parameter.empty:
        default = 0.0
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise ArgumentError(name, "true or false", repr(text))
        return text.lower() == "true"
    if isinstance(default, tuple):
        return _sizes(name, text)
    try:
        return type(default)(text)
    except ValueError:
        raise ArgumentError(name, f"of type {type(default).__name__}", repr(text)) from None


def _sizes(name: str, text: str) -> tuple[int, ...]:
    """Several whole numbers, as in 256x256."""
    try:
        return tuple(int(part) for part in text.split("x"))
    except ValueError:
        raise ArgumentError(name, "whole numbers joined by x, as in 256x256", repr(text)) from None


def _show(value: Any) -> str:
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
