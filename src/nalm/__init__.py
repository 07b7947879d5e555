"""Neural Arithmetic Logic Modules: units that learn exact arithmetic and can be read as formulas."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nalm._version import NUMERICS_VERSION, __version__

if TYPE_CHECKING:
    from nalm.discover.compose import Composed, compose
    from nalm.discover.dynamics import Dynamics, find_dynamics
    from nalm.discover.regressor import ArithmeticRegressor
    from nalm.errors import ArgumentError, NalmError
    from nalm.models import CalcNet, Cell, ConfiguredByLSTM, Recurrent, Scaled
    from nalm.recipes import Recipe
    from nalm.second_order.solution import Solution
    from nalm.symbolic import Explanation, explain
    from nalm.training.attach import attach
    from nalm.training.solve import solve
    from nalm.training.train import train
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
    from nalm.units.helpers import penalty, project_, snap_, sparsity_error

__all__ = [
    "GNALU", "INAC", "INALU", "NAC", "NALU", "NAU", "NLRL", "NMRU", "NMU", "NPU", "NRU", "NSR",
    "NUMERICS_VERSION", "SNMU", "STGNMU", "ArgumentError", "ArithmeticRegressor", "CalcNet", "Cell",
    "Composed",
    "ConfiguredByLSTM", "Dynamics", "Explanation", "GatedNAUNMU", "INACMul", "Linear", "NACMul", "NalmError",
    "Quadratic", "RealNPU", "Recipe", "Recurrent", "Scaled", "Solution", "Unit", "__version__", "attach",
    "compose", "explain", "find_dynamics", "penalty", "project_", "snap_", "solve", "sparsity_error", "train",
]  # fmt: skip

# Everything, torch included, is imported when it is first used: the command can then handle an interruption
# from its start, and a script that only asks for the version does not wait.
_PLACES = {
    "nalm.models": ("CalcNet", "Cell", "ConfiguredByLSTM", "Recurrent", "Scaled"),
    "nalm.errors": ("ArgumentError", "NalmError"),
    "nalm.discover.compose": ("Composed", "compose"),
    "nalm.discover.dynamics": ("Dynamics", "find_dynamics"),
    "nalm.discover.regressor": ("ArithmeticRegressor",),
    "nalm.training.attach": ("attach",),
    "nalm.units.helpers": ("penalty", "project_", "snap_", "sparsity_error"),
    "nalm.training.solve": ("solve",),
    "nalm.second_order.solution": ("Solution",),
    "nalm.symbolic": ("Explanation", "explain"),
    "nalm.training.train": ("train",),
    "nalm.recipes.recipe": ("Recipe",),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}
_MODULES = (
    "discover", "engine", "errors", "evaluate", "experiment", "models", "papers", "recipes", "report",
    "second_order", "streams", "symbolic", "tasks", "testing", "training", "units",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"nalm.{name}")
    if name in __all__:
        found = getattr(import_module(_PLACE_OF.get(name, "nalm.units")), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'nalm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
