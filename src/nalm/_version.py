"""The version of the package, and of the numbers it produces."""

__version__ = "1.0.0"

NUMERICS_VERSION = 3
"""Raised whenever a change makes a run's numbers differ; guarded by golden results in the tests."""
