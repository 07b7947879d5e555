"""MNIST: where its four files are looked for, and the check that they are the right ones."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nalm.data import download
from nalm.data.idx import DataError, images_in, labels_in, raw_bytes
from nalm.folders import user_cache

VARIABLE = "NALM_DATA"
"""The environment variable that names the folder of the files, or the one above it."""
SUBFOLDER = "mnist"


class File(NamedTuple):
    """One of the files: its name when it is not gzipped, and the MD5 of what is in it then."""

    name: str
    md5: str


FILES = (
    File("train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb"),
    File("train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624"),
    File("t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea"),
    File("t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637"),
)
CHECKSUM = hashlib.sha256(" ".join(file.md5 for file in FILES).encode()).hexdigest()[:16]
"""Identifies the data, and needs no file."""


class Place(NamedTuple):
    """A folder to read from, and whether the user named it: then nothing is downloaded."""

    folder: Path
    chosen: bool


def place() -> Place:
    """The folder that NALM_DATA names; without it, one in the user's cache."""
    named = os.environ.get(VARIABLE)
    if named:
        return Place(Path(os.path.expanduser(named)).absolute(), chosen=True)
    return Place((user_cache() / SUBFOLDER).absolute(), chosen=False)


def load(where: Place) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Images and labels for training, then for testing: uint8, `n x 28 x 28` and `n`."""
    paths = _chosen_paths(where.folder) if where.chosen else _cached_paths(where.folder)
    train, train_labels, test, test_labels = (checked(path, file.md5) for path, file in zip(paths, FILES))
    return (
        images_in(train, paths[0]),
        labels_in(train_labels, paths[1]),
        images_in(test, paths[2]),
        labels_in(test_labels, paths[3]),
    )


def checked(path: Path, md5: str, called: str | None = None) -> bytes:
    """The unzipped bytes of a file, if they have this MD5; errors call it by its path, or `called`."""
    raw = raw_bytes(path, called)
    found = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    if found != md5:
        raise DataError(
            f"Expected a file with the MD5 {md5} (unzipped) at {called or path}, but found {found}."
        )
    return raw


def _chosen_paths(folder: Path) -> list[Path]:
    """The files in the folder that the user named, or in its subfolder; all of them or an error."""
    if not os.path.isdir(folder):
        raise DataError(
            f"Expected {VARIABLE} to name the folder of the MNIST files, but there is no folder {folder}."
        )
    paths = [_path_in((folder, folder / SUBFOLDER), file) for file in FILES]
    missing = [file.name for file, path in zip(FILES, paths) if path is None]
    if missing:
        raise DataError(
            f"Expected the four MNIST files (.gz or not) in {folder}, which {VARIABLE} names, or in its "
            f"subfolder {SUBFOLDER}, but did not find {', '.join(missing)}."
        )
    return [path for path in paths if path is not None]


def _cached_paths(folder: Path) -> list[Path]:
    """The files in the cache; those that are missing are downloaded first."""
    paths = {file: _path_in((folder,), file) for file in FILES}
    missing = [file for file, path in paths.items() if path is None]
    fetched = _fetched(missing, folder) if missing else {}
    return [path or fetched[file] for file, path in paths.items()]


def _fetched(missing: Sequence[File], folder: Path) -> dict[File, Path]:
    needed = ", ".join(f"{file.name} (MD5 when unzipped: {file.md5})" for file in missing)
    advice = (
        f"without a download, put {needed}, each with or without .gz, into a folder that the environment "
        f"variable {VARIABLE} names or into {folder}"
    )
    try:
        return {
            file: download.fetch(f"{file.name}.gz", folder, functools.partial(checked, md5=file.md5))
            for file in missing
        }
    except download.Failure as failure:
        raise DataError(f"MNIST could not be downloaded: {failure}; {advice}.") from failure


def _path_in(folders: Sequence[Path], file: File) -> Path | None:
    """The first of the paths at which the file may be that is there."""
    candidates = (folder / f"{file.name}{ending}" for folder in folders for ending in ("", ".gz"))
    return next((path for path in candidates if os.path.isfile(path)), None)
