"""The compiler: the only module of nalm that uses private names of torch.

`compile_step` traces a function once on symbolic tensors with `make_fx`, gradients included, which gives a
flat list of operations without Python, modules or autograd; Inductor turns that into fused loops. Both may
change with any version of torch: on versions not in `TESTED` nothing is compiled. A missing name or a failure
of the compiler is an error here; `program` catches it and runs the function eagerly.

What a second thread may notice while this one compiles:

- `torch.compile` waits, because the lock of torch's own compiler is held; so do our own compilations.
- The environment variables `_WRITTEN` and the recursion limit, which torch's compiler writes, may have our
  values, and Python collects no garbage. All are restored afterwards, even after a failure.
- Code that enters Inductor without that lock, such as AOTInductor after `torch.export`, sees our hooks.

Settings of the compiler, the tracing mode and the mode that rewrites products are local to each thread.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from nalm.engine.cache import VARIABLE, cache_folder, remove_damaged, working_folder
from nalm.engine.products import TraceableProducts
from nalm.threads import one_thread

TESTED = ("2.13",)
"""Versions of torch whose compiler this module was tested with."""

NO_COMPILER = "No C++ compiler was found: install g++ or clang."

_PRIVATE = {
    "compile_lock": "torch._dynamo.convert_frame",
    "ConstantSource": "torch._dynamo.source",
    "TracingContext": "torch._guards",
    "tracing": "torch._guards",
    "OuterLoopFusedSchedulerNode": "torch._inductor.codegen.cpp",
    "compile_fx": "torch._inductor.compile_fx",
    "get_cpp_compiler": "torch._inductor.cpp_builder",
    "valid_vec_isa_list": "torch._inductor.cpu_vec_isa",
    "DtypePropagationOpsHandler": "torch._inductor.dtype_propagation",
    "InductorError": "torch._inductor.exc",
    "InvalidCxxCompiler": "torch._inductor.exc",
    "fallback_handler": "torch._inductor.lowering",
    "lowerings": "torch._inductor.lowering",
    "V": "torch._inductor.virtualized",
    "FakeTensorMode": "torch._subclasses.fake_tensor",
    "make_fx": "torch.fx.experimental.proxy_tensor",
    "DimDynamic": "torch.fx.experimental.symbolic_shapes",
    "ShapeEnv": "torch.fx.experimental.symbolic_shapes",
    "StatelessSymbolicContext": "torch.fx.experimental.symbolic_shapes",
}
"""The private names, each with the module that it comes from."""
_WRITTEN = (VARIABLE, "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR")
"""Environment variables that torch's compiler writes."""
_LOCK = threading.RLock()

Flat = Callable[..., list[Tensor]]


def obstacle() -> str | None:
    """Why nothing can be compiled here, as a sentence; None if it can."""
    version = str(torch.__version__)
    if not any(version == known or version.startswith(f"{known}.") for known in TESTED):
        return f"The compiler was tested with torch {' and '.join(TESTED)} only, but this is torch {version}."
    try:
        found = _cpp_compiler()
    except Exception as error:  # the search may fail in any way; everything else works without it
        return failure(error)
    return None if found else NO_COMPILER


def failure(error: Exception) -> str:
    """The compiler's error as a sentence."""
    reason = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    return f"The compiler of torch {torch.__version__} failed ({type(error).__name__}: {reason})."


def cpp_compiler() -> str | None:
    """The C++ compiler that programs are compiled with; None if nothing can be compiled."""
    return None if obstacle() else _cpp_compiler()


def _cpp_compiler() -> str | None:
    with _LOCK, _nothing_left_behind():
        private = _private()
        try:
            return str(private.get_cpp_compiler())
        except private.InvalidCxxCompiler:
            return None


def compile_step(function: Flat, examples: Sequence[Tensor], constants: Sequence[Tensor]) -> Flat:
    """Trace and compile a pure function for any number of models.

    Args:
        function: takes the tensors of `examples`, then those of `constants`; returns tensors.
        examples: tensors whose first axis, that of models, gets a symbolic size.
        constants: tensors whose shape is part of the program.

    Raises:
        Exception: of any kind, if a name is missing or the compiler fails.
    """
    with _LOCK, one_thread(), _nothing_left_behind():
        private = _private()
        with private.compile_lock, _without_collecting(), _types_once(private):
            graph, inputs, mode = _traced(private, function, examples, constants)
            hooks = _right_loops(private), _costly_functions_once(private)
            with private.tracing(private.TracingContext(mode)), torch.no_grad(), hooks[0], hooks[1]:
                return _compiled(private, graph, inputs)


def _private() -> Any:
    """Import the private names. That writes environment variables: see `_nothing_left_behind`."""
    return SimpleNamespace(**{name: getattr(import_module(where), name) for name, where in _PRIVATE.items()})


