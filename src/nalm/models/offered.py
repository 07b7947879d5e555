"""What installed packages offer by name: entry points of a group, such as `nalm.units`.

Nothing is looked for until a name is asked for that is not one of ours, or a list of everything there is. A
package that does not import is told in a sentence that names it, and only where something of it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from nalm.errors import ArgumentError, NalmError
from nalm.models.patience import ESCAPES, limited

T = TypeVar("T")


def offered(group: str) -> dict[str, EntryPoint]:
    """All that packages offer in a group, by name; nothing of it is imported."""
    return {point.name: point for point in entry_points(group=group)}


def load(group: str, name: str, argument: str) -> Any:
    """What a package offers under this name, which must be one of `offered(group)`.

    Args:
        group: the group of entry points.
        name: the name in it.
        argument: what the name stands for, such as "unit".
    """
    points = [point for point in entry_points(group=group) if point.name == name]
    if len({point.value for point in points}) > 1:
        packages = " and ".join(sorted({package_of(point) for point in points}))
        raise ArgumentError(argument, "offered by one package", f"{name!r}, which {packages} offer")
    point = points[0]
    try:
        with limited(f"importing {point.value}"):
            return point.load()
    except ESCAPES as error:
        got = f"{type(error).__name__}: {error}, from {point.value} of the package {package_of(point)}"
        raise ArgumentError(argument, f"a {argument} that its package can import", got) from error


def load_each(names: Iterable[str], load_one: Callable[[str], T]) -> tuple[dict[str, T], list[str]]:
    """All that can be loaded, by name, and for the rest a sentence each."""
    found: dict[str, T] = {}
    faults = []
    for name in names:
        try:
            found[name] = load_one(name)
        except NalmError as error:
            faults.append(f"{name!r} is left out: {error}")
    return found, faults


def package_of(point: EntryPoint) -> str:
    """The name of the package that offers something."""
    return point.module.partition(".")[0] if point.dist is None else point.dist.name
