"""A kernel: a function from state to state, compiled into one loop over models and steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from nalm.engine.kernel.build import build, register
from nalm.engine.kernel.emit import Source, emit
from nalm.engine.kernel.lower import lower
from nalm.engine.kernel.trace import trace
from nalm.engine.kernel.unsupported import Unsupported
from nalm.streams import counters

_PRIMES = (37, 41, 43, 47, 53, 59)
"""Numbers of models to trace with: one is taken that is no other size, so that the axis can be recognised."""

AT_ONCE = 200_000
"""Steps, summed over models, between two returns to Python, which only then notices an interruption."""


class Kernel:
    """A compiled function that takes the states of models through many steps.

    Args:
        function: takes the tensors of `state`, of `inputs` and of `constants`; returns the new state.
        state: an example of the state, `models x ...`.
        inputs: examples of further tensors `models x ...`, which stay the same from step to step.
        constants: tensors without a model axis; only counters (see `nalm.streams`) are supported.
        samples: the size of the axis of samples.

    Raises:
        Unsupported: if the function cannot be written as one loop.
        BuildError: if the C++ compiler fails.
    """

    def __init__(
        self,
        function: Callable[..., list[Tensor]],
        state: Sequence[Tensor],
        inputs: Sequence[Tensor],
        constants: Sequence[Tensor],
        samples: int,
    ) -> None:
        if any(tensor.device.type != "cpu" for tensor in (*state, *inputs, *constants)):
            raise Unsupported("another device than the processor")
        if not all(torch.equal(tensor, counters(*tensor.shape)) for tensor in constants):
            raise Unsupported("data that models share")
        first, second, *_ = _unmistakable([*state, *inputs], constants, samples)
        try:
            source = _source(function, state, inputs, constants, first, samples)
        except Unsupported:  # perhaps the function itself makes an axis of that size
            source = _source(function, state, inputs, constants, second, samples)
        self._library = build(source.text, interleaved=source.interleaved)

    def repeat(self, state: Sequence[Tensor], inputs: Sequence[Tensor], times: int) -> list[Tensor]:
        """The state after this many steps."""
        held, fixed = ([tensor.contiguous() for tensor in tensors] for tensors in (state, inputs))
        most = max(1, AT_ONCE // len(held[0]))
        for first in range(0, times, most):
            held = self._library.repeat(held, fixed, min(most, times - first))
        return held


def _source(
    function: Callable[..., list[Tensor]],
    state: Sequence[Tensor],
    inputs: Sequence[Tensor],
    constants: Sequence[Tensor],
    models: int,
    samples: int,
) -> Source:
    """The C++ of a function, traced with this many models."""
    examples = [_repeated(tensor, models) for tensor in (*state, *inputs)]
    found = trace(lambda *given: function(*given, *constants), examples)
    return emit(lower(found, models, samples), len(state), register())


def _unmistakable(tensors: Sequence[Tensor], constants: Sequence[Tensor], samples: int) -> list[int]:
    """Numbers of models that are the size of no other axis."""
    sizes = {size for tensor in tensors for size in tensor.shape[1:]} | {samples}
    sizes |= {size for tensor in constants for size in tensor.shape}
    return [prime for prime in _PRIMES if prime not in sizes]


def _repeated(tensor: Tensor, models: int) -> Tensor:
    """As many models, made of those of the tensor, in memory of their own."""
    return tensor[torch.arange(models) % len(tensor)].contiguous()
