"""Initialisation that is set by a recipe instead of by the unit."""

from __future__ import annotations

from dataclasses import dataclass, field

from nalm.errors import check_choice
from nalm.recipes.initialisers import SCHEMES, Initialiser
from nalm.recipes.subject import Subject


@dataclass(frozen=True)
class Initialise:
    """Draw a parameter by another scheme, in every unit or only in units named `unit`.

    The schemes are "nau", "xavier" and "torch", that of torch's linear layer. It applies where weights are
    drawn by seed, not where training continues from a module's present weights.
    """

    parameter: str = field(metadata={"shape": True})
    scheme: str = field(metadata={"shape": True})
    unit: str | None = field(default=None, metadata={"shape": True})

    def __post_init__(self) -> None:
        check_choice("scheme", self.scheme, SCHEMES)

    def initialiser(self, unit: Subject, parameter: str) -> Initialiser | None:
        """The initialiser for this parameter of a unit; None if the parameter keeps its own."""
        if parameter != self.parameter or self.unit not in (None, unit.name):
            return None
        return SCHEMES[self.scheme](unit.in_features, unit.out_features)
