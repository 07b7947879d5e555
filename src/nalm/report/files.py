"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from nalm.errors import ArgumentError


def check_output(path: Path, store: Path | None = None, argument: str = "output") -> None:
    """Refuse to write to a folder, a device or the store itself."""
    if str(path) == "-" or (path.exists() and not path.is_file()):
        raise ArgumentError(argument, "the name of a file to write", repr(str(path)))
    if store is not None and path.resolve() == store.resolve():
        raise ArgumentError(argument, "a file other than the store", repr(str(path)))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary file to write to, which replaces `path` at the end; until then `path` is not changed."""
    target = path.resolve()  # so that a link remains a link
    part = target.with_name(target.name + ".part")
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
