"""How many learnable parameters the units of division have (thesis, section 5.11), counted from the units."""

from __future__ import annotations

from nalm.papers.claims import Claim, Findings
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.units import NMRU, NRU, RealNPU, Unit

UNITS: dict[str, type[Unit]] = {"NRU": NRU, "Real NPU": RealNPU, "NMRU": NMRU}
SIZES = ((2, 1), (10, 1), (3, 4), (10, 5), (10, 50))
"""Inputs and outputs; the first two are those of the single module tasks."""


def count(kind: type[Unit], inputs: int, outputs: int) -> int:
    """The number of numbers that are learnt."""
    return sum(parameter.numel() for parameter in kind(inputs, outputs).parameters())


def column(inputs: int, outputs: int) -> str:
    """The name of a column."""
    return f"{inputs} inputs, {outputs} output{'s' if outputs > 1 else ''}"


def compute(scale: Scale) -> Measured:
    """The counts of all units at all sizes."""
    found = {
        (name, column(*size), "parameters"): exact(count(kind, *size))
        for name, kind in UNITS.items()
        for size in SIZES
    }
    return Measured(Findings(found))


def _of(f: Findings, row: str, size: tuple[int, int]) -> float:
    return f[row, column(*size), "parameters"].value or 0.0


def _excess(f: Findings, size: tuple[int, int]) -> float:
    return _of(f, "NMRU", size) - _of(f, "Real NPU", size)


CLAIMS = (
    Claim("NRU", "has the lowest count", lambda f: all(
        _of(f, "NRU", size) < min(_of(f, "Real NPU", size), _of(f, "NMRU", size)) for size in SIZES
    )),
    Claim("NMRU", "has more than the Real NPU, especially with many outputs",
          lambda f: 0 < _excess(f, (10, 5)) < _excess(f, (10, 50))),
)  # fmt: skip
