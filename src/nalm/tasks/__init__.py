"""Tasks: data with a known answer and a known threshold."""

from nalm.tasks._base import OPERATIONS, Split, Task
from nalm.tasks._sampling import RangeTask
from nalm.tasks.arithmetic import ArithmeticDataset
from nalm.tasks.composition import Composition
from nalm.tasks.csv_file import read_csv
from nalm.tasks.distributions import Benford, ByInput, TruncatedNormal
from nalm.tasks.environment import EnvironmentTask
from nalm.tasks.known_ranges import RANGE_SETS, RANGES, TEST_RANGES, expand_ranges
from nalm.tasks.measures import (
    MeanAbsoluteError,
    MeanSquaredError,
    Measure,
    Shortfall,
    WrongClass,
    WrongNumber,
)
from nalm.tasks.ranges import Distribution, Range
from nalm.tasks.reciprocal import Reciprocal
from nalm.tasks.single_module import SingleModule
from nalm.tasks.stored import StoredTask
from nalm.tasks.table import Table
from nalm.tasks.ten_parameters import TenParameters

_ALL: tuple[type[RangeTask], ...] = (SingleModule, Reciprocal, TenParameters, ArithmeticDataset, Composition)
TASKS = {task.name: task for task in _ALL}
"""Every synthetic task by its name on the command line."""
KINDS: dict[str, type[Task]] = {**TASKS, Table.name: Table}
"""Every kind of task by the name that runs are stored under."""

__all__ = [
    "KINDS", "OPERATIONS", "RANGES", "RANGE_SETS", "TASKS", "TEST_RANGES", "ArithmeticDataset", "Benford",
    "ByInput", "Composition", "Distribution", "EnvironmentTask", "MeanAbsoluteError", "MeanSquaredError",
    "Measure", "Range", "RangeTask", "Reciprocal", "Shortfall", "SingleModule", "Split", "StoredTask",
    "Table", "Task", "TenParameters", "TruncatedNormal", "WrongClass", "WrongNumber", "expand_ranges",
    "read_csv",
]  # fmt: skip
