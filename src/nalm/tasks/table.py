"""A table of numbers as a task: the user's own inputs and targets."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nalm.errors import ArgumentError
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks._base import Numbers, Split, Task
from nalm.tasks.csv_file import CsvFile, read_csv
from nalm.tasks.stored import StoredTask
from nalm.tasks.tabular import check_finite, column_names, matrix

MOST_AT_ONCE = 10_000
"""The most rows to evaluate at once."""
_SERIALS = itertools.count()


class Table(Task):
    """Rows of inputs `n x in` and targets `n x out` (or `n`).

    Batches are drawn with replacement from the training rows. Some rows, chosen by a fixed shuffle, are kept
    for validation; test data, such as rows from another range, may be given.

    Args:
        x: inputs: a tensor, an array, a list of rows, or a DataFrame.
        y: targets, of the same kinds, or a Series.
        test: inputs and targets to test on; by default the validation rows.
        validation: the share of the rows kept for validation.
        dtype: precision of anything but a floating-point tensor; by default torch's default.
        label: the name of the table in tables and reports.

    Attributes:
        names: the names of the columns of x, or None.
    """

    name = "table"
    stack_recipe = "published"

    def __init__(
        self,
        x: Any,
        y: Any,
        test: tuple[Any, Any] | None = None,
        validation: float = 0.2,
        dtype: torch.dtype | None = None,
        label: str = "table",
    ) -> None:
        self.label = label
        self.names = column_names(x)
        x, y = _checked(x, y, self.names, dtype)
        if isinstance(validation, bool) or not isinstance(validation, (int, float)) or not 0 < validation < 1:
            raise ArgumentError("validation", "between 0 and 1", repr(validation))
        if len(x) < 2:
            raise ArgumentError("x", "two rows or more", f"{len(x)}")
        kept = max(1, round(validation * len(x)))
        if kept >= len(x):
            raise ArgumentError(
                "validation", f"small enough to leave training rows of {len(x)} rows", repr(validation)
            )
        stream = key(torch.zeros(1, dtype=torch.int32), Purpose.TASK, 0)
        order = uniform(stream, counters(len(x)), torch.float64)[0].argsort().to(x.device)
        self.serial = next(_SERIALS)
        self.in_features, self.out_features = x.shape[-1], y.shape[-1]
        self.rows: dict[str, tuple[Tensor, Tensor]] = {
            Split.TRAIN: (x[order[kept:]], y[order[kept:]]),
            Split.VALIDATION: (x[order[:kept]], y[order[:kept]]),
        }
        self.dtype = x.dtype
        self.rows[Split.TEST] = self.rows[Split.VALIDATION] if test is None else self._test_rows(test)

    def _test_rows(self, test: Any) -> tuple[Tensor, Tensor]:
        if not isinstance(test, (tuple, list)) or len(test) != 2:
            raise ArgumentError("test", "a tuple of inputs and targets", type(test).__name__)
        x, y = _checked(test[0], test[1], self.names, self.dtype)
        if x.dtype != self.dtype:
            raise ArgumentError("test", f"of dtype {self.dtype} like x", str(x.dtype))
        if not len(x) or (x.shape[-1], y.shape[-1]) != (self.in_features, self.out_features):
            expected = f"rows of {self.in_features} inputs and {self.out_features} targets"
            raise ArgumentError("test", expected, f"shapes {tuple(x.shape)} and {tuple(y.shape)}")
        return x, y

    @classmethod
    def from_csv(
        cls, path: Path | str, target: str | None = None, *, test: Path | str | None = None
    ) -> Table:
        """The table of a text file, in float64, labelled by file and target.

        Args:
            path: the file: columns split by commas, semicolons or tabs, with or without heading.
            target: the column to predict; by default the last.
            test: a file of the same columns to test on, such as rows from another range.
        """
        file = read_csv(path)
        names, x, y = file.split(target)
        further = None if test is None else _like(read_csv(test), file, target)
        told = file.names[-1] if target is None else target
        made = cls(x, y, further, dtype=torch.float64, label=f"{file.path.name}: {told}")
        made.names = names
        return made

    @classmethod
    def variants(cls) -> list[Task]:
        """A table has no variants: its rows must be given."""
        hint = "For a table, give its file: nalm bench data.csv --target COLUMN."
        raise ArgumentError("task", "one that can be made from its name alone", repr(cls.name), hint)

    @property
    def draws(self) -> int:
        """One number per sample: which row."""
        return 1

    def shape(self) -> Hashable:
        """The table itself: all runs share its rows."""
        return (type(self), self.serial)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """None: all runs see the same rows."""
        return {}

    def constants(self, split: str) -> dict[str, Tensor]:
        """The rows of the split."""
        x, y = self.rows[split]
        return {"x": x, "y": y}

    def samples(self, split: str) -> int:
        """The number of rows."""
        return len(self.rows[split][0])

    def block(self, split: str) -> int:
        """All rows at once, or the largest divisor of their number up to `MOST_AT_ONCE`."""
        rows = self.samples(split)
        return max(k for k in range(1, min(rows, MOST_AT_ONCE) + 1) if rows % k == 0)

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Rows drawn at random for training, in order for evaluation."""
        if "block" in numbers:
            size = u.shape[-1]
            index = numbers["block"][:, None].long() * size + torch.arange(size, device=u.device)
            index = index % len(numbers["x"])
        else:
            index = (u[:, 0] * len(numbers["x"])).long()
        return numbers["x"][index], numbers["y"][index]

    @functools.cached_property
    def _digest(self) -> str:
        """A hash of all rows, in their order, with their precision."""
        found = hashlib.sha256()
        for split, held in self.rows.items():
            for tensor in held:
                found.update(f"{split} {tensor.dtype} {tuple(tensor.shape)} ".encode())
                found.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        return found.hexdigest()

    def identity(self) -> dict[str, Any]:
        """A hash of the rows, and the numbers of inputs and outputs."""
        sizes = {"inputs": self.in_features, "outputs": self.out_features}
        # The names determine no number, but without them no formula could be written in them later.
        named = {} if self.names is None else {"columns": self.names}
        return {"name": self.name, "rows": self._digest, **sizes, **named}

    def labels(self) -> dict[str, str | int]:
        """The label of the table."""
        return {"table": self.label}

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> StoredTask:
        """The table of a stored run, without its rows, which the store does not have."""
        return StoredTask(cls.name, labels, identity, stack_recipe=cls.stack_recipe)


