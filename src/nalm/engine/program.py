"""Programs: a pure function on tensors with a model axis, compiled once for any number of models.

One compiled program serves any number of models, because only its outermost loop depends on that number: a
model's numbers are the same, bit for bit, regardless of what shares the batch. A program is a loop of our own
(see `kernel`); what the loop does not know is compiled by torch (see `compiler`). Where nothing can be
compiled, or the compiled step differs from the eager step, the function runs eagerly, with one warning per
process.
"""

from __future__ import annotations

import logging
import math
import threading
import warnings
from collections.abc import Callable, Collection, Sequence

import torch
from torch import Tensor

from nalm.engine import compiler
from nalm.engine.comparison import Tensors, different_models, first_difference, moved, rounding_of
from nalm.engine.kernel.kernel import Kernel
from nalm.threads import one_thread

Step = Callable[[Tensors, Tensors], Tensors]
"""Takes the state and the inputs, both by name; returns the new state."""

_LOGGER = logging.getLogger(__name__)
_TRACED_MODELS = 16
"""Number of models while tracing: any but 0 and 1, which would be treated as constants."""
_FEW = 32
"""With fewer numbers per model than this, the model axis is put last in memory."""
_TURN = threading.RLock()
"""Held while a function runs eagerly, because one module applies all models of an architecture."""


