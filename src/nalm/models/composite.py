"""Units that are made of units: what all of them share.

A composite is a unit, so that it can be a layer of a stack, has a name on the command line, a model axis, a
recipe and a formula. Its parts are units too, and are found by `units_of` behind it. To count nothing twice:

- What is added up or listed is a composite's own: `weights()`, `gates()` and `penalty()` are about its own
  parameters only, and its parts answer for themselves. Recipes therefore act on parts as on any other unit.
- What may be done twice covers the parts: `project_()`, `snap_()` and `sparsity_error()`.
- `nalm.explain` sees one unit: `discrete()` and `decisive_mask()` hold the parts' values as `part.name`, and
  `decides` says which outputs of a part matter.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from nalm.errors import ArgumentError, check_choice
from nalm.models.composition_recipe import composition_recipe
from nalm.recipes import Recipe
from nalm.units import UNITS
from nalm.units._base import Unit

_ARITHMETIC = ("add", "sub", "mul", "div", "reciprocal")
PARTS = tuple(name for name, unit in UNITS.items() if set(unit.ops) <= set(_ARITHMETIC))
"""Names of the units that a composite can be made of: those that compute with numbers."""


def part_classes(units: str, count: int | None = None) -> list[type[Unit]]:
    """The classes of units that are written as `nau|nmu`."""
    expected = "names of units" if count is None else f"the names of {count} units"
    names = [name.strip() for name in units.split("|")] if isinstance(units, str) else []
    if not names or len(names) != (count or len(names)):
        raise ArgumentError("units", f"{expected}, joined by |, as in nau|nmu", repr(units))
    return [UNITS[check_choice("units", name, PARTS)] for name in names]


class Composite(Unit):
    """Base of units that are made of units. See the module's docstring."""

    papers: ClassVar[tuple[str, ...]] = ("mistry2023",)
    ops: tuple[str, ...] = ("add", "sub", "mul", "div")
    recipes: ClassVar[tuple[str, ...]] = ("published", "clipped")

    # -- parts -----------------------------------------------------------------------------------

    @property
    def parts(self) -> dict[str, Unit]:
        """The parts by name, in their order."""
        return {name: part for name, part in self.named_children() if isinstance(part, Unit)}

    def add_part(self, name: str, kind: type[Unit], in_features: int, out_features: int) -> None:
        """Add a part with the same model axis."""
        self.add_module(name, kind(in_features, out_features, batch_shape=self.batch_shape, **self._factory))

    def part_symbolic(
        self, name: str, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool
    ) -> list[Any]:
        """The outputs of a part as expressions, given the values of all parameters of the composite."""
        start = f"{name}."
        own = {key.removeprefix(start): value for key, value in values.items() if key.startswith(start)}
        return self.parts[name].symbolic(own, symbols, idealised)

    def decides(self, name: str) -> Tensor:
        """Which outputs of a part decide the result: bool, `*batch_shape x outputs of the part`."""
        part = self.parts[name]
        shape = (*self.batch_shape, part.out_features)
        return torch.ones(shape, dtype=torch.bool, device=next(self.parameters()).device)

    def deciding_parts(self) -> dict[str, Unit]:
        """The parts of which at least one output decides the result, in any of the models."""
        return {name: part for name, part in self.parts.items() if bool(self.decides(name).any())}

    # -- the contract of a unit ------------------------------------------------------------------

    @property
    def epsilon(self) -> float:
        """The largest epsilon of a part."""
        return max((float(getattr(part, "epsilon", 0.0)) for part in self.parts.values()), default=0.0)

    @property
    def reading(self) -> str:  # type: ignore[override]
        """The readings of the parts that decide the result."""
        return ", ".join(dict.fromkeys(p.reading for p in self.deciding_parts().values() if p.reading))

    def holds(self, x: Tensor) -> Tensor:
        """Rows for which the expressions of all deciding parts hold."""
        rows = torch.ones_like(x[..., 0], dtype=torch.bool)
        for part in self.deciding_parts().values():
            rows = rows & part.holds(x)
        return rows

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all parameters again, those of the parts included."""
        super().reset_parameters(generator)
        for part in self.parts.values():
            part.reset_parameters(generator)

    def weights(self) -> dict[str, Tensor]:
        """The composite's own weights: by default none."""
        return {}

    def discrete(self) -> dict[str, Tensor]:
        """Everything that should end up discrete, that of parts as `part.name`."""
        own = super().discrete()
        return own | {
            f"{name}.{key}": value
            for name, part in self.parts.items()
            for key, value in part.discrete().items()
        }

    def decisive_mask(self) -> dict[str, Tensor]:
        """For the parts' values: those that decide the part, where the part decides the result."""
        found = {}
        for name, part in self.parts.items():
            rows, known = self.decides(name), part.decisive_mask()
            for key, value in part.discrete().items():
                mask = _spread(rows, value, len(self.batch_shape))
                found[f"{name}.{key}"] = mask & known[key] if key in known else mask
        return found

    def readable(self) -> bool:
        """Whether the parts that decide the result are readable."""
        return all(part.readable() for part in self.deciding_parts().values())

    def project_(self) -> None:
        """Move the parameters of all parts back into their admissible sets."""
        for part in self.parts.values():
            part.project_()

    def snap_(self) -> None:
        """Move every weight and gate of the parts to the nearest discrete value."""
        for part in self.parts.values():
            part.snap_()

    def sparsity_error(self, *, gates: bool = False, biases: bool = False) -> Tensor:
        """Largest distance of a weight from {-1, 0, 1}, over the composite and its parts."""
        errors = [part.sparsity_error(gates=gates, biases=biases) for part in self.parts.values()]
        if self.weights() or (gates and self.gates()):
            errors.append(super().sparsity_error(gates=gates, biases=biases))
        return torch.stack(errors).amax(0)

    def parameter_values(self) -> dict[str, np.ndarray]:
        """The values of the parameters by name, those of parts as `part.name`."""
        own = {name: getattr(self, name).detach().cpu().double().numpy() for name in self.initialisers}
        return own | {
            f"{name}.{key}": value
            for name, part in self.parts.items()
            for key, value in part.parameter_values().items()
        }

    @classmethod
    def all_recipes(cls) -> tuple[str, ...]:
        """Its own recipes: second-order training cannot learn discrete choices."""
        return cls.recipes

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Thesis, table 7.2, for any parts; "clipped" is meant for iNAC and iMNAC."""
        return composition_recipe(UNITS, clipped=name == "clipped")

    def able_part(self, op: str) -> str:
        """The name of the first part that can express an operation."""
        return next(name for name, part in self.parts.items() if op in part.ops)

    def limit_ops(self) -> None:
        """Restrict `ops` to what a part can express."""
        able = {op for part in self.parts.values() for op in part.ops}
        self.ops = tuple(op for op in type(self).ops if op in able)


def _spread(rows: Tensor, value: Tensor, lead: int) -> Tensor:
    """A mask of outputs, `*batch x out`, for a value `*batch x out x ...`, or for one that outputs share."""
    if value.dim() > lead + 1 and value.shape[lead] == rows.shape[-1]:
        return rows.reshape(*rows.shape, *(1,) * (value.dim() - lead - 1)).expand_as(value)
    shared = rows.any(-1)
    return shared.reshape(*shared.shape, *(1,) * (value.dim() - lead)).expand_as(value)
