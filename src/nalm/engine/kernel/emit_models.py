"""The numbers of models as C++: plain loops over a block of models, which the compiler vectorises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nalm.engine.kernel.expressions import Expression
from nalm.engine.kernel.schedule import Block, Stage
from nalm.engine.kernel.text import Names, applied


@dataclass(frozen=True)
class ModelLines:
    """Writes the work on models.

    Attributes:
        names: where numbers are in memory.
        kept: what must be in memory.
    """

    names: Names
    kept: dict[Expression, None]

    def lines(self, stage: Stage) -> Iterator[str]:
        """One stage: level after level, numbers of models, then numbers per feature."""
        for level in stage.levels:
            if level.single.expressions:
                yield "      for (int m = 0; m < BLOCK; ++m) {"
                yield from self._statements(level.single, "[m]", "        ")
                yield "      }"
            if level.featured.expressions or level.featured.totals:
                yield from self._featured(level.featured)

    def _featured(self, block: Block) -> Iterator[str]:
        names = [f"a{total.number}" for total in block.totals]
        yield "      for (int m = 0; m < BLOCK; ++m) {"
        for total, name in zip(block.totals, names):
            yield f"        {total.kind} {name} = 0;"
        if names:
            yield f'        _Pragma("omp simd reduction(+: {", ".join(names)})")'
        yield "        for (int i = 0; i < FEATURES; ++i) {"
        yield from self._statements(block, "[m][i]", "          ")
        local = set(block.expressions)
        for total, name in zip(block.totals, names):
            yield f"          {name} += {self._reference(total.arguments[0], local)};"
        yield "        }"
        for total, name in zip(block.totals, names):
            yield f"        v{total.number}[m] = {name};"
        yield "      }"

    def _statements(self, block: Block, place: str, indent: str) -> Iterator[str]:
        local: set[Expression] = set()
        for each in block.expressions:
            text = applied(each, [self._reference(a, local) for a in each.arguments])
            yield f"{indent}const {each.kind} x{each.number} = {text};"
            local.add(each)
            if each in self.kept:
                yield f"{indent}v{each.number}{place} = x{each.number};"

    def _reference(self, each: Expression, local: set[Expression]) -> str:
        return f"x{each.number}" if each in local else self.names.scalar(each)
