"""Benchmarks: which runs there are, which are stored, and how the others are computed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nalm.experiment.run import Case, Run
    from nalm.experiment.store import Store, StoreError

__all__ = ["Case", "Run", "Store", "StoreError"]

# Imported when they are first used: a remembered answer needs the store, but neither cases nor torch.
_PLACE_OF = {"Case": "run", "Run": "run", "Store": "store", "StoreError": "store"}


def __getattr__(name: str) -> Any:
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'nalm.experiment' has no attribute {name!r}")
    return getattr(import_module(f"nalm.experiment.{_PLACE_OF[name]}"), name)
