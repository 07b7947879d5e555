"""The units that are made of units, by their names on the command line."""

from __future__ import annotations

from nalm.models.composer import Composer
from nalm.models.composite import Composite
from nalm.models.frozen_selector import FrozenSelector
from nalm.models.gated import GatedPair
from nalm.models.hybrid import Hybrid
from nalm.models.selector import RecurrentSelector

COMPOSITES: dict[str, type[Composite]] = {
    kind.name: kind for kind in (GatedPair, RecurrentSelector, FrozenSelector, Hybrid, Composer)
}
"""Every composite by its name; `ModelSpec` looks here after `UNITS`."""
