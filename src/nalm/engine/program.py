"""Programs: a pure function on tensors with a model axis, traced once and compiled for any number of models.

The function is run once on symbolic tensors by `make_fx`, gradients included, which gives a flat list of
tensor operations without Python, modules or autograd. Inductor turns that into fused loops. The size of the
model axis stays symbolic, so that one compiled program serves any number of models; since no loop depends
on it but the outermost, a model's numbers are the same, bit for bit, in any company.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import math
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from nalm.errors import NalmError
from nalm.threads import one_thread

Tensors = dict[str, Tensor]
Step = Callable[[Tensors, Tensors], Tensors]
"""From the state and the inputs, both by name, to the new state."""

_TRACED_MODELS = 16
"""Models while tracing: any size but 0 and 1, which would be taken for constants."""


_FOLDER = "programs-2"
"""Renamed when the way of compiling changes, because torch's cache does not see that."""


class NoCompiler(NalmError):
    """There is no C++ compiler to compile with."""


class Program:
    """A function from state to state, compiled if possible.

    Args:
        function: the pure function; tensors of the state and of `inputs` have the model axis first.
        state: the state by name, an example of the shapes.
        inputs: what stays the same from call to call, by name.
        constants: further inputs, without a model axis.
        compiled: compile, or run the same function eagerly.
        foreign: whether the function has parts of a user's own, which may be beyond the compiler: then it
            runs eagerly, with a warning.
    """

    def __init__(
        self,
        function: Step,
        state: Tensors,
        inputs: Tensors,
        constants: Tensors,
        *,
        compiled: bool,
        foreign: bool = False,
    ) -> None:
        self.state_names = list(state)
        self.input_names = [*inputs, *constants]
        self.compiled = compiled and compiler() is not None
        if compiled and not self.compiled:
            _warn_once()

        def flat(*tensors: Tensor) -> list[Tensor]:
            cut = len(self.state_names)
            before = dict(zip(self.state_names, tensors[:cut], strict=True))
            after = function(before, dict(zip(self.input_names, tensors[cut:], strict=True)))
            return [_arranged(after[name]) for name in self.state_names]

        examples = [_arranged(_example(tensor)) for tensor in state.values()]
        examples += [_example(tensor) for tensor in inputs.values()]
        self._run = flat
        if self.compiled:
            try:
                with _programs_in_user_cache(), one_thread(), _without_delays():
                    self._run = _compile(flat, examples, list(constants.values()))
            except Exception as error:
                if not foreign:
                    raise
                self.compiled = False
                _warn_foreign(error)

    def repeat(self, state: Tensors, inputs: Tensors, times: int) -> Tensors:
        """Apply the function this many times to the state; `inputs` includes the constants."""
        values = [_arranged(state[name]) for name in self.state_names]
        fixed = [inputs[name].contiguous() for name in self.input_names]
        # Eager running needs gradients inside the step; a compiled program holds them already.
        with torch.set_grad_enabled(not self.compiled), one_thread():
            for _ in range(times):
                values = self._run(*values, *fixed)
        return dict(zip(self.state_names, values, strict=True))


def compiler() -> str | None:
    """The C++ compiler that programs are compiled with, or None."""
    with _programs_in_user_cache():
        from torch._inductor import cpp_builder, exc

        try:
            return str(cpp_builder.get_cpp_compiler())
        except exc.InvalidCxxCompiler:
            return None


def cache_folder() -> Path:
    """Where compiled programs are kept: the user's setting for torch, or a folder in the user's cache."""
    from torch._inductor.runtime.cache_dir_utils import default_cache_dir

    configured = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    # Torch writes its own default into the variable when it first looks; that is nobody's setting.
    if configured and configured != default_cache_dir():
        return Path(configured)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "nalm" / _FOLDER


