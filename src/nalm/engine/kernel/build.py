"""Compiles C++ into a library in the cache, and calls it."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
import time
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
_INTERLEAVED = ("-fschedule-insns", "-fsched-pressure")
"""GCC mixes long functions of several vectors, so that one goes on while another waits for a result."""
_HEADER = Path(__file__).with_name("maths.h")
_UNFINISHED, _STALE = "building-", 3600.0
"""The names of folders in which programs are compiled, and the seconds after which one is left over."""


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
def cpp_compiler() -> tuple[str, ...] | None:
    """The command of the C++ compiler: the variable CXX, which may have arguments, g++ or clang++."""
    for wanted in (os.environ.get("CXX", ""), "g++", "clang++"):
        program, *arguments = shlex.split(wanted) or [""]
        found = shutil.which(program) if program else None
        if found is not None:
            return (found, *arguments)
    return None


def build(source: str, *, interleaved: bool = False) -> Library:
    """The library of a program, compiled if it is not in the cache.

    Args:
        source: the C++.
        interleaved: whether it computes long functions of several vectors.
    """
    compiler = cpp_compiler()
    if compiler is None:
        raise BuildError("there is no C++ compiler")
    if interleaved and "clang" not in _about(compiler):
        compiler = (*compiler, *_INTERLEAVED)
    folder, name = working_folder(cache_folder()), _name(source, compiler)
    for path in folder.glob(f"{name}-*.so"):
        if path.stem == f"{name}-{_digest(path)}":
            return Library(path)
        path.unlink(missing_ok=True)  # damaged: to load a file that was cut off would end the process
    return Library(_compiled(source, compiler, folder, name))


def _compiled(source: str, compiler: Sequence[str], folder: Path, name: str) -> Path:
    """Compile a program into a file whose name says what must be in it."""
    _tidy(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix=_UNFINISHED) as temporary:
        text, made = Path(temporary) / "program.cpp", Path(temporary) / "program.so"
        text.write_text(source)
        command = [*compiler, *_FLAGS, "-I", str(_HEADER.parent), "-o", str(made), str(text)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not made.is_file():
            lines = done.stderr.strip().splitlines() or ["no reason given"]
            raise BuildError(next((line for line in lines if "error" in line), lines[0]))
        path = folder / f"{name}-{_digest(made)}.so"
        os.replace(made, path)  # whole or not at all, whatever interrupts it
    return path


def _digest(path: Path) -> str:
    """A hash of what is in a file; of a folder or a file that cannot be read, nothing."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def _tidy(folder: Path) -> None:
    """Remove what processes that were killed while they compiled have left."""
    for left in folder.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(OSError):  # another process may do the same
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)


def _name(source: str, compiler: Sequence[str]) -> str:
    parts = (source, _HEADER.read_text(), " ".join(_FLAGS), _about(tuple(compiler)), _processor())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@functools.cache
def _about(compiler: tuple[str, ...]) -> str:
    """The compiler's command and version."""
    done = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
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
