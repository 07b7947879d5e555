"""Errors in one sentence: the argument, what was expected, what was given, and the nearest valid choice."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class NalmError(Exception):
    """Base of every error raised on purpose by nalm."""

    def __reduce__(self) -> Any:
        """Pickle the text and attributes, not the constructor's arguments, so that it can cross processes."""
        return _remade, (type(self), self.args, vars(self))


def _remade(kind: type[NalmError], args: tuple[Any, ...], attributes: dict[str, Any]) -> NalmError:
    error = kind.__new__(kind)
    error.args = args
    vars(error).update(attributes)
    return error


class ArgumentError(NalmError, ValueError):
    """An argument was wrong; raised before any work is done."""

    def __init__(self, argument: str, expected: str, got: Any, hint: str = "") -> None:
        text = f"Argument `{argument}` must be {expected}, but got {got}."
        super().__init__(f"{text} {hint}".rstrip())

    def with_hint(self, hint: str) -> ArgumentError:
        """The same error with one more sentence."""
        again: ArgumentError = _remade(type(self), (f"{self} {hint}",), vars(self))  # type: ignore[assignment]
        return again


class FileError(ArgumentError):
    """A file that was given cannot be used: its name, what is wrong with it, and what to do."""

    def __init__(self, path: Path | str, what: str, hint: str = "") -> None:
        NalmError.__init__(self, f"{path} {what}. {hint}".rstrip())


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that looks most like `word`, or None if nothing is close."""
    known = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(str(word).lower(), known, n=1, cutoff=0.4)
    return known[found[0]] if found else None


def check_choice(argument: str, got: str, choices: Iterable[str]) -> str:
    """Return `got` if it is one of `choices`; otherwise raise with the nearest of them."""
    names = list(choices)
    if got in names:
        return got
    raise unknown(argument, got, names)


def unknown(argument: str, got: str, choices: Iterable[str]) -> ArgumentError:
    """The error for a name that is not among the choices, with the nearest of them."""
    names = list(choices)
    close = nearest(got, names)
    hint = f"Did you mean {close!r}?" if close else ""
    return ArgumentError(argument, "one of " + (", ".join(names) or "none"), repr(got), hint)


def check_above_zero(argument: str, got: Any) -> float:
    """Return `got` if it is a finite number above zero; otherwise raise."""
    if isinstance(got, bool) or not isinstance(got, (int, float)) or not 0 < got < float("inf"):
        raise ArgumentError(argument, "a number above 0", repr(got))
    return float(got)


def check_positive(argument: str, got: Any) -> int:
    """Return `got` if it is a positive whole number; otherwise raise."""
    if isinstance(got, bool) or not isinstance(got, int) or got < 1:
        raise ArgumentError(argument, "a positive whole number", repr(got))
    return got
