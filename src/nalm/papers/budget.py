"""How much of a paper's protocol is run at a scale, and in which words it is said that it is less."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nalm.errors import unknown
from nalm.papers.scale import Scale


@dataclass(frozen=True)
class Budget:
    """Seeds and steps at a scale.

    Attributes:
        scale: how much is asked for.
        full_seeds: how many seeds the paper has.
        quick_seeds: how many the quick scale has at most.
        quick_steps: which part of the paper's steps the quick scale takes.
    """

    scale: Scale
    full_seeds: int = 1
    quick_seeds: int = 5
    quick_steps: float = 1.0

    @property
    def seeds(self) -> int:
        """How many seeds to run."""
        quick = min(self.full_seeds, self.quick_seeds)
        return self.scale.seeds or (quick if self.scale.quick else self.full_seeds)

    @property
    def factor(self) -> float:
        """Part of the paper's steps."""
        return self.scale.steps or (self.quick_steps if self.scale.quick else 1.0)

    def steps(self, full: int, least: int = 1) -> int:
        """That part of `full` steps, at least `least`."""
        return max(least, round(full * self.factor))

    def fewer_seeds(self, noun: str = "seeds") -> list[str]:
        """That there are fewer seeds than in the paper, if there are."""
        return fewer(noun, self.seeds, self.full_seeds)

    def fewer_steps(self, full: int, noun: str = "steps", least: int = 1) -> list[str]:
        """That there are fewer steps than `full`, if there are."""
        return fewer(noun, self.steps(full, least), full)

    def reduced(self) -> list[str]:
        """In which way this is less than the paper's protocol, where schedules shrink with the steps."""
        part = f"steps: {self.factor:g} of the paper's, schedules shortened with them"
        return [*self.fewer_seeds(), *([part] if self.factor < 1 else [])]


def fewer(noun: str, taken: int, full: int) -> list[str]:
    """That fewer are taken than there are in full, if it is so."""
    return [f"{noun}: {taken} instead of {full}"] if taken < full else []


def chosen_rows(scale: Scale, known: Iterable[str]) -> list[str]:
    """The rows asked for, by default all; unknown ones are refused."""
    rows = list(dict.fromkeys(known))
    for row in scale.rows or ():
        if row not in rows:
            raise unknown("rows", row, rows)
    return [row for row in rows if scale.rows is None or row in scale.rows]
