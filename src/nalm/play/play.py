"""What all tabs of all pages share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nalm.play.workers import Jobs


@dataclass(frozen=True)
class Play:
    """What all tabs of all pages share.

    Attributes:
        choices: units with their operations and recipes, operations, ranges.
        jobs: the jobs of all pages.
        store: the file of stored runs.
        folder: where workers may put files.
    """

    choices: dict[str, Any]
    jobs: Jobs
    store: Path
    folder: Path
