"""A violation of the contract by a unit: where it is, and what to do about it."""

from __future__ import annotations

import inspect
import pickle
import traceback
from dataclasses import dataclass

from nalm.testing.hints import HINTS
from nalm.units import Unit


@dataclass(frozen=True)
class Fault:
    """A violation of the contract by a unit.

    Attributes:
        check: the name of the check that found it.
        what: what is wrong.
        place: file and line of the unit's own code that led to it, or of its class.
        hint: what to do about it.
    """

    check: str
    what: str
    place: str
    hint: str

    def __str__(self) -> str:
        return f"{self.place}: {self.check}: {self.what.rstrip('.')}. {self.hint}".rstrip()


def fault_of(unit: type[Unit], check: str, error: Exception) -> Fault:
    """The fault that a check found when it raised this error."""
    text = str(error).partition("\n")[0]
    what = (
        text
        if isinstance(error, (AssertionError, NotImplementedError)) and text
        else f"{type(error).__name__}: {text}"
    )
    hint = HINTS.get(check, "")
    if isinstance(error, NotImplementedError):
        hint = "The table in docs/units.md says what it must return."
    if isinstance(error, (pickle.PicklingError, AttributeError, TypeError)) and "pickle" in text:
        hint = "Use a function or class at the top level of a module instead of a lambda or a local class."
    return Fault(check, what, _place(unit, error), hint)


def _place(unit: type[Unit], error: Exception) -> str:
    """The last line in the unit's file that led to the error, or the line of its class."""
    try:
        file, line = inspect.getsourcefile(unit), inspect.getsourcelines(unit)[1]
    except (OSError, TypeError):
        return unit.__name__  # entered interactively, not in a file
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file and frame.lineno is not None:
            line = frame.lineno
    return f"{file}:{line}"
