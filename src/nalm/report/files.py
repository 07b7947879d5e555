"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from nalm.errors import ArgumentError


def check_output(path: Path, store: Path | None = None) -> None:
    """Refuse what cannot be written, or should not be: a folder, a device, the store itself."""
    if str(path) == "-" or (path.exists() and not path.is_file()):
        raise ArgumentError("output", "the name of a file to write", repr(str(path)))
    if store is not None and path.resolve() == store.resolve():
        raise ArgumentError("output", "another file than the store", repr(str(path)))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` at the end; until then what was there stays."""
    target = path.resolve()  # a link stays a link
    part = target.with_name(target.name + ".part")
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
