"""Follow expressions through any module: what its own `forward` does to them, operation by operation.

The module is called with a tensor that carries an expression for every number. Units return their own
expressions; changes of shape, selections of columns and arithmetic between units are followed here. An
expression that cannot be followed is lost and the reason is kept; this matters only if the result depends on
it. Nothing depends on how the module is written: nested modules, hooks, loops, and conditions on shapes are
simply run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nalm.errors import NalmError
from nalm.symbolic.operations import ALL_MOVED, ARITHMETIC, MOVED, UNCHANGED
from nalm.symbolic.trees import changed, leaves
from nalm.units._base import Unit
from nalm.units._computed import kind_of
from nalm.units._symbolic import Followed, number

Apply = Callable[[Unit, list[Any]], list[Any]]
"""Applies a unit to one expression per input and returns one per output."""


class CannotFollow(NalmError):
    """The module's result cannot be followed; the text is the reason."""


@dataclass(frozen=True)
class Call:
    """A unit was applied to these expressions, with this result."""

    path: str
    unit: Unit
    inputs: list[Any]
    outputs: list[Any]


@dataclass
class _Trail:
    """Where in the module the calculation is, and the calls of units so far."""

    apply: Apply
    modules: list[tuple[str, nn.Module]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    written: str = ""

    def reason(self, operation: str) -> str:
        """Why an operation cannot be followed, with the part of the module it belongs to."""
        path, module = self.modules[-1]
        named = f"`{path}` ({_kind(module)})" if path else f"the model ({_kind(module)})"
        if isinstance(module, Unit):
            return f"{named} has its own `forward` or a hook with `{operation}`, which cannot be read"
        if type(module).__module__.startswith("torch.nn"):
            return f"{named} is not a nalm unit"
        return f"{named} uses `{operation}` in its forward, which cannot be read"


class _Symbolic(Followed):
    """A tensor with an expression for each of its numbers, or with the reason why it has none."""

    symbols: np.ndarray
    lost: str
    trail: _Trail

    @staticmethod
    def of(tensor: Tensor, trail: _Trail, symbols: np.ndarray | None, lost: str = "") -> _Symbolic:
        made = tensor.detach().as_subclass(_Symbolic)
        made.trail, made.lost = trail, lost
        made.symbols = np.empty(0, object) if symbols is None else symbols
        return made

    def through(self, unit: nn.Module) -> Tensor:
        """Apply a unit to the numbers, and to each row of expressions."""
        assert isinstance(unit, Unit)
        result = Unit.forward(unit, _numbers(self))
        if self.lost:
            return _Symbolic.of(result, self.trail, None, self.lost)
        path = self.trail.modules[-1][0]
        rows = []
        for row in self.symbols.reshape(-1, unit.in_features):
            rows.append(self.trail.apply(unit, list(row)))
            self.trail.calls.append(Call(path, unit, list(row), rows[-1]))
        return _Symbolic.of(result, self.trail, _objects(rows).reshape(tuple(result.shape)))

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        given = [part for part in leaves((tuple(args), kwargs)) if isinstance(part, _Symbolic)]
        trail, name = given[0].trail, _name(func)
        lost = next((part.lost for part in given if part.lost), "")
        if _in_place(name):
            return _written(func, name, args, kwargs, trail, lost)
        result = func(*_numbers(args), **_numbers(kwargs))
        parts = result if isinstance(result, (tuple, list)) else [result]
        if isinstance(result, torch.Size) or not all(isinstance(part, Tensor) for part in parts):
            return result  # a size, a number or a string needs no expressions
        symbols = None if lost else _followed(func, name, args, kwargs, parts)
        if symbols is None:
            lost = lost or trail.reason(name)
            made = [_Symbolic.of(part, trail, None, lost) for part in parts]
        else:
            made = [_Symbolic.of(part, trail, each) for part, each in zip(parts, symbols)]
        return made[0] if isinstance(result, Tensor) else tuple(made)


def _written(
    func: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any], trail: _Trail, lost: str
) -> Any:
    """Write in place into a tensor that is followed; writing into any other tensor cannot be followed."""
    func(*_numbers(args), **_numbers(kwargs))
    target = args[0]
    if not isinstance(target, _Symbolic):
        trail.written = trail.reason(name)
    elif lost:
        target.lost = lost
    elif name == "setitem":
        places = torch.arange(target.symbols.size).reshape(target.symbols.shape)[args[1]].numpy()
        target.symbols = target.symbols.copy()
        target.symbols.ravel()[places] = np.broadcast_to(_expressions(args[2]), places.shape)
    else:
        symbols = _followed(func, name.rstrip("_"), args, kwargs, [target])
        target.symbols, target.lost = (symbols[0], "") if symbols else (target.symbols, trail.reason(name))
    return None if name == "setitem" else target


