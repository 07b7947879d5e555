"""Files of numbers, whatever their format: CSV, TSV, Parquet."""

from __future__ import annotations

from pathlib import Path

from nalm.data.columns import NumbersFile
from nalm.data.parquet_file import MAGIC as PARQUET
from nalm.data.parquet_file import ParquetFile
from nalm.data.text_file import TextFile
from nalm.errors import FileError

ENDINGS = (".csv", ".tsv", ".txt", ".parquet")
"""What the names of such files usually end in; what a file holds is told by its first bytes."""
_OTHERS = {
    b"PK\x03\x04": ("a spreadsheet or zip archive", "Save its table as CSV in UTF-8."),
    b"\xd0\xcf\x11\xe0": ("a spreadsheet", "Save its table as CSV in UTF-8."),
    b"\x1f\x8b": ("a gzip archive", "Unpack it first."),
    b"\xff\xfe": ("text in UTF-16", "Save it in UTF-8."),
    b"\xfe\xff": ("text in UTF-16", "Save it in UTF-8."),
}
"""Files that are often mistaken for text, by their first bytes: what they are, and what to do."""

_WHY = {FileNotFoundError: "does not exist", IsADirectoryError: "is a folder, not a file"}


def open_numbers(path: Path | str) -> NumbersFile:
    """Look into a file: the names of its columns, to be read by `read`."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise FileError(path, _WHY.get(type(error), f"cannot be read: {error.strerror}")) from None
    for magic, (what, hint) in _OTHERS.items():
        if start.startswith(magic):
            raise FileError(path, f"is {what}", hint)
    return ParquetFile(path) if start == PARQUET else TextFile(path)
