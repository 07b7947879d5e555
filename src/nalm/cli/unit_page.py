"""Everything that is known about one unit, as plain data."""

from __future__ import annotations

import inspect
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import nn

from nalm.cli.catalogue import row_of
from nalm.errors import ArgumentError
from nalm.models import user_units
from nalm.models.composites import COMPOSITES
from nalm.models.named_baselines import BASELINES
from nalm.papers import PAPERS
from nalm.papers.unit_results import success_by_range
from nalm.recipes.sentence import in_a_sentence
from nalm.tasks import OPERATIONS, TEST_RANGES, SingleModule, Split
from nalm.units import UNITS, Unit, unit_class


def unit_page(name: str) -> dict[str, Any]:
    """Everything that is known about a unit: its equation, options, operations, recipes, papers.

    Args:
        name: a unit's name, or that of a user's own class, as in `./mine.py:MyUnit`. For a plain `nn.Module`
            neither operations nor recipes are known.
    """
    unit, found = _class_of(name)
    try:
        row = row_of(unit)
        recipes = _recipes(unit) if issubclass(unit, Unit) else {}
        in_words = _in_words(unit) if issubclass(unit, Unit) else {}
    except Exception as error:  # a user's `make_recipe` may raise anything
        if found is None:
            raise
        raise ArgumentError(
            "unit", "a unit whose recipes can be created", user_units.failure(error, found)
        ) from error
    published = recipes.pop("published", {})
    return {
        **row,
        "name": name,
        "source": None if found is None else str(found.file),
        "file": _file_of(unit),
        "description": inspect.getdoc(inspect.getmodule(unit)) or _own_words(unit),
        "options": _options(unit),
        "arguments": _own_words(unit),
        "published_recipes": published,
        "recipes_in_words": in_words,
        "other_recipes": recipes,
        "citations": [asdict(PAPERS[key]) for key in row["papers"] if key in PAPERS],
        "success": [] if found is not None else [each.row() for each in success_by_range(name)],
        "thresholds": {
            op: {r: SingleModule(op, r).threshold(Split.TEST) for r in TEST_RANGES}
            for op in row["ops"]
            if op in OPERATIONS
        },
    }


def _class_of(name: str) -> tuple[type[nn.Module], user_units.OwnUnit | None]:
    """The class of this name, and its source if it is a user's own or comes from another package."""
    if user_units.is_file(name):
        found = user_units.load_file(name)
    elif name not in UNITS and name in user_units.offered_names():
        found = user_units.load_offered(name)
    elif name in (others := {**COMPOSITES, **BASELINES}):
        return others[name], None
    else:
        return unit_class(name), None
    return found.kind, found


def _file_of(unit: type[nn.Module]) -> str | None:
    """The file of a class, from the folder of its package on; None for what is not in a package."""
    package = unit.__module__.partition(".")[0]
    folder = getattr(sys.modules.get(package), "__path__", None)
    file = inspect.getsourcefile(unit)
    if not folder or file is None:
        return None
    return Path(file).relative_to(Path(next(iter(folder))).parent).as_posix()


def _recipes(unit: type[Unit]) -> dict[str, dict[str, str]]:
    """All recipes of a unit in words, by name and operation."""
    ops = getattr(unit, "ops", ())
    return {name: {op: repr(unit.recipe(op, name)) for op in ops} for name in unit.all_recipes()}


def _in_words(unit: type[Unit]) -> dict[str, str]:
    """The published recipe of each operation in a sentence."""
    return {op: in_a_sentence(unit.recipe(op)) for op in getattr(unit, "ops", ())}


def _own_words(unit: type[nn.Module]) -> str:
    """The docstring of a class itself, not one inherited from torch."""
    return inspect.cleandoc(unit.__doc__) if unit.__doc__ and unit.__doc__ != nn.Module.__doc__ else ""


def _options(kind: type[nn.Module]) -> dict[str, Any]:
    """Options and their defaults, without sizes and options that all units have."""
    parameters = list(inspect.signature(kind).parameters.values())
    common = inspect.signature(Unit).parameters if issubclass(kind, Unit) else {}
    empty = inspect.Parameter.empty
    named = [p for p in parameters[2:] if p.name not in common and p.kind is not p.VAR_KEYWORD]
    return {p.name: None if p.default is empty else p.default for p in named}
