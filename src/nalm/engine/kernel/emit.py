"""From a schedule to C++."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nalm.engine.kernel.arrays import Array, M
from nalm.engine.kernel.expressions import Expression, I, N
from nalm.engine.kernel.lower import Lowered
from nalm.engine.kernel.schedule import LEAVES, Block, Schedule, Stage, reachable, schedule
from nalm.engine.kernel.unsupported import Unsupported

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "xor": "^", "and": "&", "or": "|", "shift": ">>"}
_STACKED_FEATURES, _STACKED_SAMPLES = 256, 1024
"""Up to these sizes arrays are on the stack, which is faster; larger ones might not fit there."""
_VECTORS = {"float": "vf", "int": "vi", "bool": "vi"}


@dataclass(frozen=True)
class Target:
    """The processor: how many numbers fit into a vector, and how many models form a block."""

    lanes: int

    def for_samples(self, samples: int) -> int:
        """The lanes of a vector that divides the samples."""
        lanes = self.lanes
        while samples % lanes:
            lanes //= 2
        if lanes < 4:
            raise Unsupported(f"{samples} samples, which fill no vectors")
        return lanes


def emit(lowered: Lowered, states: int, target: Target) -> str:
    """The C++ of a function.

    Args:
        lowered: the function; its first inputs are the state, and so are its outputs.
        states: how many inputs are the state.
        target: the processor.
    """
    outputs = [each for array in lowered.outputs for each in array.elements.flat]
    return _Writer(lowered, states, schedule(outputs), target).text()


class _Writer:
    def __init__(self, lowered: Lowered, states: int, made: Schedule, target: Target) -> None:
        self.lowered, self.states, self.made = lowered, states, made
        self.samples, self.features = lowered.sizes.samples, lowered.sizes.features
        self.lanes = target.for_samples(self.samples)
        featured = any(level.featured.expressions for stage in made.samples for level in stage.levels)
        self.tile = self.lanes * _together(self.samples // self.lanes, featured)
        self.block = target.lanes
        large = (self.features or 0) > _STACKED_FEATURES or self.samples > _STACKED_SAMPLES
        self.memory = "ALIGNED static thread_local" if large else "ALIGNED"
        outputs = [each for array in lowered.outputs for each in array.elements.flat]
        self.kept = _kept(made, outputs)
        self.every = reachable(outputs)
        self._check()

    def _check(self) -> None:
        for each in self.every:
            if N in each.loops and each.kind not in _VECTORS:
                raise Unsupported(f"numbers per sample of kind {each.kind}")
            if N in each.loops and each.op == "input":
                raise Unsupported("an input with an axis of samples")
        for array in self.lowered.outputs:
            if M not in array.labels[:1] or N in array.labels:
                raise Unsupported("a state without models, or with samples")

    # -- the whole -------------------------------------------------------------------------------

    def text(self) -> str:
        """The whole file, without the functions that it includes."""
        return "\n".join(
            [
                f"#define LANES {self.lanes}",
                f"enum {{ BLOCK = {self.block}, SAMPLES = {self.samples}, FEATURES = {self.features or 1} }};",
                '#include "maths.h"',
                "",
                'extern "C" void repeat(long models, long times, void** given, void** kept) {',
                "  for (long first = 0; first < models; first += BLOCK) {",
                "    const int live = models - first < BLOCK ? models - first : BLOCK;",
                *self._loads(),
                *self._memory(),
                "    for (long time = 0; time < times; ++time) {",
                *self._step(),
                *self._update(),
                "    }",
                *self._stores(),
                "  }",
                "}",
                "",
            ]
        )

    def _step(self) -> Iterator[str]:
        for k in range(max(len(self.made.models), len(self.made.samples))):
            if k < len(self.made.models):
                yield from self._on_models(self.made.models[k])
            if k < len(self.made.samples):
                yield from self._on_samples(self.made.samples[k], k)

    # -- memory ----------------------------------------------------------------------------------

    def _used(self, index: int) -> Iterator[tuple[Expression, str, int, int]]:
        """The elements of an input: expression, name, offset, and stride along features (0 without)."""
        array = self.lowered.inputs[index]
        strides = _strides(array.shape)
        along = strides[array.labels.index(I)] if I in array.labels else 0
        for k, (element, each) in enumerate(np.ndenumerate(array.elements)):
            offset = sum(e * s for e, s in zip(element, strides))
            yield each, f"s{index}_{k}", offset, along

    def _loads(self) -> Iterator[str]:
        wanted = {each.detail[:2] for each in self.every if each.op == "input"}
        for index, array in enumerate(self.lowered.inputs):
            if M not in array.labels[:1]:
                if any(each.detail[:2] in wanted for each in array.elements.flat):
                    raise Unsupported("an input without models")
                continue
            size = int(np.prod(array.shape[1:], dtype=int))
            for each, name, offset, along in self._used(index):
                if index >= self.states and each.detail[:2] not in wanted:
                    continue
                sizes = "[BLOCK][FEATURES]" if along else "[BLOCK]"
                yield f"    {self.memory} {each.kind} {name}{sizes};"
                yield f"    fetch({name}, given[{index}], first, live, {size}, {offset}, {along});"

    def _memory(self) -> Iterator[str]:
        """Arrays of what is used outside the block that computes it."""
        for each in self.kept:
            sizes = "[BLOCK]" + ("[FEATURES]" if I in each.loops else "")
            if each.loops == {N}:
                yield f"    {self.memory} {_memory_kind(each)} v{each.number}[BLOCK][SAMPLES];"
            elif N not in each.loops:
                yield f"    {self.memory} {each.kind} v{each.number}{sizes};"

    def _update(self) -> Iterator[str]:
        """The new state becomes the state."""
        for index in range(self.states):
            results = self.lowered.outputs[index].elements
            if results.shape != self.lowered.inputs[index].elements.shape:
                raise Unsupported("a state that changes its shape")
            for (each, name, _, along), result in zip(self._used(index), results.flat):
                if result is each:
                    continue
                if result.op == "input":
                    raise Unsupported("a state that takes the place of another")
                source = f"v{result.number}[m]" + ("[i]" if I in result.loops else "")
                source = _literal(result) if result.op == "constant" else source
                if along:
                    yield "      for (int m = 0; m < BLOCK; ++m) for (int i = 0; i < FEATURES; ++i)"
                    yield f"        {name}[m][i] = {source};"
                else:
                    yield f"      for (int m = 0; m < BLOCK; ++m) {name}[m] = {source};"

    def _stores(self) -> Iterator[str]:
        for index in range(self.states):
            size = int(np.prod(self.lowered.inputs[index].shape[1:], dtype=int))
            for _, name, offset, along in self._used(index):
                yield f"    keep({name}, kept[{index}], first, live, {size}, {offset}, {along});"

    # -- models ----------------------------------------------------------------------------------

    def _on_models(self, stage: Stage) -> Iterator[str]:
        for level in stage.levels:
            if level.single.expressions:
                yield "      for (int m = 0; m < BLOCK; ++m) {"
                yield from self._scalars(level.single, "[m]", "        ")
                yield "      }"
            block = level.featured
            if block.expressions or block.totals:
                yield "      for (int m = 0; m < BLOCK; ++m) {"
                for total in block.totals:
                    yield f"        {total.kind} a{total.number} = 0;"
                if block.totals:
                    names = ", ".join(f"a{total.number}" for total in block.totals)
                    yield f'        _Pragma("omp simd reduction(+: {names})")'
                yield "        for (int i = 0; i < FEATURES; ++i) {"
                yield from self._scalars(block, "[m][i]", "          ")
                local = set(block.expressions)
                for total in block.totals:
                    yield f"          a{total.number} += {self._scalar(total.arguments[0], local)};"
                yield "        }"
                for total in block.totals:
                    yield f"        v{total.number}[m] = a{total.number};"
                yield "      }"

    def _scalars(self, block: Block, index: str, indent: str) -> Iterator[str]:
        local: set[Expression] = set()
        for each in block.expressions:
            text = _applied(each, [self._scalar(a, local) for a in each.arguments])
            yield f"{indent}const {each.kind} x{each.number} = {text};"
            local.add(each)
            if each in self.kept:
                yield f"{indent}v{each.number}{index} = x{each.number};"

    def _scalar(self, each: Expression, local: set[Expression]) -> str:
        if each in local:
            return f"x{each.number}"
        if each.op == "constant":
            return _literal(each)
        if each.op == "counter":
            return _counter(each, None)
        name = self._input_name(each) if each.op == "input" else f"v{each.number}"
        if each.op == "input" and len(each.detail) == 3:  # one place of the axis of features
            return f"{name}[m][{each.detail[2]}]"
        return f"{name}[m][i]" if I in each.loops else f"{name}[m]"

    def _input_name(self, each: Expression) -> str:
        index, element = each.detail[:2]
        shape = self.lowered.inputs[index].elements.shape
        return f"s{index}_{int(np.ravel_multi_index(element, shape)) if shape else 0}"

    # -- samples ---------------------------------------------------------------------------------

    def _on_samples(self, stage: Stage, at: int) -> Iterator[str]:
        totals = [t for level in stage.levels for b in (level.single, level.featured) for t in b.totals]
        sums = [total for total in totals if total.detail == N]
        yield "      for (int m = 0; m < live; ++m) {"
        for each in self._from_models(stage):
            yield f"        const {_VECTORS[each.kind]} w{each.number} = splat({self._scalar(each, set())});"
        for total in sums:
            if I in total.loops:
                yield f"        {self.memory} vf a{total.number}[FEATURES];"
                yield f"        for (int i = 0; i < FEATURES; ++i) a{total.number}[i] = splat(0.0f);"
            else:
                yield f"        {_VECTORS[total.kind]} a{total.number} = {{}};"
        crossing = _crossing(stage)
        for each in crossing:
            kind = _VECTORS[each.kind]
            yield f"        {self.memory} {kind} t{each.number}[FEATURES][{self.tile // self.lanes}];"
        yield f"        for (int n = 0; n < SAMPLES; n += {self.tile}) {{"
        known: set[Expression] = set()
        for level in stage.levels:
            yield from self._single(level.single, known, at)
            block = level.featured
            if block.expressions or block.totals:
                yield from self._featured(block, known, crossing, at)
        yield "        }"
        for total in sums:
            if I in total.loops:
                yield "        for (int i = 0; i < FEATURES; ++i)"
                yield f"          v{total.number}[m][i] = added(a{total.number}[i]);"
            else:
                yield f"        v{total.number}[m] = added(a{total.number});"
        yield "      }"

    def _copies(self) -> range:
        return range(self.tile // self.lanes)

    def _single(self, block: Block, known: set[Expression], at: int) -> Iterator[str]:
        indent = "          "
        for each in block.expressions:
            for argument in each.arguments:
                yield from self._fetched(argument, known, at)
            yield from self._vectors(each, known, indent)
            yield from self._stored(each)
        for total in block.totals:
            (body,) = total.arguments
            yield from self._fetched(body, known, at)
            added = " + ".join(self._vector(body, t) for t in self._copies())
            yield f"{indent}a{total.number} += {added};"

    def _stored(self, each: Expression) -> Iterator[str]:
        """Keep a number per sample for a later pass, if one needs it."""
        if each in self.kept:
            for t in self._copies():
                yield f"          store(&v{each.number}[m][n + {t * self.lanes}], x{each.number}_{t});"

    def _fetched(self, each: Expression, known: set[Expression], at: int) -> Iterator[str]:
        """Read a number per sample that an earlier pass has kept."""
        if each.loops != {N} or each in known or each.op in LEAVES:
            return
        if self.made.passes[each] == at:
            return
        known.add(each)
        for t in self._copies():
            place = f"&v{each.number}[m][n + {t * self.lanes}]"
            yield f"          const {_VECTORS[each.kind]} x{each.number}_{t} = load({place});"

    def _featured(
        self, block: Block, known: set[Expression], crossing: Sequence[Expression], at: int
    ) -> Iterator[str]:
        indent = "            "
        along = [total for total in block.totals if total.detail == I]
        local = set(block.expressions)
        outside = {a for each in (*block.expressions, *block.totals) for a in each.arguments} - local
        for each in sorted(outside, key=lambda e: e.number):
            yield from self._fetched(each, known, at)
        for total in along:
            for t in self._copies():
                yield f"          {_VECTORS[total.kind]} x{total.number}_{t} = {{}};"
        yield "          for (int i = 0; i < FEATURES; ++i) {"
        for each in sorted(outside, key=lambda e: e.number):
            if each.loops == {I}:
                text = f"splat({self._scalar(each, set())})"
                yield f"{indent}const {_VECTORS[each.kind]} w{each.number} = {text};"
            elif each in crossing:
                for t in self._copies():
                    yield f"{indent}const {_VECTORS[each.kind]} x{each.number}_{t} = t{each.number}[i][{t}];"
        for each in block.expressions:
            yield from self._vectors(each, known, indent, remember=False)
            if each in crossing:
                for t in self._copies():
                    yield f"{indent}t{each.number}[i][{t}] = x{each.number}_{t};"
        for total in block.totals:
            (body,) = total.arguments
            if total.detail == I:
                for t in self._copies():
                    yield f"{indent}x{total.number}_{t} += {self._vector(body, t)};"
            else:
                added = " + ".join(self._vector(body, t) for t in self._copies())
                yield f"{indent}a{total.number}[i] += {added};"
        yield "          }"
        for total in along:
            known.add(total)
            yield from self._stored(total)

    def _vectors(
        self, each: Expression, known: set[Expression], indent: str, remember: bool = True
    ) -> Iterator[str]:
        for t in self._copies():
            text = _applied(each, [self._vector(a, t) for a in each.arguments])
            yield f"{indent}const {_VECTORS[each.kind]} x{each.number}_{t} = {text};"
        if remember:
            known.add(each)

    def _vector(self, each: Expression, t: int) -> str:
        if each.op == "constant":
            return f"splat({_literal(each)})"
        if each.op == "counter":
            return _counter(each, t * self.lanes)
        if N in each.loops:
            return f"x{each.number}_{t}"
        return f"w{each.number}"

    def _from_models(self, stage: Stage) -> list[Expression]:
        """The numbers of a model that its samples need."""
        found: dict[Expression, None] = {}
        for level in stage.levels:
            for block in (level.single, level.featured):
                for each in (*block.expressions, *block.totals):
                    for a in each.arguments:
                        if not a.loops and a.op != "constant":
                            found[a] = None
        return sorted(found, key=lambda e: e.number)


def _together(vectors: int, featured: bool) -> int:
    """How many vectors of samples are computed side by side, so that one does not wait for the other.

    In a loop over features, four share each weight that is read. Without one, two are as fast as four.
    """
    return next(count for count in ((4, 2, 1) if featured else (2, 1)) if vectors % count == 0)


def _kept(made: Schedule, outputs: Sequence[Expression]) -> dict[Expression, None]:
    """What is used outside of the block that computes it, and so must be in memory."""
    found = dict.fromkeys(each for each in outputs if each.op not in LEAVES)
    where: dict[Expression, int] = {}
    blocks = [
        (block, N if stages is made.samples else M, at)
        for stages in (made.models, made.samples)
        for at, stage in enumerate(stages)
        for level in stage.levels
        for block in (level.single, level.featured)
    ]
    for k, (block, _, _) in enumerate(blocks):
        for each in block.expressions:
            where.setdefault(each, k)
    for k, (block, side, at) in enumerate(blocks):
        for total in block.totals:
            if total.detail == N or N not in total.loops:
                found[total] = None
        for each in (*block.expressions, *block.totals):
            for a in each.arguments:
                if a.op in LEAVES or (a in where and where[a] == k):
                    continue
                # Within a pass, numbers per sample stay in registers.
                if N not in a.loops or (a.loops == {N} and made.passes[a] < at):
                    found[a] = None
    return found


def _crossing(stage: Stage) -> list[Expression]:
    """Numbers per sample and feature that a later loop over features uses again."""
    found: dict[Expression, None] = {}
    for level in stage.levels:
        local = set(level.featured.expressions)
        for each in (*level.featured.expressions, *level.featured.totals):
            for a in each.arguments:
                if a.loops == {N, I} and a.op not in LEAVES and a not in local:
                    found[a] = None
    return list(found)


def _applied(each: Expression, given: Sequence[str]) -> str:
    if each.kind == "bool" and each.op in ("and", "or"):
        return f"({given[0]} {_INFIX[each.op]} {given[1]})"
    if each.op in _INFIX:
        return f"{given[0]} {_INFIX[each.op]} {given[1]}"
    if each.op == "neg":
        return f"-{given[0]}"
    if each.op == "cast":
        return f"to_{each.kind}({given[0]})"
    return f"{each.op}_({', '.join(given)})"


def _counter(each: Expression, offset: int | None) -> str:
    """The whole number start + the sum of stride * index: for a vector of samples, or (None) for a model."""
    start, along = each.detail
    strides = dict(along)
    parts = [f"{_wrapped(start + strides.get(N, 0) * (offset or 0))}"]
    parts += [f"{_wrapped(strides[axis])} * {axis}" for axis in (N, I) if axis in strides]
    base = " + ".join(parts)
    if offset is None:
        return f"({base})"
    return f"(splat({base}) + lane() * {_wrapped(strides[N])})" if N in strides else f"splat({base})"


def _wrapped(value: int) -> str:
    value = (value + 2**31) % 2**32 - 2**31
    return f"({value})" if value > -(2**31) else "(-2147483647 - 1)"


def _literal(each: Expression) -> str:
    value = each.detail[0]
    if each.kind == "bool":
        return "true" if value else "false"
    if each.kind in ("int", "long"):
        return _wrapped(int(value)) if each.kind == "int" else f"({int(value)}L)"
    suffix = "f" if each.kind == "float" else ""
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(value):
        return f"({'-' if value < 0 else ''}__builtin_inf{suffix}())"
    return f"({float(value).hex()}{suffix})"


def _memory_kind(each: Expression) -> str:
    return "int" if each.kind == "bool" else each.kind


def _strides(shape: Sequence[int]) -> list[int]:
    strides, total = [], 1
    for size in reversed(shape):
        strides.append(total)
        total *= size
    return strides[::-1]
