"""Solutions to the NALU's shortcomings (thesis, table 2.2), each tried out on the unit that has it.

The table names a solution in words. Here a column is such a solution, as a question to a unit: 1 where the
table names it, 0 for the NALU, whose shortcoming it answers, and for units of an empty cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from nalm.papers.claims import Findings
from nalm.papers.entry import Measured
from nalm.papers.mistry2023.programs.unit_behaviour import (
    ARITHMETIC,
    SIGNED,
    clips_weights,
    discretises,
    expresses,
    has_gate,
    reaches_powers,
)
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.units import GNALU, INALU, NALU, NAU, NMU, NPU, RealNPU, Unit

Question = Callable[[type[Unit]], bool]


def gate_free_of_the_input(kind: type[Unit]) -> bool:
    """Whether there is a gate per output, and it does not depend on the input."""
    return any(gate.shape == (3,) for gate in kind(2, 3).gates().values())


def relevance_gate(kind: type[Unit]) -> bool:
    """Whether there is a gate per input."""
    return any(gate.shape == (2,) for gate in kind(2, 3).gates().values())


def separate_weights(kind: type[Unit]) -> bool:
    """Whether sum and product have a weight matrix each."""
    return len([value for value in kind(2, 3).weights().values() if value.shape == (3, 2)]) == 2


def penalised_gate(kind: type[Unit]) -> bool:
    """Whether a gate that is neither open nor closed is penalised."""
    unit = kind(2, 1, dtype=torch.float64)
    gate = dict(unit.named_parameters()).get("gate")
    if gate is None:
        return False
    with torch.no_grad():
        gate.zero_()
        undecided = unit.penalty()
        gate.fill_(-1e3)
        return bool(undecided > unit.penalty())


def linear_weights(kind: type[Unit]) -> bool:
    """Whether the weights are the parameters themselves."""
    unit = kind(2, 1)
    held = {id(parameter) for parameter in unit.parameters()}
    return all(id(value) in held for value in unit.weights().values())


def capped_products(kind: type[Unit]) -> bool:
    """Whether the product of huge inputs stays bounded."""
    unit = kind(2, 1, dtype=torch.float64)
    unit.ideal_("mul")
    return float(unit(torch.full((1, 2), 1e100, dtype=torch.float64)).detach()) < 1e100


def golden_ratio(kind: type[Unit]) -> bool:
    """Whether a raw weight of 1 becomes tanh to the base of the golden ratio."""
    unit = kind(1, 1, dtype=torch.float64)
    held = dict(unit.named_parameters())
    if not {"w_hat", "m_hat"} <= set(held):
        return False
    with torch.no_grad():
        held["w_hat"].fill_(1.0)
        held["m_hat"].fill_(1e3)
        square = ((1 + math.sqrt(5)) / 2) ** 2
        return math.isclose(float(unit.weights()["W"]), (square - 1) / (square + 1), rel_tol=1e-12)


def reinitialises(kind: type[Unit]) -> bool:
    """Whether its published training reinitialises a model that does not learn."""
    return kind.recipe(kind.ops[0]).reinitialise is not None


def clips_gradients(kind: type[Unit]) -> bool:
    """Whether its published training clips each gradient."""
    return kind.recipe(kind.ops[0]).clip_value is not None


SOLUTIONS: dict[str, tuple[Question, tuple[type[Unit], ...]]] = {
    "negative inputs and targets": (
        lambda kind: expresses(kind, [ARITHMETIC["multiplication"]], SIGNED),
        (NALU, NMU, INALU, NPU, RealNPU, GNALU),
    ),
    "no gate": (lambda kind: not has_gate(kind), (NALU, NAU, NMU)),
    "gate free of the input": (gate_free_of_the_input, (NALU, INALU, GNALU)),
    "separate weights": (separate_weights, (NALU, INALU, GNALU)),
    "penalty on the gate": (penalised_gate, (NALU, INALU, GNALU)),
    "reinitialisation": (reinitialises, (NALU, INALU, NPU, RealNPU, GNALU)),
    "discretising penalty": (discretises, (NALU, NAU, NMU, INALU, NPU, RealNPU, GNALU)),
    "clipped weights": (clips_weights, (NALU, NAU, NMU, GNALU)),
    "fractional weights": (lambda kind: reaches_powers(kind, (0.5,)), (NPU, RealNPU)),
    "linear weights": (linear_weights, (NALU, NAU, NMU)),
    "clipped product": (capped_products, (NALU, INALU)),
    "clipped gradient": (clips_gradients, (NALU, INALU)),
    "relevance gate": (relevance_gate, (NALU, NPU, RealNPU)),
    "golden ratio": (golden_ratio, (NALU, GNALU)),
}
"""Each solution: the question, and the units of the table that it is put to."""
NAMES: dict[type[Unit], str] = {
    NALU: "NALU",
    NAU: "NAU",
    NMU: "NMU",
    INALU: "iNALU",
    NPU: "NPU",
    RealNPU: "Real NPU",
    GNALU: "G-NALU",
}


def compute(scale: Scale) -> Measured:
    """The answer of each unit that a solution is asked of."""
    found = {
        (name, column, "tick"): exact(asked(kind))
        for kind, name in NAMES.items()
        for column, (asked, kinds) in SOLUTIONS.items()
        if kind in kinds
    }
    return Measured(Findings(found))
