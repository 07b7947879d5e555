"""Benchmarks: which runs there are, which are stored, and how the others are computed."""

from nalm.experiment.run import Case, Run
from nalm.experiment.store import Store, StoreError

__all__ = ["Case", "Run", "Store", "StoreError"]
