"""Files from the public mirrors of MNIST, with pooch: whole, checked and in place, or not there at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
"""Tried in this order."""
_SECONDS = 30
"""How long a server may be silent."""


class Check(Protocol):
    """A check of a downloaded file."""

    def __call__(self, path: Path, *, called: str) -> object:
        """Raise if the file at this path, from the address `called`, is not the right one."""


class Failure(Exception):
    """Why there is no file, in a few words that end without a full stop."""


def fetch(name: str, folder: Path, check: Check) -> Path:
    """Download a file into a folder from the first mirror that has it.

    Args:
        name: the file's name, in the folder and on the mirrors.
        folder: made if it is not there.
        check: raises if a file is not the right one; it is then thrown away.
    """
    retrieve = _retriever()
    failed: Exception | None = None
    for mirror in MIRRORS:
        try:
            return _from(mirror, name, folder, check, retrieve)
        except Exception as error:  # those of requests and urllib3 have no base in common with ours
            failed = error
    raise Failure(_first_line(failed)) from failed


def _from(mirror: str, name: str, folder: Path, check: Check, retrieve: Callable[..., Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="unfinished-") as temporary:
        made = Path(temporary) / name
        retrieve(url=mirror + name, output_file=str(made), pooch=None)
        check(made, called=mirror + name)
        os.replace(made, folder / name)  # whole or not at all, whatever interrupts it
    return folder / name


def _retriever() -> Callable[..., Any]:
    """Pooch's downloader itself: `pooch.retrieve` would advise users about hashes that are checked here."""
    try:
        import pooch
    except ImportError:
        raise Failure("this needs the package pooch (pip install 'nalm[data]')") from None
    downloader: Callable[..., Any] = pooch.HTTPDownloader(chunk_size=2**16, timeout=_SECONDS)
    return downloader


def _first_line(error: Exception | None) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")
