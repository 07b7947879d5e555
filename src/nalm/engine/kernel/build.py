"""Compiles C++ into a library in the cache, and calls it."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from nalm.engine.cache import cache_folder, working_folder

_FLAGS = (
    *("-std=c++17", "-O3", "-march=native", "-fPIC", "-shared", "-w"),
    # Whole numbers wrap; a product and a sum may be one instruction; floating-point errors are not trapped.
    *("-fwrapv", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"),
)
_HEADER = Path(__file__).with_name("maths.h")


class BuildError(Exception):
    """The C++ compiler failed."""


class Library:
    """A compiled function that takes a state many times from step to step."""

    def __init__(self, path: Path) -> None:
        self._repeat = ctypes.CDLL(str(path)).repeat
        self._repeat.restype = None
        self._repeat.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def repeat(self, state: Sequence[Tensor], inputs: Sequence[Tensor], times: int) -> list[Tensor]:
        """Apply the function `times` times; tensors `models x ...`, contiguous."""
        after = [torch.empty_like(tensor) for tensor in state]
        self._repeat(len(state[0]), times, _addresses([*state, *inputs]), _addresses(after))
        return after


def _addresses(tensors: Sequence[Tensor]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(tensors))(*(tensor.data_ptr() for tensor in tensors))


@functools.cache
def cpp_compiler() -> str | None:
    """The C++ compiler: that of the variable CXX, g++ or clang++; None if there is none."""
    wanted = [os.environ["CXX"]] if os.environ.get("CXX") else ["g++", "clang++"]
    return next(filter(None, map(shutil.which, wanted)), None)


def build(source: str) -> Library:
    """The library of a program, compiled if it is not in the cache."""
    compiler = cpp_compiler()
    if compiler is None:
        raise BuildError("there is no C++ compiler")
    folder = working_folder(cache_folder())
    path = folder / f"{_name(source, compiler)}.so"
    if path.exists():
        try:
            return Library(path)
        except OSError:  # a damaged file: it is compiled again
            path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        text, made = Path(temporary) / "program.cpp", Path(temporary) / "program.so"
        text.write_text(source)
        command = [compiler, *_FLAGS, "-I", str(_HEADER.parent), "-o", str(made), str(text)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no reason given"]
            raise BuildError(next((line for line in lines if "error" in line), lines[0]))
        os.replace(made, path)  # whole or not at all, whatever interrupts it
    return Library(path)


def _name(source: str, compiler: str) -> str:
    parts = (source, _HEADER.read_text(), " ".join(_FLAGS), _about(compiler), _processor())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@functools.cache
def _about(compiler: str) -> str:
    """The compiler's version."""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return f"{compiler} {done.stdout}"


@functools.cache
def _processor() -> str:
    """What `-march=native` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()} {platform.node()}"
    told = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(told)}))


def register() -> int:
    """Single-precision numbers in a vector register of this processor."""
    return {"AVX512": 16, "AVX2": 8}.get(torch.backends.cpu.get_cpu_capability(), 4)
