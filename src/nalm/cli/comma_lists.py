"""Options that are lists of items separated by commas."""

from __future__ import annotations

import csv
import re

from nalm.errors import ArgumentError


def items(argument: str, text: str | None) -> list[str] | None:
    """The items of a comma list; commas inside brackets do not separate items."""
    if text is None:
        return None
    found = [item.strip() for item in re.split(r",(?![^()]*\))", text)]
    if not all(found):
        raise ArgumentError(argument, "items separated by commas", repr(text))
    return found


def column_names(argument: str, text: str | None) -> list[str] | None:
    """The columns in a comma list; a name with a comma stands in double quotes, as in a CSV file."""
    if text is None:
        return None
    found = [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row]
    if not found or not all(found):
        raise ArgumentError(argument, "names of columns separated by commas", repr(text))
    return found


def numbers(argument: str, text: str | None) -> list[int] | None:
    """The items of a comma list of whole numbers."""
    found = items(argument, text)
    if found is not None and not all(item.isdigit() for item in found):
        raise ArgumentError(argument, "whole numbers separated by commas", repr(text))
    return None if found is None else [int(item) for item in found]