def _like(test: CsvFile, file: CsvFile, target: str | None) -> tuple[Any, Any]:
    """Inputs and targets of a second file, in the order of the columns of the first."""
    missing = [name for name in file.names if name not in test.names]
    if missing:
        got = f"{test.path}, which has no column {missing[0]!r}"
        raise ArgumentError("test", f"a file with the columns of {file.path}", got)
    order = [test.names.index(name) for name in file.names]
    _, x, y = CsvFile(test.path, file.names, test.values[:, order]).split(target)
    return x, y


def _checked(x: Any, y: Any, names: list[str] | None, dtype: torch.dtype | None) -> tuple[Tensor, Tensor]:
    x, y = (_in_precision(argument, values, dtype) for argument, values in (("x", x), ("y", y)))
    if x.dtype != y.dtype:
        raise ArgumentError("y", f"of dtype {x.dtype} like x", str(y.dtype))
    if x.dim() != 2:
        raise ArgumentError("x", "of shape n x in", f"shape {tuple(x.shape)}")
    if y.dim() not in (1, 2) or len(y) != len(x):
        raise ArgumentError("y", f"of shape {len(x)} or {len(x)} x out", f"shape {tuple(y.shape)}")
    y = y if y.dim() == 2 else y[:, None]
    check_finite("x", x, names)
    check_finite("y", y, None)
    return x, y


def _in_precision(argument: str, values: Any, dtype: torch.dtype | None) -> Tensor:
    """A floating-point tensor as it is; anything else converted to `dtype` or torch's default."""
    if isinstance(values, Tensor) and values.is_floating_point() and not values.is_meta:
        return values
    return matrix(argument, values).to(dtype or torch.get_default_dtype())
