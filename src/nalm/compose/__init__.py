"""Models made of units."""

from nalm.compose.spec import ModelSpec

__all__ = ["ModelSpec"]
