"""The numbers of samples as C++: one pass over the samples of each model, in explicit vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nalm.engine.kernel.expressions import FEATURES, SAMPLES, Expression
from nalm.engine.kernel.layout import Layout
from nalm.engine.kernel.memory import crossing
from nalm.engine.kernel.schedule import LEAVES, Block, Schedule, Stage
from nalm.engine.kernel.text import VECTORS, Names, applied, counters, literal


@dataclass
class SampleLines:
    """Writes the work on the samples of one pass.

    A number per sample is a variable `x<number>_<copy>` for each of the vectors that are computed side by
    side; a number of the model is the vector `w<number>`; a sum over samples is the accumulator `a<number>`.

    Attributes:
        names: where numbers of models are in memory.
        kept: what must be in memory.
        layout: the sizes.
        schedule: the whole schedule.
        at: the number of the pass.
    """

    names: Names
    kept: dict[Expression, None]
    layout: Layout
    schedule: Schedule
    at: int

    def lines(self) -> Iterator[str]:
        """The pass."""
        stage = self.schedule.samples[self.at]
        blocks = [block for level in stage.levels for block in (level.single, level.featured)]
        sums = [total for block in blocks for total in block.totals if total.detail == SAMPLES]
        yield "      for (int m = 0; m < live; ++m) {"
        for each in _of_models(blocks):
            yield f"        const {VECTORS[each.kind]} w{each.number} = splat({self.names.scalar(each)});"
        for total in sums:
            yield from self._begin(total)
        yield from self._tiles(stage)
        for total in sums:
            yield from self._end(total)
        yield "      }"

    def _begin(self, total: Expression) -> Iterator[str]:
        kind = VECTORS[total.kind]
        if FEATURES in total.loops:
            yield f"        {self.layout.memory} {kind} a{total.number}[FEATURES];"
            yield f"        for (int i = 0; i < FEATURES; ++i) a{total.number}[i] = {kind}{{}};"
        else:
            yield f"        {kind} a{total.number} = {{}};"

    def _end(self, total: Expression) -> Iterator[str]:
        if FEATURES in total.loops:
            yield "        for (int i = 0; i < FEATURES; ++i)"
            yield f"          v{total.number}[m][i] = added(a{total.number}[i]);"
        else:
            yield f"        v{total.number}[m] = added(a{total.number});"

    def _tiles(self, stage: Stage) -> Iterator[str]:
        again = crossing(stage)
        for each in again:
            place = f"t{each.number}[FEATURES][{self.layout.together}]"
            yield f"        {self.layout.memory} {VECTORS[each.kind]} {place};"
        yield f"        for (int n = 0; n < SAMPLES; n += {self.layout.tile}) {{"
        known: set[Expression] = set()
        for level in stage.levels:
            yield from self._single(level.single, known)
            if level.featured.expressions or level.featured.totals:
                yield from self._featured(level.featured, known, again)
        yield "        }"

    # -- numbers per sample ----------------------------------------------------------------------

    def _single(self, block: Block, known: set[Expression]) -> Iterator[str]:
        for each in block.expressions:
            yield from self._read(each.arguments, known)
            yield from self._statements(each, "          ")
            yield from self._stored(each)
            known.add(each)
        for total in block.totals:
            yield from self._read(total.arguments, known)
            yield f"          a{total.number} += {self._sum(total.arguments[0])};"

    def _read(self, wanted: Iterable[Expression], known: set[Expression]) -> Iterator[str]:
        """Read numbers per sample that an earlier pass has kept."""
        for each in wanted:
            earlier = each.loops == {SAMPLES} and self.schedule.passes[each] < self.at
            if not earlier or each in known or each.op in LEAVES:
                continue
            known.add(each)
            for copy in self.layout.copies:
                text = f"load(&v{each.number}[m][n + {copy * self.layout.lanes}])"
                yield f"          const {VECTORS[each.kind]} x{each.number}_{copy} = {text};"

    def _stored(self, each: Expression) -> Iterator[str]:
        """Keep numbers per sample for a later pass, if one needs them."""
        if each in self.kept:
            for copy in self.layout.copies:
                place = f"&v{each.number}[m][n + {copy * self.layout.lanes}]"
                yield f"          store({place}, x{each.number}_{copy});"

    # -- numbers per sample and feature ----------------------------------------------------------

    def _featured(self, block: Block, known: set[Expression], again: list[Expression]) -> Iterator[str]:
        used = {a for each in (*block.expressions, *block.totals) for a in each.arguments}
        outside = sorted(used - set(block.expressions), key=lambda each: each.number)
        yield from self._read(outside, known)
        along = [total for total in block.totals if total.detail == FEATURES]
        for total in along:
            for copy in self.layout.copies:
                yield f"          {VECTORS[total.kind]} x{total.number}_{copy} = {{}};"
        yield "          for (int i = 0; i < FEATURES; ++i) {"
        yield from self._loop(block, outside, again)
        yield "          }"
        for total in along:
            known.add(total)
            yield from self._stored(total)

    def _loop(self, block: Block, outside: list[Expression], again: list[Expression]) -> Iterator[str]:
        indent = "            "
        for each in outside:
            if each.loops == {FEATURES} and each.op != "counter":
                text = f"splat({self.names.scalar(each)})"
                yield f"{indent}const {VECTORS[each.kind]} w{each.number} = {text};"
            elif each in again:
                for copy in self.layout.copies:
                    text = f"t{each.number}[i][{copy}]"
                    yield f"{indent}const {VECTORS[each.kind]} x{each.number}_{copy} = {text};"
        for each in block.expressions:
            yield from self._statements(each, indent)
            if each in again:
                for copy in self.layout.copies:
                    yield f"{indent}t{each.number}[i][{copy}] = x{each.number}_{copy};"
        for total in block.totals:
            (body,) = total.arguments
            if total.detail == SAMPLES:
                yield f"{indent}a{total.number}[i] += {self._sum(body)};"
            else:
                for copy in self.layout.copies:
                    yield f"{indent}x{total.number}_{copy} += {self._reference(body, copy)};"

    # -- single expressions ----------------------------------------------------------------------

    def _statements(self, each: Expression, indent: str) -> Iterator[str]:
        for copy in self.layout.copies:
            text = applied(each, [self._reference(a, copy) for a in each.arguments])
            yield f"{indent}const {VECTORS[each.kind]} x{each.number}_{copy} = {text};"

    def _sum(self, each: Expression) -> str:
        return " + ".join(self._reference(each, copy) for copy in self.layout.copies)

    def _reference(self, each: Expression, copy: int) -> str:
        if each.op == "constant":
            return f"splat({literal(each)})"
        if each.op == "counter":
            return counters(each, copy * self.layout.lanes)
        return f"x{each.number}_{copy}" if SAMPLES in each.loops else f"w{each.number}"


def _of_models(blocks: Iterable[Block]) -> list[Expression]:
    """The numbers of a model that its samples need."""
    used = {a for block in blocks for each in (*block.expressions, *block.totals) for a in each.arguments}
    found = [each for each in used if not each.loops and each.op != "constant"]
    return sorted(found, key=lambda each: each.number)
