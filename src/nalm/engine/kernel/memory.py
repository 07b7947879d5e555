"""What must be in memory, because another loop than the one that computes it uses it."""

from __future__ import annotations

from collections.abc import Iterable

from nalm.engine.kernel.expressions import FEATURES, SAMPLES, Expression
from nalm.engine.kernel.schedule import LEAVES, Schedule, Stage


def kept(made: Schedule, outputs: Iterable[Expression]) -> dict[Expression, None]:
    """Numbers of models that another loop uses, and numbers per sample that a later pass uses."""
    found = dict.fromkeys(each for each in outputs if each.op not in LEAVES)
    blocks = [
        (block, at)
        for stages in (made.models, made.samples)
        for at, stage in enumerate(stages)
        for level in stage.levels
        for block in (level.single, level.featured)
    ]
    for block, at in blocks:
        local = set(block.expressions)
        for total in block.totals:
            if SAMPLES not in total.loops:
                found[total] = None
        for each in (*block.expressions, *block.totals):
            for a in each.arguments:
                if a.op in LEAVES or a in local:
                    continue
                # Within a pass, numbers per sample stay in registers.
                if SAMPLES not in a.loops or (a.loops == {SAMPLES} and made.passes[a] < at):
                    found[a] = None
    return found


def crossing(stage: Stage) -> list[Expression]:
    """Numbers per sample and feature of a tile that a later loop over features uses again."""
    found: dict[Expression, None] = {}
    for level in stage.levels:
        local = set(level.featured.expressions)
        for each in (*level.featured.expressions, *level.featured.totals):
            for a in each.arguments:
                if a.loops == {SAMPLES, FEATURES} and a.op not in LEAVES and a not in local:
                    found[a] = None
    return list(found)
