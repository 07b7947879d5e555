"""A whole program as C++: a block of models is read, taken through all steps, and written.

Everything that a block needs stays in the first caches meanwhile, and there is no Python between two steps.
Models that fill up the last block repeat its first one; their samples are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nalm.engine.kernel.arrays import Array
from nalm.engine.kernel.emit_models import ModelLines
from nalm.engine.kernel.emit_samples import SampleLines
from nalm.engine.kernel.expressions import FEATURES, MODELS, SAMPLES, Expression
from nalm.engine.kernel.layout import Layout
from nalm.engine.kernel.lower import Lowered
from nalm.engine.kernel.memory import kept
from nalm.engine.kernel.schedule import Schedule, reachable, schedule
from nalm.engine.kernel.text import VECTORS, Names, literal
from nalm.engine.kernel.unsupported import Unsupported

MOST_EXPRESSIONS = 6000
"""A program of more takes the C++ compiler longer than torch's; iNALU's step with ten inputs has 1,600."""


_LONG = {"exp", "log", "sigmoid", "tanh", "sin", "cos", "pow", "erfinv", "erf", "log1p", "expm1"}
"""Functions of which each operation waits for the one before."""


@dataclass(frozen=True)
class Source:
    """A program.

    Attributes:
        text: the C++.
        interleaved: whether long functions of several samples should be mixed. In a loop over features, where
            registers are scarce, it is slower.
    """

    text: str
    interleaved: bool


def emit(lowered: Lowered, states: int, register: int) -> Source:
    """The C++ of a function.

    Args:
        lowered: the function; its first inputs are the state, and so are its outputs.
        states: how many inputs are the state.
        register: the single-precision numbers in a vector register.
    """
    outputs = [each for array in lowered.outputs for each in array.elements.flat]
    every = reachable(outputs)
    _check(lowered, every)
    made = schedule(outputs)
    layout = Layout.of(made, lowered.sizes.samples, lowered.sizes.features, register)
    memory = kept(made, outputs)
    names = Names(lowered.inputs)
    state = _State(lowered, states, names, layout, {each.detail[:2] for each in every if each.op == "input"})
    lines = [
        f"#define LANES {layout.lanes}",
        f"enum {{ BLOCK = {layout.block}, SAMPLES = {layout.samples}, FEATURES = {layout.features} }};",
        '#include "maths.h"',
        "",
        'extern "C" void repeat(long models, long times, void** given, void** kept) {',
        "  for (long first = 0; first < models; first += BLOCK) {",
        "    const int live = models - first < BLOCK ? models - first : BLOCK;",
        *state.read(),
        *_declared(memory, layout),
        "    for (long done = 0; done < times; ++done) {",
        *_step(made, memory, names, layout),
        *state.update(),
        "    }",
        *state.write(),
        "  }",
        "}",
    ]
    long = any(each.op in _LONG and SAMPLES in each.loops for each in every)
    return Source("\n".join([*lines, ""]), interleaved=long and layout.features == 1)


def _check(lowered: Lowered, every: Sequence[Expression]) -> None:
    if len(every) > MOST_EXPRESSIONS:
        raise Unsupported(f"{len(every):,} expressions")
    for each in every:
        if SAMPLES in each.loops and each.kind not in VECTORS:
            raise Unsupported(f"numbers per sample of kind {each.kind}")
        if SAMPLES in each.loops and each.op == "input":
            raise Unsupported("an input with an axis of samples")
    for array in lowered.outputs:
        if MODELS not in array.labels[:1] or SAMPLES in array.labels:
            raise Unsupported("a state without models, or with samples")


def _declared(memory: dict[Expression, None], layout: Layout) -> Iterator[str]:
    """The arrays of what must be in memory."""
    for each in memory:
        if each.loops == {SAMPLES}:
            kind = "int" if each.kind == "bool" else each.kind  # a mask
            yield f"    {layout.memory} {kind} v{each.number}[BLOCK][SAMPLES];"
        else:
            sizes = "[BLOCK][FEATURES]" if FEATURES in each.loops else "[BLOCK]"
            yield f"    {layout.memory} {each.kind} v{each.number}{sizes};"


def _step(made: Schedule, memory: dict[Expression, None], names: Names, layout: Layout) -> Iterator[str]:
    models = ModelLines(names, memory)
    for at, (on_models, on_samples) in enumerate(itertools.zip_longest(made.models, made.samples)):
        if on_models is not None:
            yield from models.lines(on_models)
        if on_samples is not None:
            yield from SampleLines(names, memory, layout, made, at).lines()


@dataclass(frozen=True)
class _State:
    """Reads and writes the tensors of a program.

    Attributes:
        lowered: the function.
        states: how many inputs are the state.
        names: the arrays of the inputs.
        layout: the sizes.
        used: the inputs that are used, by index and element.
    """

    lowered: Lowered
    states: int
    names: Names
    layout: Layout
    used: set[tuple[int, tuple[int, ...]]]

    def read(self) -> Iterator[str]:
        """From tensors into arrays."""
        for index, array in enumerate(self.lowered.inputs):
            for element, name, place in self._elements(index, array):
                if index < self.states or (index, element) in self.used:
                    kind = array.elements[element].kind
                    sizes = "[BLOCK][FEATURES]" if FEATURES in array.labels else "[BLOCK]"
                    yield f"    {self.layout.memory} {kind} {name}{sizes};"
                    yield f"    fetch({name}, given[{index}], first, live, {place});"

    def write(self) -> Iterator[str]:
        """From arrays into tensors."""
        for index in range(self.states):
            for _, name, place in self._elements(index, self.lowered.inputs[index]):
                yield f"    keep({name}, kept[{index}], first, live, {place});"

    def update(self) -> Iterator[str]:
        """The new state becomes the state."""
        for index in range(self.states):
            before, after = self.lowered.inputs[index], self.lowered.outputs[index]
            if before.elements.shape != after.elements.shape:
                raise Unsupported("a state that changes its shape")
            for element, name, _ in self._elements(index, before):
                result = after.elements[element]
                if result is before.elements[element]:
                    continue
                if result.op == "input":
                    raise Unsupported("a state that takes the place of another")
                value = literal(result) if result.op == "constant" else self.names.scalar(result)
                loop = "for (int m = 0; m < BLOCK; ++m)"
                if FEATURES in before.labels:
                    yield f"      {loop} for (int i = 0; i < FEATURES; ++i) {name}[m][i] = {value};"
                else:
                    yield f"      {loop} {name}[m] = {value};"

    def _elements(self, index: int, array: Array) -> Iterator[tuple[tuple[int, ...], str, str]]:
        """The elements of an input: indices, array, and where they are in the tensor.

        The last is the size of a model, the offset of the element, and the stride along features.
        """
        if MODELS not in array.labels[:1]:
            if any(index == used for used, _ in self.used):
                raise Unsupported("an input without models")
            return
        strides = [int(np.prod(array.shape[k + 1 :], dtype=int)) for k in range(array.ndim)]
        along = strides[array.labels.index(FEATURES)] if FEATURES in array.labels else 0
        for element in np.ndindex(*array.elements.shape):
            offset = sum(e * s for e, s in zip(element, strides))
            yield element, self.names.input(index, element), f"{strides[0]}, {offset}, {along}"
