"""The units, one literature name a file, and how to find them by name."""

from __future__ import annotations

from nalm.errors import check_choice
from nalm.units._base import Unit, units_of
from nalm.units.nac import NAC
from nalm.units.nac_mul import NACMul
from nalm.units.nalu import NALU
from nalm.units.nau import NAU
from nalm.units.nmu import NMU
from nalm.units.real_npu import RealNPU

UNITS: dict[str, type[Unit]] = {unit.name: unit for unit in (NAC, NACMul, NALU, NAU, NMU, RealNPU)}
"""Every unit by its name on the command line."""


def unit_class(name: str) -> type[Unit]:
    """The unit of this name."""
    return UNITS[check_choice("unit", name, UNITS)]


__all__ = ["NAC", "NALU", "NAU", "NMU", "UNITS", "NACMul", "RealNPU", "Unit", "unit_class", "units_of"]
