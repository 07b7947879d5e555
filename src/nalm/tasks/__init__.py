"""Tasks: data with a known answer and a known threshold."""

from nalm.tasks._base import OPERATIONS, Facet, Split, Task
from nalm.tasks._sampling import RangeTask
from nalm.tasks.arithmetic import ArithmeticDataset
from nalm.tasks.comparison import Comparison
from nalm.tasks.composition import Composition
from nalm.tasks.csv_file import read_csv
from nalm.tasks.digits.colour import MnistColour
from nalm.tasks.digits.comparison import MnistComparison
from nalm.tasks.digits.isolated import MnistIsolated
from nalm.tasks.digits.parity import MnistParity
from nalm.tasks.digits.sequential import MnistSequential
from nalm.tasks.digits.series import MnistSeries
from nalm.tasks.distributions import Benford, ByInput, TruncatedNormal
from nalm.tasks.environment import EnvironmentTask
from nalm.tasks.epidemic import Epidemic
from nalm.tasks.grid_world.task import GridWorld
from nalm.tasks.known_ranges import RANGE_SETS, RANGES, TEST_RANGES, expand_ranges
from nalm.tasks.language.task import Language
from nalm.tasks.lists import Lists
from nalm.tasks.logic import Logic
from nalm.tasks.measures import (
    MeanAbsoluteError,
    MeanSquaredError,
    Measure,
    Shortfall,
    WrongClass,
    WrongNumber,
)
from nalm.tasks.piecewise import Piecewise
from nalm.tasks.programs.task import Programs
from nalm.tasks.ranges import Distribution, Range
from nalm.tasks.reciprocal import Reciprocal
from nalm.tasks.shortest_paths import ShortestPaths
from nalm.tasks.single_module import SingleModule
from nalm.tasks.stored import StoredTask
from nalm.tasks.table import Table
from nalm.tasks.ten_parameters import TenParameters

_SYNTHETIC: tuple[type[RangeTask], ...] = (
    *(SingleModule, Reciprocal, TenParameters, ArithmeticDataset, Composition),
)
_DIGITS: tuple[type[Task], ...] = (
    *(MnistSequential, MnistSeries, MnistIsolated, MnistColour, MnistParity, MnistComparison),
)
_LOGIC: tuple[type[Task], ...] = (Logic, Comparison, Piecewise, Lists, ShortestPaths)
_OTHERS: tuple[type[Task], ...] = (Language, Programs, GridWorld, Epidemic)
TASKS: dict[str, type[Task]] = {task.name: task for task in (*_SYNTHETIC, *_DIGITS, *_LOGIC, *_OTHERS)}
"""Every task by its name on the command line."""
KINDS: dict[str, type[Task]] = {**TASKS, Table.name: Table}
"""Every kind of task by the name that runs are stored under."""

__all__ = [
    "KINDS", "OPERATIONS", "RANGES", "RANGE_SETS", "TASKS", "TEST_RANGES", "ArithmeticDataset", "Benford",
    "ByInput", "Comparison", "Composition", "Distribution", "EnvironmentTask", "Epidemic", "Facet",
    "GridWorld", "Language", "Lists", "Logic", "MeanAbsoluteError", "MeanSquaredError", "Measure",
    "MnistColour", "MnistComparison", "MnistIsolated", "MnistParity", "MnistSequential", "MnistSeries",
    "Piecewise", "Programs", "Range", "RangeTask", "Reciprocal", "ShortestPaths", "Shortfall",
    "SingleModule", "Split", "StoredTask", "Table", "Task", "TenParameters", "TruncatedNormal", "WrongClass",
    "WrongNumber", "expand_ranges", "read_csv",
]  # fmt: skip
