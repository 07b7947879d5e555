"""Pictures of digits: MNIST from its four files, and digits that are drawn here; and files of numbers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nalm.data.digits import Digits, DigitSets, checksum_of, load_digits
    from nalm.data.idx import DataError

__all__ = ["DataError", "DigitSets", "Digits", "checksum_of", "load_digits"]


def __getattr__(name: str) -> Any:
    """Imported when it is first used: files of numbers are read without torch."""
    if name in __all__:
        return getattr(import_module("nalm.data.idx" if name == "DataError" else "nalm.data.digits"), name)
    raise AttributeError(f"module 'nalm.data' has no attribute {name!r}")
