"""How much of a paper's protocol is run at a scale, and how reductions are worded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nalm.errors import unknown
from nalm.papers.scale import Scale


class FewerRuns(str):
    """A note on fewer runs than in the paper, which leaves numbers comparable: their intervals know n."""


@dataclass(frozen=True)
class Budget:
    """Seeds and steps at a scale.

    Attributes:
        scale: how much to run.
        full_seeds: number of seeds in the paper.
        quick_seeds: largest number of seeds at the quick scale.
        quick_steps: fraction of the paper's steps at the quick scale.
    """

    scale: Scale
    full_seeds: int = 1
    quick_seeds: int = 5
    quick_steps: float = 1.0

    @property
    def seeds(self) -> int:
        """The number of seeds to run."""
        quick = min(self.full_seeds, self.quick_seeds)
        return self.scale.seeds or (quick if self.scale.quick else self.full_seeds)

    @property
    def factor(self) -> float:
        """The fraction of the paper's steps to run."""
        return self.scale.steps or (self.quick_steps if self.scale.quick else 1.0)

    def steps(self, full: int, least: int = 1) -> int:
        """The number of steps to run instead of `full`, at least `least`."""
        return max(least, round(full * self.factor))

    def fewer_seeds(self, noun: str = "seeds") -> list[str]:
        """A note if there are fewer seeds than in the paper, otherwise nothing."""
        return [FewerRuns(note) for note in fewer(noun, self.seeds, self.full_seeds)]

    def fewer_steps(self, full: int, noun: str = "steps", least: int = 1) -> list[str]:
        """A note if there are fewer steps than `full`, otherwise nothing."""
        return fewer(noun, self.steps(full, least), full)

    def reduced(self) -> list[str]:
        """Notes on how this falls short of the paper's protocol, for schedules that shrink with the steps."""
        part = f"steps: {self.factor:g} of the paper's, schedules shortened with them"
        return [*self.fewer_seeds(), *([part] if self.factor < 1 else [])]


def fewer(noun: str, taken: int, full: int) -> list[str]:
    """A note if `taken` is less than `full`, otherwise nothing."""
    return [f"{noun}: {taken} instead of {full}"] if taken < full else []


def chosen_rows(scale: Scale, known: Iterable[str]) -> list[str]:
    """The rows that the scale asks for, by default all; unknown ones are refused."""
    rows = list(dict.fromkeys(known))
    for row in scale.rows or ():
        if row not in rows:
            raise unknown("rows", row, rows)
    return [row for row in rows if scale.rows is None or row in scale.rows]
