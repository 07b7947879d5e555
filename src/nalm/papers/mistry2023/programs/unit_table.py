"""The key properties of eight units (thesis, table 2.1): 1 for a tick, 0 for an empty cell."""

from __future__ import annotations

from collections.abc import Callable

from nalm.papers.claims import Findings
from nalm.papers.entry import Measured
from nalm.papers.mistry2023.programs.unit_behaviour import (
    ARITHMETIC,
    BOOLEAN,
    CONTROL,
    POSITIVE,
    TRUTH,
    WHOLE,
    discretises,
    expresses,
    has_gate,
    reaches_powers,
    takes_negative,
)
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.units import GNALU, INALU, NALU, NAU, NLRL, NMU, NPU, NSR, Unit

UNITS: dict[str, type[Unit]] = {
    "NALU": NALU,
    "iNALU": INALU,
    "NAU": NAU,
    "NMU": NMU,
    "NPU": NPU,
    "G-NALU": GNALU,
    "NLRL": NLRL,
    "NSR": NSR,
}
PROPERTIES: dict[str, Callable[[type[Unit]], bool]] = {
    "addition": lambda kind: expresses(kind, [ARITHMETIC["addition"]], POSITIVE),
    "subtraction": lambda kind: expresses(kind, [ARITHMETIC["subtraction"]], POSITIVE),
    "multiplication": lambda kind: expresses(kind, [ARITHMETIC["multiplication"]], POSITIVE),
    "division": lambda kind: expresses(kind, [ARITHMETIC["division"]], POSITIVE),
    "arbitrary power": lambda kind: reaches_powers(kind, (-0.75, -0.5, 0.5, 0.75)),
    "arbitrary power beyond -1 and 1": lambda kind: reaches_powers(kind, (-2.5, -1.5, 1.5, 2.5)),
    "Boolean logic": lambda kind: expresses(kind, BOOLEAN, TRUTH),
    "control logic": lambda kind: expresses(kind, CONTROL, WHOLE),
    "gating": has_gate,
    "negative input": takes_negative,
    "discretisation": discretises,
}


def compute(scale: Scale) -> Measured:
    """Every property of every unit."""
    return Measured(
        Findings(
            {
                (name, column, "tick"): exact(holds(kind))
                for name, kind in UNITS.items()
                for column, holds in PROPERTIES.items()
            }
        )
    )