def _followed(
    func: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any], parts: Sequence[Tensor]
) -> list[np.ndarray] | None:
    """The expressions of each part of an operation's result; None if it cannot be followed."""
    if name in UNCHANGED and args[0].symbols.shape == tuple(parts[0].shape):
        return [args[0].symbols]
    if name in MOVED:
        return _moved(func, args, kwargs, everything=name in ALL_MOVED)
    if name not in ARITHMETIC:
        return None
    try:
        found = ARITHMETIC[name](*_expressions(args), **_expressions(kwargs))
    except (TypeError, ValueError):  # the operation has an option that is not followed
        return None
    symbols = _objects(found)
    return [symbols] if symbols.shape == tuple(parts[0].shape) else None


def _moved(func: Any, args: Sequence[Any], kwargs: dict[str, Any], *, everything: bool) -> list[np.ndarray]:
    """Move positions instead of numbers, to find where each expression comes from."""
    pool: list[np.ndarray] = []

    def places(tensor: Tensor) -> Tensor:
        if not everything and not isinstance(tensor, _Symbolic):
            return tensor  # such as the index of a selection
        symbols = tensor.symbols if isinstance(tensor, _Symbolic) else _constants(tensor)
        start = sum(part.size for part in pool)
        pool.append(symbols.ravel())
        return torch.arange(start, start + symbols.size).reshape(symbols.shape)

    result = func(*changed(Tensor, places, args), **changed(Tensor, places, kwargs))
    together = np.concatenate(pool)
    return [together[part.numpy()] for part in (result if isinstance(result, (tuple, list)) else [result])]


def follow(model: nn.Module, x: Tensor, symbols: np.ndarray, apply: Apply) -> tuple[np.ndarray, list[Call]]:
    """Call a module on numbers and expressions; return the expressions of its result and the calls of units.

    Args:
        model: the module; it has additional hooks while it runs.
        x: numbers, `n x in`.
        symbols: expressions of the same shape.
        apply: applies a unit to expressions.

    Raises:
        CannotFollow: if the result cannot be followed.
    """
    trail = _Trail(apply)
    with torch.no_grad(), _watched(model, trail):
        result = model(_Symbolic.of(x, trail, symbols))
    if not isinstance(result, Tensor):
        raise CannotFollow(f"the model returns a {type(result).__name__} instead of a tensor")
    if not isinstance(result, _Symbolic):
        unknown = "the model's result does not follow from its input by operations on tensors"
        raise CannotFollow(trail.written or unknown)
    if result.lost:
        raise CannotFollow(result.lost)
    return result.symbols, trail.calls


@contextmanager
def _watched(model: nn.Module, trail: _Trail) -> Iterator[None]:
    """Note which module is running."""
    handles = []
    for path, module in model.named_modules():

        def enter(module: nn.Module, args: Any, path: str = path) -> None:
            trail.modules.append((path, module))

        def leave(module: nn.Module, args: Any, result: Any) -> None:
            trail.modules.pop()

        handles.append(module.register_forward_pre_hook(enter, prepend=True))
        handles.append(module.register_forward_hook(leave))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _kind(module: nn.Module) -> str:
    return kind_of(module) if isinstance(module, Unit) else type(module).__name__


def _name(func: Any) -> str:
    name: str = getattr(func, "__name__", str(func))
    return func.__self__.__name__ if name == "__get__" else name.removeprefix("__").removesuffix("__")


def _in_place(name: str) -> bool:
    return name == "setitem" or (name.endswith("_") and name != "requires_grad_")


def _numbers(tree: Any) -> Any:
    """The plain tensors behind those that are followed."""
    # Called like this, torch converts without calling `__torch_function__` of the tensor's own class.
    plain = Tensor.__torch_function__
    return changed(_Symbolic, lambda part: plain(Tensor.as_subclass, (), (part, Tensor)), tree)


def _expressions(tree: Any) -> Any:
    """The same tree with arrays of expressions instead of tensors; numbers are not changed."""
    return changed(
        Tensor, lambda part: part.symbols if isinstance(part, _Symbolic) else _constants(part), tree
    )


def _constants(tensor: Tensor) -> np.ndarray:
    values = tensor.detach().cpu().double()
    return _objects([number(value) for value in values.flatten().tolist()]).reshape(tuple(values.shape))


def _objects(values: Any) -> np.ndarray:
    """An array of expressions. It avoids numpy's conversion, which would unpack those that are sequences."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values
    nested = isinstance(values, list) and values and isinstance(values[0], list)
    flat = [value for row in values for value in row] if nested else values
    flat = flat if isinstance(flat, list) else [flat]
    made = np.empty(len(flat), object)
    made[:] = flat
    return made.reshape(len(values), -1) if nested else made if isinstance(values, list) else made.reshape(())