def is_writable(folder: Path) -> bool:
    """Whether files can be made in this folder, which need not exist yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


@functools.cache
def _working_folder(wanted: Path) -> Path:
    """The cache folder, or where it cannot be written a temporary one for this process."""
    if is_writable(wanted):
        return wanted
    temporary = tempfile.mkdtemp(prefix="nalm-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)


def _compile(
    function: Callable[..., list[Tensor]], examples: list[Tensor], constants: list[Tensor]
) -> Callable[..., list[Tensor]]:
    """Trace and compile for a symbolic size of the first axis of all `examples`."""
    from torch._dynamo.source import ConstantSource
    from torch._guards import TracingContext, tracing
    from torch._inductor import cpu_vec_isa, exc
    from torch._inductor.compile_fx import compile_fx
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

    # Equal sizes get one symbol ("duck shaping"): there is only one symbolic size, that of the model axis.
    mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)

    def symbolic(index: int, tensor: Tensor, models: bool) -> Tensor:
        sizes = [DimDynamic.STATIC] * tensor.dim()
        if models:
            sizes[0] = DimDynamic.DUCK
        context: StatelessSymbolicContext = StatelessSymbolicContext(dynamic_sizes=sizes)
        return mode.from_tensor(tensor, source=ConstantSource(f"input{index}"), symbolic_context=context)

    tensors = [*examples, *constants]
    fakes = [symbolic(k, tensor, k < len(examples)) for k, tensor in enumerate(tensors)]
    with _TraceableProducts():
        graph = make_fx(function)(*fakes)
    settings: dict[str, Any] = {"cpp.threads": 1, "compile_threads": 1}
    with tracing(TracingContext(mode)), torch.no_grad(), _right_loops(), _costly_functions_once():
        try:  # with all vector instructions of this processor, without the seconds that trying each takes
            return compile_fx(graph, fakes, config_patches={**settings, "cpp.vec_isa_ok": True})
        except exc.InductorError:  # an old compiler may not know them: let torch try
            cpu_vec_isa.valid_vec_isa_list.cache_clear()
            for instructions in cpu_vec_isa.supported_vec_isa_list:
                getattr(type(instructions).__bool__, "cache_clear", lambda: None)()
            return compile_fx(graph, fakes, config_patches=settings)


@contextlib.contextmanager
def _costly_functions_once() -> Iterator[None]:
    """Compute the inverse error function, behind normal numbers, into memory.

    Inductor takes every elementwise function for cheap and computes it again wherever its value is used. With
    ten normal inputs, of which each has a part in every other's gradient, a step took many times as long.
    """
    from torch._inductor.lowering import fallback_handler, lowerings

    function = torch.ops.aten.erfinv.default
    original = lowerings[function]
    lowerings[function] = fallback_handler(function, add_to_fallback_set=False)
    try:
        yield
    finally:
        lowerings[function] = original


@contextlib.contextmanager
def _without_delays() -> Iterator[None]:
    """Spare the compiler a third of its time (torch 2.13): collecting garbage where there is none, and rules
    about types, kept in one object for all, which it makes anew for every operation of every loop.
    """
    from torch._inductor.dtype_propagation import DtypePropagationOpsHandler as Rules

    original, made, collecting = Rules.__init__, False, gc.isenabled()

    def make_once(self: Rules) -> None:
        nonlocal made
        if not made:
            original(self)
        made = True

    Rules.__init__ = make_once
    gc.disable()
    try:
        yield
    finally:
        Rules.__init__ = original
        if collecting:
            gc.enable()


class _TraceableProducts(TorchFunctionMode):
    """Writes `torch.prod` along an axis as multiplications: its own gradient needs to know all sizes."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = dict(zip(("input", "dim", "keepdim"), args)) | (kwargs or {})
        if function not in (torch.prod, Tensor.prod) or not isinstance(given.get("dim"), int):
            return function(*args, **(kwargs or {}))
        result = functools.reduce(torch.mul, given["input"].unbind(given["dim"]))
        return result.unsqueeze(given["dim"]) if given.get("keepdim") else result


@contextlib.contextmanager
def _right_loops() -> Iterator[None]:
    """Keep Inductor from fusing loops over models in a way that mixes them up (seen in torch 2.13).

    Where it fuses several loops over samples into one loop over models, it keeps intermediate values of one
    model only, in a local buffer. If it also takes that outer loop in steps of 16, all 16 models share the
    buffer, and 15 of them get wrong gradients, without an error. Refused here, the loops follow each other.
    """
    from torch._inductor.codegen.cpp import OuterLoopFusedSchedulerNode as Fused
    from torch._inductor.virtualized import V

    original = Fused.check_outer_fusion_loop_level_attr

    def check(self: Fused, kernels: list[Any], depth: int) -> bool:
        tiled = any(loop.steps != 1 for kernel in kernels for loop in kernel.loop_nest.loops[:depth])
        if tiled and getattr(V.local_buffer_context, "local_buffers", None):
            return False
        return bool(original(self, kernels, depth))

    Fused.check_outer_fusion_loop_level_attr = check
    try:
        yield
    finally:
        Fused.check_outer_fusion_loop_level_attr = original


_FEW = 32


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


@contextlib.contextmanager
def _programs_in_user_cache() -> Iterator[None]:
    """Point torch's compile cache to our folder while compiling, and leave the user's own setting alone.

    Torch writes the variable as soon as its compiler is imported, so the imports belong inside.
    """
    before = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(_working_folder(cache_folder()))
    try:
        yield
    finally:
        if before is None:
            del os.environ["TORCHINDUCTOR_CACHE_DIR"]
        else:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = before


def _warn_foreign(error: Exception) -> None:
    reason = str(error).partition("\n")[0]
    text = f"The model cannot be compiled and trains eagerly, many times slower ({reason})."
    warnings.warn(text, stacklevel=2)


_warned = False


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "No C++ compiler was found: training runs eagerly, with the same results but many times slower. "
            "Install g++ or clang to compile.",
            stacklevel=2,
        )
