"""Neural Arithmetic Logic Modules: units that learn exact arithmetic and can be read as formulas."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nalm._version import NUMERICS_VERSION, __version__
from nalm.errors import ArgumentError, NalmError
from nalm.helpers import attach, penalty, project_, snap_, sparsity_error
from nalm.units import (
    GNALU,
    INAC,
    INALU,
    NAC,
    NALU,
    NAU,
    NLRL,
    NMRU,
    NMU,
    NPU,
    NRU,
    NSR,
    SNMU,
    STGNMU,
    GatedNAUNMU,
    INACMul,
    Linear,
    NACMul,
    Quadratic,
    RealNPU,
    Unit,
)  # fmt: skip

if TYPE_CHECKING:
    from nalm.compose import CalcNet, Cell, ConfiguredByLSTM, Recurrent, Scaled
    from nalm.second_order.api import solve
    from nalm.second_order.solution import Solution
    from nalm.symbolic import Explanation, explain
    from nalm.training.api import train
    from nalm.training.recipe import Recipe

# Loaded when first used, so that `import nalm` costs little more than `import torch`.
_LATER = {
    "CalcNet": "nalm.compose",
    "Cell": "nalm.compose",
    "ConfiguredByLSTM": "nalm.compose",
    "Explanation": "nalm.symbolic",
    "Recipe": "nalm.training.recipe",
    "Recurrent": "nalm.compose",
    "Scaled": "nalm.compose",
    "Solution": "nalm.second_order.solution",
    "explain": "nalm.symbolic",
    "solve": "nalm.second_order.api",
    "train": "nalm.training.api",
}

__all__ = [
    "GNALU", "INAC", "INALU", "NAC", "NALU", "NAU", "NLRL", "NMRU", "NMU", "NPU", "NRU", "NSR",
    "NUMERICS_VERSION", "SNMU", "STGNMU", "ArgumentError", "CalcNet", "Cell", "ConfiguredByLSTM",
    "Explanation", "GatedNAUNMU", "INACMul", "Linear", "NACMul", "NalmError", "Quadratic", "RealNPU",
    "Recipe", "Recurrent", "Scaled", "Solution", "Unit", "__version__", "attach", "explain", "penalty",
    "project_", "snap_", "solve", "sparsity_error", "train",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("compose", "symbolic", "tasks", "testing"):
        return import_module(f"nalm.{name}")
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'nalm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
