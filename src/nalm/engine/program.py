"""Programs: a pure function on tensors with a model axis, compiled once for any number of models.

The size of the model axis stays symbolic, so that one compiled program serves any number of models; since no
loop depends on it but the outermost, a model's numbers are the same, bit for bit, regardless of what shares
the batch. Where nothing can be compiled, or the compiled step is not the eager step, the function runs
eagerly, with one warning per process.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Collection, Sequence

import torch
from torch import Tensor

from nalm.engine import compiler
from nalm.engine.comparison import Tensors, different_models, first_difference, moved, rounding_of
from nalm.threads import one_thread

Step = Callable[[Tensors, Tensors], Tensors]
"""From the state and the inputs, both by name, to the new state."""

_TRACED_MODELS = 16
"""Models while tracing: any size but 0 and 1, which would be taken for constants."""
_FEW = 32
"""Numbers of a model below which its axis is put last in memory."""
_TURN = threading.RLock()
"""Held while a function runs as it is: models of one architecture are applied by one module."""


class Program:
    """A function from state to state, compiled if possible.

    Args:
        function: the pure function; tensors of the state and of `inputs` have the model axis first.
        state: the state by name, an example of the shapes.
        inputs: what stays the same from call to call, by name.
        constants: further inputs, without a model axis.
        compiled: compile, or run the same function eagerly.
        weights: names of tensors of the state or of `inputs` that may have any value, by which the compiled
            program is compared with the function; by default, all of the state.

    Attributes:
        compiled: whether it runs compiled; the first use may find that it cannot.
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
    ) -> None:
        self.state_names = list(state)
        self.input_names = [*inputs, *constants]
        self._with_models = [*state, *inputs]
        self._weights = frozenset(state if weights is None else weights)
        self._function: Step | None = function
        self._run: compiler.Flat = self._eager
        self._compared = False
        self.compiled = False
        if compiled:
            examples = [_example(tensor) for tensor in (*state.values(), *inputs.values())]
            self._compile(self._laid_out(examples), list(constants.values()))

    def repeat(self, state: Tensors, inputs: Tensors, times: int) -> Tensors:
        """Apply the function this many times to the state; `inputs` includes the constants."""
        given = [*(state[name] for name in self.state_names), *(inputs[name] for name in self.input_names)]
        tensors = self._laid_out(given)
        cut = len(self.state_names)
        values, fixed = tensors[:cut], tensors[cut:]
        with one_thread():
            if self.compiled and not self._compared:
                self._compare(tensors)
            # Eager running needs gradients inside the step; a compiled program holds them already.
            with torch.set_grad_enabled(not self.compiled):
                for _ in range(times):
                    values = self._run(*values, *fixed)
        return dict(zip(self.state_names, values, strict=True))

    def _eager(self, *tensors: Tensor) -> list[Tensor]:
        cut = len(self.state_names)
        before = dict(zip(self.state_names, tensors[:cut], strict=True))
        inputs = dict(zip(self.input_names, tensors[cut:], strict=True))
        assert self._function is not None
        with _TURN:
            after = self._function(before, inputs)
        return [_arranged(after[name]) for name in self.state_names]

    def _laid_out(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """State and inputs in the order in memory that the compiled program expects."""
        cut = len(self.state_names)
        return [_arranged(t) if k < cut else t.contiguous() for k, t in enumerate(tensors)]

    def _compile(self, examples: list[Tensor], constants: list[Tensor]) -> None:
        found = compiler.obstacle()
        if found is None:
            try:
                with _TURN:
                    self._run = compiler.compile_step(self._eager, examples, constants)
                self.compiled = True
            except Exception as error:  # a fault of the step itself comes back when it runs eagerly
                found = compiler.failure(error)
        if found is not None:
            _warn_once(found)

    def _compare(self, tensors: list[Tensor]) -> None:
        """Compare one compiled step with the eager one, and run eagerly from now on if they differ."""
        with _TURN:  # of two threads with the same program, one compares and the other waits
            if self._compared:
                return
            try:
                found = self._difference(tensors)
            except Exception as error:  # as above: the step is run eagerly next
                found = compiler.failure(error)
            if found is None:
                self._function = None  # which may hold all the data of the first runs
            else:
                self.compiled, self._run = False, self._eager
                _warn_once(found)
            self._compared = True

    def _difference(self, tensors: list[Tensor]) -> str | None:
        """What differs, as a sentence; None if nothing does. Changes no random numbers and no state."""
        constants = tensors[len(self._with_models) :]
        models = different_models(dict(zip(self._with_models, tensors)), self._weights)
        others = moved(models, self._weights)
        given = self._laid_out([*models.values(), *constants])
        with torch.enable_grad():
            eager = self._eager(*given)
            eager_moved = self._eager(*self._laid_out([*others.values(), *constants]))
        with torch.no_grad():
            compiled = self._run(*given)
        index = first_difference(compiled, eager, eager_moved, rounding_of(models))
        if index is None:
            return None
        return f"A compiled step gave another `{self.state_names[index]}` than the same step run eagerly."


def _arranged(tensor: Tensor) -> Tensor:
    """The same tensor, in the order in memory that makes elementwise loops run along the longest axis.

    A model with few parameters would fill a part of a vector register only: there the model axis is put last
    in memory, and the optimiser works on many models at once.
    """
    if tensor.dim() == 1 or math.prod(tensor.shape[1:]) >= _FEW:
        return tensor.contiguous()
    return tensor.movedim(0, -1).contiguous().movedim(-1, 0)


def _example(tensor: Tensor) -> Tensor:
    """A tensor of the same kind for the number of models used while tracing, whatever the real number."""
    return tensor.new_empty((_TRACED_MODELS, *tensor.shape[1:]))


_warned = False


def _warn_once(reason: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"{reason} Training runs eagerly: right, but many times slower. This is said once per process.",
            stacklevel=2,
        )
