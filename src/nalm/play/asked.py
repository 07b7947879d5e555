"""What the page can ask a worker for, with the limits of each request.

Requests come from a browser, and may be made by hand: every number is checked here, in the serving process,
before any work begins. Names of units, ranges and columns are checked by the library when it uses them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nalm.errors import ArgumentError, NalmError

MOST_SEEDS = 8
LARGEST_SEED = 1_000_000
LEAST_INPUTS, MOST_INPUTS = 2, 10
MOST_STEPS = 200_000
TRAINING_SECONDS = 180.0
"""When training ends at the latest."""
MOST_BYTES = 5_000_000
"""The size of a file of numbers."""
MOST_ROWS = 20_000
MOST_COLUMNS = 50
MOST_SEARCH_SECONDS = 60
READING_SECONDS = 60.0
"""When reading of stored runs ends at the latest."""
SPARE_SECONDS = 30.0
"""How much longer than asked for a search may take, to read its rows and to judge its formula."""
MOST_LISTED = 2_000
"""How many stored runs are listed."""
_LONGEST_NAME = 200
_PARQUET = b"PAR1"
_FILE_NAME = re.compile(r"[\w\- ][\w\-. ]{0,99}")


@dataclass(frozen=True)
class Training:
    """Train a unit on the single module task.

    Attributes:
        unit: the name of a unit.
        recipe: the name of one of its recipes.
        op: the operation to learn.
        range: a named range, or `train=>test`.
        inputs: the number of inputs.
        seeds: how many seeds.
        first_seed: the first of them.
        steps: the number of steps; None for that of the recipe.
        is_slowed: whether to wait between evaluations, so that people can watch.
    """

    unit: str = "nmu"
    recipe: str = "published"
    op: str = "mul"
    range: str = "1:2"
    inputs: int = 2
    seeds: int = 3
    first_seed: int = 0
    steps: int | None = None
    is_slowed: bool = True

    @property
    def limit(self) -> float:
        """Seconds after which it is ended."""
        return TRAINING_SECONDS

    def check(self) -> None:
        """Refuse what is too much, or of the wrong kind."""
        for argument in ("unit", "recipe", "op", "range"):
            _check_name(argument, getattr(self, argument))
        _check_whole("inputs", self.inputs, LEAST_INPUTS, MOST_INPUTS)
        _check_whole("seeds", self.seeds, 1, MOST_SEEDS)
        _check_whole("first seed", self.first_seed, 0, LARGEST_SEED)
        if self.steps is not None:
            _check_whole("steps", self.steps, 1, MOST_STEPS)


@dataclass(frozen=True)
class Columns:
    """Say which columns a file of numbers has.

    Attributes:
        data: the file.
        folder: where the worker may put it.
        name: what it is called in messages.
    """

    data: bytes
    folder: Path
    name: str = "data.csv"

    @property
    def limit(self) -> float:
        """Seconds after which it is ended."""
        return READING_SECONDS

    def check(self) -> None:
        """Refuse what is too large, or no text."""
        if not _FILE_NAME.fullmatch(self.name):
            raise ArgumentError("name", "the name of a file", repr(self.name)[:80])
        if not self.data.strip():
            raise NalmError("There are no rows yet: paste some, with the names of the columns above them.")
        if len(self.data) > MOST_BYTES:
            raise _too_much("bytes", len(self.data), MOST_BYTES)
        if self.data.startswith(_PARQUET):
            raise NalmError("This page reads CSV and TSV; `nalm fit` reads Parquet files too.")
        rows = len(self.data.splitlines()) - 1  # the first line names the columns
        if rows > MOST_ROWS:
            raise _too_much("rows", rows, MOST_ROWS)


@dataclass(frozen=True)
class Fitting(Columns):
    """Search the formula behind a column of a file.

    Attributes:
        target: the name of the column.
        seconds: when the search ends at the latest.
    """

    target: str = ""
    seconds: int = 20

    @property
    def limit(self) -> float:
        """Seconds after which it is ended."""
        return self.seconds + SPARE_SECONDS

    def check(self) -> None:
        """Refuse what is too much, or of the wrong kind."""
        super().check()
        if not isinstance(self.target, str) or not self.target:
            raise ArgumentError("target", "the name of a column", repr(self.target))
        _check_whole("seconds", self.seconds, 1, MOST_SEARCH_SECONDS)


@dataclass(frozen=True)
class _Reading:
    """Read something that is stored."""

    @property
    def limit(self) -> float:
        """Seconds after which it is ended."""
        return READING_SECONDS

    def check(self) -> None:
        """Nothing can be too much."""


@dataclass(frozen=True)
class StoredRuns(_Reading):
    """List the runs of a store."""

    store: Path


@dataclass(frozen=True)
class StoredRun(_Reading):
    """Describe one run of a store."""

    store: Path
    id: str


@dataclass(frozen=True)
class Ledger(_Reading):
    """List the entries of the ledger."""


@dataclass(frozen=True)
class LedgerEntry(_Reading):
    """The cells of an entry of the ledger."""

    id: str


Asked = Training | Columns | Fitting | StoredRuns | StoredRun | Ledger | LedgerEntry


def _check_name(argument: str, got: Any) -> None:
    if not isinstance(got, str) or not 0 < len(got) <= _LONGEST_NAME:
        raise ArgumentError(argument, f"a name of at most {_LONGEST_NAME} characters", repr(got)[:80])


def _check_whole(argument: str, got: Any, least: int, most: int) -> None:
    if isinstance(got, bool) or not isinstance(got, int) or not least <= got <= most:
        raise ArgumentError(argument, f"a whole number from {least:,} to {most:,}", repr(got)[:80])


def _too_much(what: str, got: int, most: int) -> NalmError:
    return NalmError(f"These are {got:,} {what}, and this page takes {most:,}; `nalm fit` takes any number.")
