"""Initial values that belong to a recipe instead of to a unit."""

from __future__ import annotations

from dataclasses import dataclass, field

from nalm.errors import check_choice
from nalm.units._base import Unit
from nalm.units._initialisers import SCHEMES, Initialiser


@dataclass(frozen=True)
class Initialise:
    """Draw the parameter of this name, in any unit, by another scheme: "nau" or "xavier"."""

    parameter: str = field(metadata={"shape": True})
    scheme: str = field(metadata={"shape": True})

    def __post_init__(self) -> None:
        check_choice("scheme", self.scheme, SCHEMES)

    def initialiser(self, unit: Unit) -> Initialiser:
        """The initialiser for a unit of this size."""
        return SCHEMES[self.scheme](unit.in_features, unit.out_features)
