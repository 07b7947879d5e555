"""Tasks: data with a known answer and a known threshold."""

from nalm.tasks._base import OPERATIONS, Split, Task
from nalm.tasks.arithmetic import ArithmeticDataset
from nalm.tasks.ranges import TEST_RANGES, Range
from nalm.tasks.single_module import SingleModule
from nalm.tasks.table import Table

TASKS: dict[str, type[Task]] = {task.name: task for task in (SingleModule, ArithmeticDataset)}
"""Every synthetic task by its name on the command line."""

__all__ = [
    "OPERATIONS", "TASKS", "TEST_RANGES", "ArithmeticDataset", "Range", "SingleModule", "Split", "Table",
    "Task",
]  # fmt: skip
