"""The units, one file per name in the literature, and how to find them by name."""

from __future__ import annotations

from nalm.errors import check_choice
from nalm.units._base import Unit, outer_units, units_of
from nalm.units.gated_nau_nmu import GatedNAUNMU
from nalm.units.gnalu import GNALU
from nalm.units.inac import INAC
from nalm.units.inac_mul import INACMul
from nalm.units.inalu import INALU
from nalm.units.linear import Linear
from nalm.units.nac import NAC
from nalm.units.nac_mul import NACMul
from nalm.units.nalu import NALU
from nalm.units.nau import NAU
from nalm.units.nlrl import NLRL
from nalm.units.nmru import NMRU
from nalm.units.nmu import NMU
from nalm.units.npu import NPU
from nalm.units.nru import NRU
from nalm.units.nsr import NSR
from nalm.units.quadratic import Quadratic
from nalm.units.real_npu import RealNPU
from nalm.units.snmu import SNMU
from nalm.units.stgnmu import STGNMU

UNITS: dict[str, type[Unit]] = {
    unit.name: unit
    for unit in (
        NAC, NACMul, NALU, INAC, INACMul, INALU, GNALU, NAU, NMU, GatedNAUNMU, SNMU, STGNMU, RealNPU, NPU,
        NRU, NMRU, NLRL, NSR, Quadratic, Linear,
    )
}  # fmt: skip
"""Every unit by its name on the command line, in the order of the literature."""


def unit_class(name: str) -> type[Unit]:
    """The unit of this name."""
    return UNITS[check_choice("unit", name, UNITS)]


__all__ = [
    "GNALU", "INAC", "INALU", "NAC", "NALU", "NAU", "NLRL", "NMRU", "NMU", "NPU", "NRU", "NSR", "SNMU",
    "STGNMU", "UNITS", "GatedNAUNMU", "INACMul", "Linear", "NACMul", "Quadratic", "RealNPU", "Unit",
    "outer_units", "unit_class", "units_of",
]  # fmt: skip
