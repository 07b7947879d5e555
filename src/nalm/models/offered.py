"""What installed packages offer by name: entry points of a group, such as `nalm.units`.

Packages are searched only for a name that nalm itself does not have, or to list everything. A package that
cannot be imported gives an error that names it, and only when something of it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from nalm.errors import ArgumentError, NalmError
from nalm.models.patience import ESCAPES, limited

T = TypeVar("T")


def offered(group: str) -> dict[str, EntryPoint]:
    """All entry points of a group by name, without importing them."""
    return {point.name: point for point in entry_points(group=group)}


def load(group: str, name: str, argument: str) -> Any:
    """Import what a package offers under this name, which must be one of `offered(group)`.

    Args:
        group: the group of entry points.
        name: the name in the group.
        argument: the argument that the name was given for, such as "unit".
    """
    points = [point for point in entry_points(group=group) if point.name == name]
    if len({point.value for point in points}) > 1:
        packages = " and ".join(sorted({package_of(point) for point in points}))
        got = f"{name!r}, which {packages} offer"
        raise ArgumentError(argument, "a name that only one package offers", got)
    point = points[0]
    try:
        with limited(f"importing {point.value}"):
            return point.load()
    except ESCAPES as error:
        got = f"{type(error).__name__}: {error}, from {point.value} of the package {package_of(point)}"
        raise ArgumentError(argument, f"a {argument} that its package can import", got) from error


def load_each(names: Iterable[str], load_one: Callable[[str], T]) -> tuple[dict[str, T], list[str]]:
    """Everything that can be loaded, by name, and one sentence for each name that cannot."""
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
