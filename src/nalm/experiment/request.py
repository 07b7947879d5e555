"""What a benchmark is asked, as plain data: the name under which the store remembers its answer.

Nothing here imports torch: a remembered answer is found by these words alone.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from nalm._version import NUMERICS_VERSION, __version__

_PACKAGE = Path(__file__).parents[1]
_COMPUTING = ("numpy", "scipy", "torch")
"""The packages that thresholds and intervals are computed with."""


@dataclass(frozen=True)
class Request:
    """The arguments of a benchmark that determine its answer; None stands for the default of the task.

    Attributes:
        task: the name of a task, or a file of numbers.
        units: models as on the command line.
        op: operations.
        ranges: names of ranges or of sets of them, or `train=>test`.
        inputs: the number of inputs.
        seeds: the number of seeds.
        scale: how much of the papers' protocol.
        iterations: the number of steps.
        recipe: the recipe of models that name none.
        schedule: what fewer steps than the recipe's do to its schedules.
        hidden: the number of values between the units of a stack.
        threshold: the error below which a run is solved.
        published: whether to add the papers' numbers; None if a unit is the user's own.
        code: everything that turns arguments and stored curves into an answer, as it was when this was made:
            before anything else is imported, because imported code does not change when its files do.
    """

    task: str
    units: Sequence[str] | None = None
    op: Sequence[str] | None = None
    ranges: Sequence[str] | None = None
    inputs: int | None = None
    seeds: int | None = None
    scale: str = "paper"
    iterations: int | None = None
    recipe: str | None = None
    schedule: str = "scaled"
    hidden: int = 2
    threshold: float | None = None
    published: bool | None = None
    code: Mapping[str, str | int] = field(default_factory=lambda: _code())

    @functools.cached_property
    def name(self) -> str:
        """A hash of the arguments and the code: equal names and equal runs mean equal answers."""
        # Answers are remembered only if no unit is the user's own: then None means no.
        asked = asdict(replace(self, published=bool(self.published)))
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _code() -> dict[str, str | int]:
    return {
        "nalm": __version__,
        "numerics": NUMERICS_VERSION,
        "files": _digest(_PACKAGE),
        "python": platform.python_version(),
        **{package: _version_of(package) for package in _COMPUTING},
    }


def _digest(folder: Path) -> str:
    """A hash of the names and contents of all files.

    Reading them takes a hundredth of a second, and their times would not tell: copies may keep them.
    """
    digest = hashlib.sha256()
    for file in _files(str(folder)):
        content = Path(file).read_bytes()
        digest.update(f"{os.path.relpath(file, folder)} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def _files(folder: str) -> Iterator[str]:
    """All files in a folder and its folders, always in the same order; what Python compiled is left out."""
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        elif entry.is_file():
            yield entry.path


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # installed in a way that leaves no record
        return "unknown"