class Program:
    """A function from state to state, compiled if possible.

    Args:
        function: the pure function; tensors of the state and of `inputs` have the model axis first.
        state: an example of the state, for its names and shapes.
        inputs: tensors that stay the same from step to step, by name.
        constants: further inputs, without a model axis.
        compiled: whether to compile the function; if not, it runs eagerly.
        weights: names of tensors of the state or of `inputs` that may have any value; they are varied to
            compare the compiled program with the function. By default, all of the state.
        samples: the size of the axis of samples; without it, the function is not written as one loop.

    Attributes:
        way: how it runs: "loop" (see `kernel`), "torch" (torch's own compiler, see `compiler`) or "eager". It
            may change at the first use.
    """

    def __init__(
        self,
        function: Step,
        state: Tensors,
        inputs: Tensors,
        constants: Tensors,
        *,
        compiled: bool,
        weights: Collection[str] | None = None,
        samples: int | None = None,
    ) -> None:
        self.state_names = list(state)
        self.input_names = [*inputs, *constants]
        self._with_models = [*state, *inputs]
        self._weights = frozenset(state if weights is None else weights)
        self._function: Step | None = function
        self._kernel: Kernel | None = None
        self._run: compiler.Flat = self._eager
        self._compared = False
        self.way = "eager"
        if compiled:
            self._compile(state, inputs, constants, samples)

    @property
    def compiled(self) -> bool:
        """Whether it runs compiled."""
        return self.way != "eager"

    def repeat(self, state: Tensors, inputs: Tensors, times: int) -> Tensors:
        """Apply the function this many times to the state; `inputs` includes the constants."""
        tensors = [*(state[name] for name in self.state_names), *(inputs[name] for name in self.input_names)]
        with one_thread():
            if self.compiled and not self._compared:
                self._compare(tensors)
            values = self._repeat(tensors, times)
        return dict(zip(self.state_names, values, strict=True))

    def _repeat(self, tensors: list[Tensor], times: int) -> list[Tensor]:
        cut, held = len(self.state_names), len(self._with_models)
        if self._kernel is not None:
            return self._kernel.repeat(tensors[:cut], tensors[cut:held], times)
        laid_out = self._laid_out(tensors)
        values, fixed = laid_out[:cut], laid_out[cut:]
        # An eager step needs autograd; a compiled program already contains its gradients.
        with torch.set_grad_enabled(not self.compiled):
            for _ in range(times):
                values = self._run(*values, *fixed)
        return values

    def _eager(self, *tensors: Tensor) -> list[Tensor]:
        return [_arranged(tensor) for tensor in self._stepped(*tensors)]

    def _stepped(self, *tensors: Tensor) -> list[Tensor]:
        """The function, from the tensors of state and inputs to those of the new state."""
        cut = len(self.state_names)
        before = dict(zip(self.state_names, tensors[:cut], strict=True))
        inputs = dict(zip(self.input_names, tensors[cut:], strict=True))
        assert self._function is not None
        with _TURN:
            after = self._function(before, inputs)
        return [after[name] for name in self.state_names]

    def _laid_out(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """State and inputs in the memory layout that the compiled program expects."""
        cut = len(self.state_names)
        return [_arranged(t) if k < cut else t.contiguous() for k, t in enumerate(tensors)]

    # -- compiling -------------------------------------------------------------------------------

    def _compile(self, state: Tensors, inputs: Tensors, constants: Tensors, samples: int | None) -> None:
        if samples is not None and self._compile_as_loop(state, inputs, constants, samples):
            return
        examples = self._laid_out([_example(tensor) for tensor in (*state.values(), *inputs.values())])
        self._compile_by_torch(examples, list(constants.values()))

    def _compile_as_loop(self, state: Tensors, inputs: Tensors, constants: Tensors, samples: int) -> bool:
        """Whether the function could be written as one loop."""
        held, fixed, shared = (list(tensors.values()) for tensors in (state, inputs, constants))
        try:
            with _TURN, one_thread(), torch.enable_grad():
                self._kernel = Kernel(self._stepped, held, fixed, shared, samples)
        except Exception as reason:  # an error of the step itself appears again when it runs eagerly
            _LOGGER.debug("Not written as one loop: %s: %s", type(reason).__name__, reason)
            return False
        self.way = "loop"
        return True

    def _compile_by_torch(self, examples: list[Tensor], constants: list[Tensor]) -> None:
        found = compiler.obstacle()
        if found is None:
            try:
                with _TURN:
                    self._run = compiler.compile_step(self._eager, examples, constants)
                self.way = "torch"
            except Exception as error:  # an error of the step itself appears again when it runs eagerly
                found = compiler.failure(error)
        if found is not None:
            _warn_once(found)

    # -- comparing -------------------------------------------------------------------------------

    def _compare(self, tensors: list[Tensor]) -> None:
        """Compare one compiled step with the eager one, and run eagerly from now on if they differ."""
        with _TURN:  # if two threads have the same program, one compares and the other waits
            if self._compared:
                return
            try:
                found = self._difference(tensors)
            except Exception as error:  # as above: the step runs eagerly next
                found = compiler.failure(error)
            if found is None:
                self._function = None  # it may hold all the data of the first runs
            else:
                self.way, self._kernel, self._run = "eager", None, self._eager
                _warn_once(found)
            self._compared = True

    def _difference(self, tensors: list[Tensor]) -> str | None:
        """What differs, as a sentence; None if nothing does. Changes no random numbers and no state."""
        constants = tensors[len(self._with_models) :]
        models = different_models(dict(zip(self._with_models, tensors)), self._weights)
        others = moved(models, self._weights)
        given = [*models.values(), *constants]
        with torch.enable_grad():
            eager = self._eager(*self._laid_out(given))
            eager_moved = self._eager(*self._laid_out([*others.values(), *constants]))
        compiled = self._repeat(given, 1)
        index = first_difference(compiled, eager, eager_moved, rounding_of(models))
        if index is None:
            return None
        return f"A compiled step gave another `{self.state_names[index]}` than the eager step."


def _arranged(tensor: Tensor) -> Tensor:
    """The same tensor in the memory layout that makes elementwise loops run along the longest axis.

    A model with few parameters would fill only part of a vector register: its model axis is put last in
    memory, so that the optimiser works on many models at once.
    """
    if tensor.dim() == 1 or math.prod(tensor.shape[1:]) >= _FEW:
        return tensor.contiguous()
    return tensor.movedim(0, -1).contiguous().movedim(-1, 0)


def _example(tensor: Tensor) -> Tensor:
    """A tensor of the same kind with the number of models used while tracing."""
    return tensor.new_empty((_TRACED_MODELS, *tensor.shape[1:]))


_warned = False


def _warn_once(reason: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"{reason} Training runs eagerly: correct, but many times slower. Shown once per process.",
            stacklevel=2,
        )
