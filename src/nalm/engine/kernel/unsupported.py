"""The error of a program that cannot be written as one loop."""

from __future__ import annotations


class Unsupported(Exception):
    """This program is left to torch's own compiler; the text says why."""
