"""Thesis, table 7.3: the thirteen models of the two-step task, each with its recipe.

Deviations: what table 7.2 leaves open about penalties is decided in `nalm.models.composition_recipe`. MLP and
quadratic networks have no penalty. The MLP is drawn by torch's own initialisation. "Six layers" of 16 hidden
units are read as five hidden layers and the output's.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from torch import nn

from nalm.models import GivenModel, Model, ModelSpec
from nalm.models.baselines import MLP
from nalm.models.composition_recipe import composition_recipe
from nalm.recipes import Recipe

HIDDEN = 5
"""Values between two layers of units."""
_MLP = "mistry2023:7.2.1"


@dataclass(frozen=True)
class CompositionSetup:
    """A row of table 7.3.

    Attributes:
        row: its name, as printed.
        model: the model.
        units: names of the units that it is made of.
        hidden: number of values between its layers.
    """

    row: str
    model: Model
    units: tuple[str, ...] = ()
    hidden: int = HIDDEN

    @property
    def recipe(self) -> Recipe:
        """The recipe of table 7.2 for its units."""
        return composition_recipe(self.units, clipped="inac" in self.units)

    def build(self, in_features: int = 4) -> nn.Module:
        """The network, from the inputs a, b, c and d to one output."""
        return self.model.build(in_features, 1, hidden=self.hidden)


@functools.cache
def composition_setups() -> dict[str, CompositionSetup]:
    """All rows of table 7.3 by their names, in the order of the table."""
    mlp = GivenModel(_MLP, functools.partial(MLP, hidden=_MLP))
    quadratic = ModelSpec.parse("quadratic+quadratic")
    rows = [
        CompositionSetup("MLP (6L;16HU)", mlp),
        CompositionSetup("Quadratic (2L;5HU)", quadratic, ("quadratic",)),
        CompositionSetup("Quadratic (2L; 2HU)", quadratic, ("quadratic",), hidden=2),
        *_stacked_and_gated("iNAC", "iMNAC", "inac", "inac-mul"),
        *_stacked_and_gated("NAU", "Real NPU", "nau", "realnpu"),
        *_stacked_and_gated("NAU", "NMU", "nau", "nmu"),
        _recurrent("iNAC, iMNAC, iNAC, iMNAC", "inac", "inac-mul", "inac", "inac-mul"),
        _recurrent("NAU, Real NPU, NAU, Real NPU", "nau", "realnpu", "nau", "realnpu"),
        _recurrent("NAU, NAU, NMU", "nau", "nau", "nmu"),
        CompositionSetup("Recurrent Input with Frozen NALMs", ModelSpec.parse("frozen-selector(steps=2)")),
    ]
    return {setup.row: setup for setup in rows}


def _stacked_and_gated(sum_: str, product: str, *units: str) -> tuple[CompositionSetup, CompositionSetup]:
    """Four layers of two units in turn, and two layers of both with a gate between them."""
    stacked, layer = ModelSpec.parse("+".join(units * 2)), f"gated(units={'|'.join(units)})"
    space = " " if sum_ == "iNAC" else ""  # as it is printed
    names = f"{sum_},{product},{space}{sum_},{space}{product}"
    return (
        CompositionSetup(f"4L Stacked [{names}]", stacked, units),
        CompositionSetup(
            f"2L Stacked Gated [{sum_};{product}]",
            ModelSpec.parse(f"{layer}+{layer}"),
            units,
        ),
    )


def _recurrent(names: str, *units: str) -> CompositionSetup:
    """Two steps of the recurrent selector."""
    spec = ModelSpec.parse(f"selector(units={'|'.join(units)};steps=2)")
    return CompositionSetup(f"Recurrent Input with [{names}]", spec, units)
