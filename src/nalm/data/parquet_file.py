"""Numbers in Parquet files, by pyarrow."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nalm.data.columns import Columns, Growing, NoNumber, NumbersFile
from nalm.errors import FileError, NalmError

MAGIC = b"PAR1"
"""The first bytes of such a file."""


class ParquetFile(NumbersFile):
    """A Parquet file. Truth values, dates and nested columns are not numbers."""

    def __init__(self, path: Path) -> None:
        try:
            from pyarrow import parquet
        except ImportError:
            raise NalmError("Parquet needs the package pyarrow: pip install 'nalm[fit]'.") from None
        self.path = path
        with self._faults_told():
            self._file: Any = parquet.ParquetFile(path)
            self._schema = self._file.schema_arrow
        self.names = list(self._schema.names)
        self._check_names()
        if not self.names or not self._file.metadata.num_rows:
            raise FileError(path, "is empty")

    def read(self, names: Sequence[str]) -> Columns:
        """The numbers of some columns, in this order."""
        import pyarrow

        found = Growing(names)
        with self._faults_told():
            for block in self._file.iter_batches(columns=list(names)):
                for name in found.names:
                    column = block.column(block.schema.get_field_index(name))
                    if _is_number(column.type):
                        cast = column.cast(pyarrow.float64(), safe=False)
                        found.add(name, np.asarray(cast.to_numpy(zero_copy_only=False)))
                    else:
                        found.refuse(name, NoNumber(self.first_row, str(column[0])))
        return found.finish()

    def cells(self) -> Iterator[list[str]]:
        """Every row as text."""
        with self._faults_told():
            for block in self._file.iter_batches():
                columns = [
                    ["" if cell is None else str(cell) for cell in c.to_pylist()] for c in block.columns
                ]
                yield from map(list, zip(*columns))

    @contextlib.contextmanager
    def _faults_told(self) -> Iterator[None]:
        """Turn what pyarrow raises for a damaged file into a sentence."""
        import pyarrow

        try:
            yield
        except (OSError, pyarrow.ArrowException) as error:
            why = str(error).partition("\n")[0].rstrip(".")
            raise FileError(self.path, f"cannot be read as Parquet: {why}") from None


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_null))
