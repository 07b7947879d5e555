"""A user's own units: a class in a file, `./mine.py:MyUnit`, or a name that an installed package offers.

A package offers units as entry points of the group `nalm.units`. A class is a subclass of `nalm.Unit`, or any
`nn.Module` made by `(in_features, out_features)`. Errors in a user's file are reported in one sentence with
the file and the line.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib.util
import inspect
import os
import shutil
import sys
import tempfile
import traceback
from dataclasses import dataclass
from modulefinder import ModuleFinder
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from nalm.errors import ArgumentError, nearest
from nalm.models.many import Models, mixing_module
from nalm.models.offered import load, offered
from nalm.models.patience import ESCAPES, TooLong, limited
from nalm.models.rehearsal import IN_OTHER_WORDS, rehearse
from nalm.units import Unit

GROUP = "nalm.units"
"""The group of entry points."""


@dataclass(frozen=True)
class Part:
    """A file that a class needs, as it was when it was read.

    Attributes:
        module: the name that it is imported by; empty for the file of the class itself.
        path: its path, relative to the folder of the class.
        content: its content.
    """

    module: str
    path: str
    content: bytes


@dataclass(frozen=True)
class OwnUnit:
    """A user's class and where it comes from.

    Attributes:
        kind: the class.
        file: the file that defines it.
        source: a hash of that file and of the files next to it that it imports.
        parts: those files, for another process or machine; empty for a class that a package offers.
    """

    kind: type[nn.Module]
    file: Path
    source: str
    parts: tuple[Part, ...] = ()


def is_file(name: str) -> bool:
    """Whether a name has the form `file.py:Class`."""
    return ".py:" in name


def load_file(text: str) -> OwnUnit:
    """The class of `path/to/file.py:Class`."""
    path, _, name = text.rpartition(":")
    file = Path(path).expanduser()
    if not file.is_file():
        folder = file.parent if file.parent.is_dir() else Path()
        close = nearest(file.name, [each.name for each in folder.glob("*.py")])
        hint = f"Did you mean {str(folder / close)!r}?" if close else ""
        raise ArgumentError("unit", "a class in a file that exists", repr(text), hint)
    try:
        parts = _parts(file)
        source = _digest(parts)
        with limited(f"importing {file}"):
            module = _module(file.resolve(), source, tuple(part.module for part in parts[1:]))
    except ESCAPES as error:
        expected = "a class in a file that can be imported"
        raise ArgumentError("unit", expected, located(error, file)) from error
    found = getattr(module, name, None)
    if found is None:
        classes = _classes(module)
        close = nearest(name, classes)
        hint = f"Did you mean {close!r}?" if close else ""
        expected = f"a class in {file} (which has {', '.join(classes) or 'none'})"
        raise ArgumentError("unit", expected, repr(name), hint)
    return OwnUnit(_checked(found, name, file), file, source, parts)


def load_again(text: str, source: str, parts: tuple[Part, ...]) -> OwnUnit:
    """The class in another process: from its file if it is here and unchanged, otherwise from its parts."""
    file = Path(text.rpartition(":")[0]).expanduser()
    return load_file(text) if _is_same(file, source) else _unpacked(text.rpartition(":")[2], parts)


def _is_same(file: Path, source: str) -> bool:
    try:
        return file.is_file() and _digest(_parts(file)) == source
    except Exception:  # another file of that name may contain anything; it is read, not imported
        return False


@functools.cache
def _unpacked(name: str, parts: tuple[Part, ...]) -> OwnUnit:
    folder = Path(tempfile.mkdtemp(prefix="nalm-unit-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for part in parts:
        (folder / part.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / part.path).write_bytes(part.content)
    return load_file(f"{folder / parts[0].path}:{name}")


def offered_names() -> list[str]:
    """The names of units that installed packages offer."""
    return list(offered(GROUP))


def load_offered(name: str) -> OwnUnit:
    """The class that an installed package offers under this name."""
    found = load(GROUP, name, "unit")
    where_from = inspect.getsourcefile(found) if inspect.isclass(found) else offered(GROUP)[name].value
    file = Path(where_from or "")
    kind = _checked(found, name, file)
    return OwnUnit(kind, file, hashlib.sha256(file.read_bytes()).hexdigest())


def located(error: BaseException, file: Path, line: int | None = None) -> str:
    """An error as `file:line: what`, with the last line of the user's file that led to it.

    Args:
        error: the error.
        file: the user's file.
        line: the line to name if no line of the file led to it.
    """
    if isinstance(error, SyntaxError):
        line = error.lineno
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).resolve() == file.resolve():
            line = frame.lineno
    text = error.msg if isinstance(error, SyntaxError) else str(error).partition("\n")[0]
    text = next((said for phrase, said in IN_OTHER_WORDS.items() if phrase in text), text)
    if isinstance(error, TooLong):
        what = text
    else:
        what = f"{type(error).__name__}: {text.rstrip('.')}" if text else type(error).__name__
    return f"{file}:{line}: {what}" if line else f"{file}: {what}"


def failure(error: BaseException, own: OwnUnit) -> str:
    """An error in a user's class as `file:line: what`."""
    return located(error, own.file, inspect.getsourcelines(own.kind)[1])


