"""Traces: the tensor operations of a function, gradients included, as a flat list.

The function runs once on real tensors. Every operation below autograd is recorded with its arguments. Tensors
are recognised by the memory they refer to, because autograd keeps some of them as other Python objects; all
of them are kept until the end, so that no memory is used twice. Operations that write into a tensor are
recorded as ones that return a new value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from nalm.engine.kernel.unsupported import Unsupported
from nalm.engine.products import TraceableProducts

_OF_SHAPE = ("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full")
"""Operations whose result depends on the shape of a tensor, not on its numbers."""


@dataclass(frozen=True)
class Value:
    """A tensor of the trace.

    Attributes:
        number: its place among the values.
        shape: its sizes while tracing.
        dtype: its precision.
        constant: its numbers, if they depend on no input.
    """

    number: int
    shape: tuple[int, ...]
    dtype: torch.dtype
    constant: Tensor | None = None


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        name: the name of the operator, such as `add.Tensor`.
        arguments: its arguments, with a `Value` for every tensor.
        keywords: its keyword arguments.
        results: the values that it returns.
        promoted: the dtype that its tensors are brought to before it computes.
    """

    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    results: list[Value]
    promoted: torch.dtype


@dataclass(frozen=True)
class Trace:
    """The operations of a function, from its inputs to its outputs."""

    inputs: list[Value]
    operations: list[Operation]
    outputs: list[Value]


def trace(function: Callable[..., list[Tensor]], examples: Sequence[Tensor]) -> Trace:
    """Call a function on these tensors and record what it does."""
    recorder = _Recorder()
    inputs = [recorder.new(tensor) for tensor in examples]
    with TraceableProducts(), recorder:
        found = function(*examples)
    return Trace(inputs, recorder.operations, [recorder.value_of(tensor) for tensor in found])


class _Recorder(TorchDispatchMode):
    """Records every operation while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self._values: dict[tuple[Any, ...], Value] = {}
        self._by_memory: dict[int, set[tuple[Any, ...]]] = {}
        self._stale: set[tuple[Any, ...]] = set()
        self._kept: list[Tensor] = []
        self._count = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: torch would import its compiler for that, which takes seconds."""
        return False

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded in function.tags:
            raise Unsupported(f"{function} draws random numbers from torch")
        arguments = tuple(self._recorded(each) for each in args)
        keywords = {name: self._recorded(each) for name, each in kwargs.items()}
        promoted = _promoted(args)
        result = function(*args, **kwargs)
        packet, overload = function._schema.name.partition("::")[2], function._overloadname
        constant = packet in _OF_SHAPE or not _depends([*arguments, *keywords.values()])
        written = function._schema.is_mutable
        if written:
            self._forget(args[0])
        tensors = list(result) if isinstance(result, (list, tuple)) else [result]
        if not all(isinstance(tensor, Tensor) for tensor in tensors):
            raise Unsupported(f"{function} returns a number")
        # A view that refers to the memory of a known value in the same way is that value.
        results = [self.new(tensor, constant=constant) for tensor in tensors]
        if not constant:
            name = f"{packet.rstrip('_') if written else packet}.{overload}"
            self.operations.append(Operation(name, arguments, keywords, results, promoted))
        return result

    def new(self, tensor: Tensor, *, constant: bool = False) -> Value:
        """A new value for this tensor."""
        held = tensor.detach().clone() if constant else None
        value = Value(self._count, tuple(tensor.shape), tensor.dtype, held)
        self._count += 1
        self._kept.append(tensor)
        place = _place(tensor)
        self._values[place] = value
        self._by_memory.setdefault(place[0], set()).add(place)
        self._stale.discard(place)
        return value

    def value_of(self, tensor: Tensor) -> Value:
        """The value of a tensor; one that no operation has returned is a constant."""
        place = _place(tensor)
        if place in self._stale:
            raise Unsupported("a tensor is read through a view after it was written to")
        if place not in self._values:
            if place[0] in self._by_memory and tensor.numel():
                raise Unsupported("memory is shared in a way that the trace does not follow")
            return self.new(tensor, constant=True)
        return self._values[place]

    def _recorded(self, argument: Any) -> Any:
        if isinstance(argument, Tensor):
            return self.value_of(argument)
        if isinstance(argument, (list, tuple)):
            return [self._recorded(each) for each in argument]
        return argument

    def _forget(self, tensor: Tensor) -> None:
        """Mark all other views of memory that was written to."""
        others = self._by_memory.get(_place(tensor)[0], set())
        self._stale |= others - {_place(tensor)}


def _place(tensor: Tensor) -> tuple[Any, ...]:
    """The memory that a tensor refers to, and how."""
    start = tensor.untyped_storage().data_ptr()
    return start, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype


def _depends(arguments: Any) -> bool:
    """Whether any of these values depends on an input."""
    if isinstance(arguments, (list, tuple)):
        return any(map(_depends, arguments))
    return isinstance(arguments, Value) and arguments.constant is None


def _promoted(arguments: tuple[Any, ...]) -> torch.dtype:
    """The common dtype of the tensors among these arguments; a mask does not count."""
    tensors = [each for each in arguments if isinstance(each, Tensor)]
    if len(tensors) == 3:  # where: the first is a mask
        tensors = tensors[1:]
    if not tensors:
        return torch.float32
    scalars = [each for each in arguments if type(each) in (int, float)]
    if len(tensors) == 1:
        return torch.result_type(tensors[0], scalars[0]) if scalars else tensors[0].dtype
    return torch.result_type(tensors[0], tensors[1])
