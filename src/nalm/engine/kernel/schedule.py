"""In which loop each expression is evaluated.

A step alternates between two kinds of work: numbers of a model (parameters, keys, the optimiser), computed
for a block of models side by side, and numbers of its samples, computed for one model after the other in one
pass over its samples. A sum over samples ends a pass; what needs it comes after. Pass after pass:

    models 0, samples 0, models 1, samples 1, …

Within each of these, sums along the long axis of features divide the work into levels:

    level 0, its loop over features, level 1, its loop over features, …

Most steps need one pass: forward and backward of a sample follow each other while its numbers are in
registers. What an expression of a later pass needs of an earlier one is kept in memory, except for numbers
per sample and feature, which are computed again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from nalm.engine.kernel.expressions import FEATURES, SAMPLES, Expression

LEAVES = ("constant", "input", "counter")


@dataclass
class Block:
    """Expressions evaluated in one loop, in order, and the sums that are taken there."""

    expressions: list[Expression] = field(default_factory=list)
    totals: list[Expression] = field(default_factory=list)


@dataclass
class Level:
    """Expressions without, then those with the axis of features."""

    single: Block = field(default_factory=Block)
    featured: Block = field(default_factory=Block)


@dataclass
class Stage:
    """The work on models, or on samples, of one pass."""

    levels: list[Level] = field(default_factory=list)

    def level(self, k: int) -> Level:
        """A level, made when first asked for."""
        while len(self.levels) <= k:
            self.levels.append(Level())
        return self.levels[k]


@dataclass
class Schedule:
    """The stages of a step.

    Attributes:
        models: the work on models, pass by pass.
        samples: the work on samples, pass by pass.
        passes: the pass in which each expression is first evaluated.
        levels: its level there.
    """

    models: list[Stage] = field(default_factory=list)
    samples: list[Stage] = field(default_factory=list)
    passes: dict[Expression, int] = field(default_factory=dict)
    levels: dict[Expression, int] = field(default_factory=dict)

    def stage(self, expression: Expression, at: int) -> Stage:
        """The stage of an expression in a pass."""
        stages = self.samples if SAMPLES in expression.loops else self.models
        while len(stages) <= at:
            stages.append(Stage())
        return stages[at]


def reachable(outputs: Iterable[Expression]) -> list[Expression]:
    """All expressions that these depend on, arguments first."""
    found: dict[int, Expression] = {}
    pending = list(outputs)
    while pending:
        expression = pending.pop()
        if expression.number not in found:
            found[expression.number] = expression
            pending += expression.arguments
    return [found[number] for number in sorted(found)]


def schedule(outputs: Iterable[Expression]) -> Schedule:
    """The stages that compute these expressions."""
    made = Schedule()
    every = reachable(outputs)
    for expression in every:
        made.passes[expression], made.levels[expression] = _place(made, expression)
    again: set[tuple[Expression, int]] = set()
    for expression in every:
        if expression.op not in LEAVES:
            _put(made, expression, made.passes[expression], made.levels[expression], again)
    return made


def _place(made: Schedule, expression: Expression) -> tuple[int, int]:
    """The pass and the level of an expression."""
    if not expression.arguments:
        return 0, 0
    if expression.op == "total":
        (body,) = expression.arguments
        if expression.detail == SAMPLES:
            return made.passes[body] + 1, 0
        return made.passes[body], made.levels[body] + 1
    at = max(made.passes[each] for each in expression.arguments)
    same = [
        each
        for each in expression.arguments
        if made.passes[each] == at and (SAMPLES in each.loops) == (SAMPLES in expression.loops)
    ]
    return at, max((made.levels[each] for each in same), default=0)


def _put(
    made: Schedule,
    expression: Expression,
    at: int,
    level: int,
    again: set[tuple[Expression, int]],
) -> None:
    """Put an expression into its block, and what is computed again for it before it."""
    for each in expression.arguments:
        # Numbers per sample and feature are not kept from pass to pass.
        dropped = each.loops == {SAMPLES, FEATURES} and each.op not in LEAVES and at > made.passes[each]
        if dropped and (each, at) not in again:
            again.add((each, at))
            _put(made, each, at, 0, again)
    if expression.op == "total":
        (body,) = expression.arguments
        stage = made.stage(body, made.passes[body])
        found = stage.level(made.levels[body])
        (found.featured if FEATURES in body.loops else found.single).totals.append(expression)
        made.stage(expression, at).level(level)
        return
    found = made.stage(expression, at).level(level)
    (found.featured if FEATURES in expression.loops else found.single).expressions.append(expression)