def where(own: OwnUnit) -> str:
    """The class as `file:line: name`."""
    return f"{own.file}:{inspect.getsourcelines(own.kind)[1]}: {own.kind.__name__}"


def try_out(module: nn.Module, found: OwnUnit, before: int, after: int) -> None:
    """Compute a few rows and their gradient for two models at once, as in training."""
    mixing = mixing_module(module)
    if mixing is not None:
        got = f"{where(found)} with {type(mixing).__name__}"
        raise ArgumentError("unit", "one that trains regardless of what shares its batch", got)
    held = dict(module.named_parameters())
    if not any(p.requires_grad for p in held.values()):
        raise ArgumentError("unit", "a module with parameters to train", f"{where(found)}, which has none")
    if any(p.dtype != torch.float32 for p in held.values()):
        got = f"{where(found)}, which has others"
        raise ArgumentError("unit", "a module with only float32 parameters", got)
    expected, rows = f"a module from {before} inputs to {after} outputs", torch.ones(2, 3, before)
    try:
        with torch.enable_grad():
            output = module(rows[0])
            if not isinstance(output, Tensor):
                raise TypeError(f"forward returns {type(output).__name__}, not a tensor")
            if output.shape == (3, after):
                _try_gradient(module, held, rows)
    except ESCAPES as error:
        raise ArgumentError("unit", expected, failure(error, found)) from error
    if output.shape != (3, after):
        got = f"{where(found)} gives shape {tuple(output.shape)} for input of shape {(3, before)}"
        raise ArgumentError("unit", expected, got)
    twice = {name: torch.stack([p, p]).detach() for name, p in held.items()}
    models = Models(module, torch.float32, torch.device("cpu"))
    rehearse(models, twice, rows, (after,), name=where(found), argument="unit")


def _try_gradient(module: nn.Module, held: dict[str, nn.Parameter], rows: Tensor) -> None:
    if not isinstance(module, Unit):
        both = {name: torch.stack([p, p]) for name, p in held.items()}
        output = vmap(lambda p, x: functional_call(module, p, (x,)))(both, rows)
    else:
        output = module(rows[0])
    if not output.requires_grad:
        raise TypeError("the output has no gradient: it is integer, or detached from the parameters")
    output.sum().backward()


def _checked(found: object, name: str, file: Path) -> type[nn.Module]:
    if inspect.isclass(found) and issubclass(found, nn.Module):
        return found
    line = ""
    if inspect.isclass(found) or inspect.isfunction(found):
        line = f"{inspect.getsourcelines(found)[1]}: "
    kind = "a class of another kind" if inspect.isclass(found) else f"a {type(found).__name__}"
    raise ArgumentError("unit", "a subclass of torch.nn.Module", f"{file}:{line}{name}, {kind}")


@functools.cache
def _module(file: Path, source: str, neighbours: tuple[str, ...]) -> ModuleType:
    """The file imported as a module, once per version of its source; it can import from its folder.

    Neighbours are imported again: a worker may have an earlier version of them under the same name.
    """
    for name in neighbours:
        sys.modules.pop(name, None)
    name = f"nalm_own_{source[:16]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(file.parent))
    return module


def _parts(file: Path) -> tuple[Part, ...]:
    """The file, then the files next to it that it imports, sorted by name."""
    finder = ModuleFinder(path=[str(file.parent)])
    finder.run_script(str(file))
    found = {name: getattr(module, "__file__", None) for name, module in finder.modules.items()}
    beside = [(name, Path(path)) for name, path in sorted(found.items()) if path and _is_own(name)]
    files = [("", file), *beside]
    return tuple(Part(name, os.path.relpath(path, file.parent), path.read_bytes()) for name, path in files)


def _is_own(module: str) -> bool:
    """Whether a module may be the user's: one named like a module of Python, nalm or torch is not."""
    return module.partition(".")[0] not in {*sys.stdlib_module_names, "__main__", "nalm", "torch"}


def _digest(parts: tuple[Part, ...]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.module.encode() + part.content)
    return whole.hexdigest()


def _classes(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    ]
