"""How much of a paper's protocol is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nalm.errors import ArgumentError, check_choice, check_positive
from nalm.experiment.bench import MOST_RUNS
from nalm.experiment.run import Case
from nalm.recipes.steps import shorter


@dataclass(frozen=True)
class Scale:
    """How much of a paper's protocol to run.

    Attributes:
        quick: whether to run the reduced protocol.
        seeds: number of seeds, if not the protocol's.
        steps: fraction of the paper's steps, if not the protocol's.
        rows: run only these rows; None for all.
    """

    quick: bool = False
    seeds: int | None = None
    steps: float | None = None
    rows: tuple[str, ...] | None = None

    def command(self, entry: str) -> str:
        """The command that reproduces an entry at this scale."""
        said = {"scale": "quick" if self.quick else None, "seeds": self.seeds, "steps": self.steps}
        parts = [f"--{name} {value}" for name, value in said.items() if value is not None]
        if self.rows is not None:
            parts.append(f"--rows '{';'.join(self.rows)}'")
        return " ".join(["nalm reproduce", entry, *parts])


def make_scale(
    name: str = "paper",
    seeds: int | None = None,
    steps: float | None = None,
    rows: Sequence[str] | None = None,
) -> Scale:
    """The scale of this name, `quick` or `paper`, with other seeds, steps or rows if given."""
    check_choice("scale", name, ("quick", "paper"))
    if seeds is not None:
        check_positive("seeds", seeds)
    if seeds is not None and seeds > MOST_RUNS:
        raise ArgumentError("seeds", f"at most {MOST_RUNS:,}", f"{seeds:,}")
    if steps is not None and not 0 < steps <= 1:
        raise ArgumentError("steps", "a fraction of the paper's, above 0 and at most 1", repr(steps))
    return Scale(name == "quick", seeds, steps, None if rows is None else tuple(row.strip() for row in rows))


def shortened(case: Case, factor: float) -> Case:
    """The same case with fewer steps; schedules are shortened in proportion."""
    recipe = shorter(case.recipe, factor)
    return replace(case, iterations=None, other_recipe=recipe)
