"""From tensor operations to expressions of single numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nalm.engine.kernel.arrays import Array
from nalm.engine.kernel.context import Context, Sizes
from nalm.engine.kernel.operations import OPERATIONS
from nalm.engine.kernel.trace import Operation, Trace, Value
from nalm.engine.kernel.unsupported import Unsupported

WRITTEN_OUT = 32
"""Axes up to this size, other than models and samples, are written out."""


@dataclass(frozen=True)
class Lowered:
    """A function as expressions.

    Attributes:
        sizes: the sizes of its loops.
        inputs: the array of each input.
        outputs: the array of each output.
    """

    sizes: Sizes
    inputs: list[Array]
    outputs: list[Array]


def lower(trace: Trace, models: int, samples: int) -> Lowered:
    """The outputs of a trace as expressions of its inputs."""
    sizes = _sizes(trace, models, samples)
    context = Context(sizes)
    arrays: dict[int, Array] = {}
    for index, value in enumerate(trace.inputs):
        arrays[value.number] = context.input(index, value)
    for operation in _needed(trace):
        function = OPERATIONS.get(operation.name)
        if function is None:
            raise Unsupported(f"the operation {operation.name}")
        given = [context.argument(each, arrays) for each in operation.arguments]
        named = {name: context.argument(each, arrays) for name, each in operation.keywords.items()}
        found = function(context.for_operation(operation), *given, **named)
        found = found if isinstance(found, list) else [found]
        for value, array in zip(operation.results, found, strict=True):
            if array.shape != value.shape:
                raise Unsupported(f"{operation.name} of shapes that are not understood")
            arrays[value.number] = array
    outputs = [context.argument(value, arrays) for value in trace.outputs]
    return Lowered(sizes, [arrays[value.number] for value in trace.inputs], outputs)


def _sizes(trace: Trace, models: int, samples: int) -> Sizes:
    """The one long axis that is neither models nor samples, if there is one."""
    sizes = {size for value in trace.inputs for size in value.shape} - {models, samples}
    long = {size for size in sizes if size > WRITTEN_OUT}
    if len(long) > 1:
        raise Unsupported(f"long axes of several sizes: {sorted(long)}")
    return Sizes(models, samples, long.pop() if long else None)


def _needed(trace: Trace) -> list[Operation]:
    """The operations that outputs depend on."""
    wanted = {value.number for value in trace.outputs}
    found = []
    for operation in reversed(trace.operations):
        if any(value.number in wanted for value in operation.results):
            found.append(operation)
            pending: list[Any] = [*operation.arguments, *operation.keywords.values()]
            while pending:
                each = pending.pop()
                if isinstance(each, Value):
                    wanted.add(each.number)
                elif isinstance(each, list):
                    pending += each
    return found[::-1]