def _traced(
    private: Any, function: Flat, examples: Sequence[Tensor], constants: Sequence[Tensor]
) -> tuple[Any, list[Tensor], Any]:
    """The function as a graph of operations, its symbolic inputs, and their fake tensor mode."""
    # Equal sizes get one symbol ("duck shaping"): there is only one symbolic size, that of the model axis.
    mode = private.FakeTensorMode(shape_env=private.ShapeEnv(), allow_non_fake_inputs=True)

    def symbolic(index: int, tensor: Tensor, models: bool) -> Tensor:
        sizes = [private.DimDynamic.STATIC] * tensor.dim()
        if models:
            sizes[0] = private.DimDynamic.DUCK
        context = private.StatelessSymbolicContext(dynamic_sizes=sizes)
        source = private.ConstantSource(f"input{index}")
        made: Tensor = mode.from_tensor(tensor, source=source, symbolic_context=context)
        return made

    tensors = [*examples, *constants]
    inputs = [symbolic(k, tensor, k < len(examples)) for k, tensor in enumerate(tensors)]
    with TraceableProducts():
        return private.make_fx(function)(*inputs), inputs, mode


def _compiled(private: Any, graph: Any, inputs: list[Tensor]) -> Flat:
    """The graph as compiled loops, with all vector instructions of this processor.

    By default torch first tests each instruction set with the C++ compiler. Declaring that all work saves
    these tests: with an empty cache, 5 s on top of the 1.5 s (NMU) or 4 s (RealNPU) for the step itself. If
    compiling then fails, because the C++ compiler is too old or a cached file is damaged, it is repeated with
    the tests and without the file. Torch's record of instruction sets is cleared afterwards, since the
    caller's own `torch.compile` may rely on the tests.
    """
    settings: dict[str, Any] = {"cpp.threads": 1, "compile_threads": 1}
    forget = private.valid_vec_isa_list.cache_clear
    forget()
    try:
        made: Flat = private.compile_fx(graph, inputs, config_patches={**settings, "cpp.vec_isa_ok": True})
    except private.InductorError as error:
        forget()
        remove_damaged(str(error))
        made = private.compile_fx(graph, inputs, config_patches=settings)
    finally:
        forget()
    return made


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Replace an attribute that the class itself must have; without it, nothing may be compiled."""
    original = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _right_loops(private: Any) -> contextlib.AbstractContextManager[None]:
    """Keep Inductor from fusing loops over models in a way that mixes them up (seen in torch 2.13).

    Where it fuses several loops over samples into one loop over models, it keeps intermediate values of only
    one model, in a local buffer. If it also vectorises that outer loop by 16, all 16 models share the buffer,
    and 15 of them silently get wrong gradients. Here the fusion is refused and the loops run in sequence:
    gradients are right, and SNMU's step takes as long as before (0.42 and 0.39 ms for 256 models; repetitions
    differ by more). If this stops working, `comparison` notices: a test removes it and checks that.
    """
    fused, V = private.OuterLoopFusedSchedulerNode, private.V
    name = "check_outer_fusion_loop_level_attr"
    original = vars(fused)[name]

    def check(self: Any, kernels: list[Any], depth: int) -> bool:
        tiled = any(loop.steps != 1 for kernel in kernels for loop in kernel.loop_nest.loops[:depth])
        if tiled and getattr(V.local_buffer_context, "local_buffers", None):
            return False
        return bool(original(self, kernels, depth))

    return _replaced(fused, name, check)


@contextlib.contextmanager
def _costly_functions_once(private: Any) -> Iterator[None]:
    """Compute the inverse error function, which normal numbers come from, once and keep it in memory.

    Inductor treats every elementwise function as cheap and computes it again wherever its value is used. With
    ten normal inputs, each of which enters the gradients of all others, a step of 256 NAUs took 18.5 ms
    instead of 2.2 ms.
    """
    function, lowerings = torch.ops.aten.erfinv.default, private.lowerings
    original = lowerings[function]
    lowerings[function] = private.fallback_handler(function, add_to_fallback_set=False)
    try:
        yield
    finally:
        lowerings[function] = original


def _types_once(private: Any) -> contextlib.AbstractContextManager[None]:
    """Build the compiler's rules about types once, not for every operation of every loop.

    One object then holds them for all. Saves 30 % of the time that Python takes to compile NMU's step (17.5 s
    of a busy core to 12.2 s), 20 % for RealNPU's (23.7 s to 18.9 s).
    """
    rules = private.DtypePropagationOpsHandler
    original, made = vars(rules)["__init__"], False

    def make_once(self: Any) -> None:
        nonlocal made
        if not made:
            original(self)
        made = True

    return _replaced(rules, "__init__", make_once)


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Switch off garbage collection while compiling: there is no garbage to find.

    Saves 27 % of the time that Python takes to compile NMU's step (16.8 s of a busy core to 12.2 s), almost
    nothing for RealNPU's. Other threads of the process collect no garbage either until the step is compiled.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextlib.contextmanager
def _nothing_left_behind() -> Iterator[None]:
    """Point torch's compile cache to our folder, and restore the process afterwards.

    Torch writes its variables as soon as its compiler is imported, so the imports must happen inside. Values
    that another thread has set meanwhile stay.
    """
    before = {name: os.environ.get(name) for name in _WRITTEN}
    limit = sys.getrecursionlimit()
    ours = str(working_folder(cache_folder()))
    os.environ[VARIABLE] = ours
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        for name, value in before.items():
            if name == VARIABLE and os.environ.get(name) != ours:
                continue
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
