"""The models that can be read: chains of units, and any module that expressions can pass through.

Both kinds can be copied and snapped, and compute numbers and expressions along the same path.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, NalmError
from nalm.symbolic.follow import Call, CannotFollow, follow
from nalm.units._base import Unit, outer_units, units_of
from nalm.units._computed import computed_names, kind_of, plain

READABLE_MODELS = "made of nalm units with only reshaping and arithmetic between them"
_ROWS = 7
"""Rows to try a module on: a number that it is unlikely to mistake for another size."""
_MOST_INPUTS = 256
_OPTION = (bool, int, float, str, torch.Size)
"""The types that options of units have."""


class Source(Protocol):
    """A model to read."""

    units: list[Unit]
    inputs: int

    def label(self, unit: Unit) -> str:
        """The name of a unit in messages; empty if it is the whole model."""

    def snapped(self) -> Source:
        """A copy whose units have discrete weights."""

    def key(self) -> Hashable:
        """A key that is equal for models that compute the same; None if that is not known."""

    def formulas(self, symbols: Sequence[Any], idealised: bool) -> tuple[list[Any], list[Call]]:
        """An expression per output, and what each unit was applied to."""

    def run(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The outputs for rows `n x in`, and for which of them the readings of all units hold."""


class Chain:
    """Library units one after the other, and nothing else: the fast path.

    Args:
        units: the units of one model, without a batch shape, in float64.
    """

    def __init__(self, units: list[Unit]) -> None:
        self.units, self.inputs = units, units[0].in_features

    def label(self, unit: Unit) -> str:
        """The name of a unit in messages; empty if it is the whole model."""
        return f"layer {self.units.index(unit) + 1} ({kind_of(unit)})" if len(self.units) > 1 else ""

    def snapped(self) -> Chain:
        """A copy whose units have discrete weights."""
        made = Chain([_copied(unit, Tensor.clone) for unit in self.units])
        for unit in made.units:
            unit.snap_()
        return made

    def key(self) -> Hashable:
        """Kinds, options and values of all units: units of the library have nothing else."""
        return tuple(_key(unit) for unit in self.units)

    def formulas(self, symbols: Sequence[Any], idealised: bool) -> tuple[list[Any], list[Call]]:
        """An expression per output, and what each unit was applied to."""
        values, calls = list(symbols), []
        for k, unit in enumerate(self.units):
            outputs = unit.expression(values, idealised=idealised)
            calls.append(Call(str(k), unit, values, outputs))
            values = outputs
        return values, calls

    def run(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The outputs, and where the units' readings hold."""
        holds = torch.ones(len(x), dtype=torch.bool)
        for unit in self.units:
            holds &= unit.holds(x)
            x = unit(x)
        return x, holds


class Network:
    """Any module through which expressions are followed.

    Args:
        model: one model, without a batch shape; a copy that nothing else uses.
        inputs: its number of inputs.
    """

    def __init__(self, model: nn.Module, inputs: int) -> None:
        self.model, self.dtype, self.inputs = model.eval(), _dtype(model), inputs
        self.units = _used(model, torch.rand(_ROWS, inputs, dtype=self.dtype) + 0.5)
        self.paths = {module: path for path, module in model.named_modules()}

    @classmethod
    def of(cls, model: nn.Module, inputs: int | None) -> Network:
        """In float64 if the module accepts it, else in its own precision; with the fewest inputs it accepts.

        Args:
            model: one model, without a batch shape; a copy that nothing else uses.
            inputs: its number of inputs, if known.
        """
        sizes = [unit.in_features for unit in units_of(model)]
        likely = list(dict.fromkeys([*sizes[:1], *range(1, min(_MOST_INPUTS, sum(sizes)) + 1)]))
        failed = ""
        for one in (copy.deepcopy(model).double(), model):
            for count in likely if inputs is None else [inputs, *likely]:
                try:
                    network = cls(one, count)
                except CannotFollow as error:
                    failed = failed or str(error)
                    continue
                if inputs in (None, count):
                    return network
                raise ArgumentError("names", f"{count} names, one per input", f"{inputs}")
        raise ArgumentError("model", READABLE_MODELS, f"a model that is not: {failed.rstrip('.')}")

    def label(self, unit: Unit) -> str:
        """The name of a unit in messages; empty if it is the whole model."""
        return f"`{self.paths[unit]}` ({kind_of(unit)})" if self.paths[unit] else ""

    def snapped(self) -> Network:
        """A copy whose units have discrete weights."""
        made = Network(copy.deepcopy(self.model), self.inputs)
        for unit in made.units:
            unit.snap_()
        return made

    def key(self) -> Hashable:
        """None: a user's module may compute anything."""
        return None

    def formulas(self, symbols: Sequence[Any], idealised: bool) -> tuple[list[Any], list[Call]]:
        """An expression per output, and what each unit was applied to.

        Two rows are followed, so that an operation that mixes rows is noticed.
        """
        import sympy as sp

        other = [sp.Dummy(real=True) for _ in symbols]
        rows = np.array([list(symbols), other], object)
        x = torch.rand(rows.shape, dtype=self.dtype, generator=torch.Generator().manual_seed(0)) + 0.5
        found, calls = follow(self.model, x, rows, lambda u, v: u.expression(v, idealised=idealised))
        if found.ndim == 0 or len(found) != len(rows):
            raise CannotFollow(f"the model returns shape {found.shape} for two rows")
        ours = [sp.sympify(expression) for expression in found[:1].ravel()]
        foreign = set(other)
        if any(expression.free_symbols & foreign for expression in ours):
            raise CannotFollow("the model's result for a row depends on other rows")
        return ours, [call for call in calls if not any(v.free_symbols & foreign for v in call.inputs)]

    def run(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The outputs, and where the units' readings hold; a few rows at a time, with sums of either sign."""
        parts = [self._run(part) for part in x.to(self.dtype).split(_ROWS + 1)]
        outputs, holds = zip(*parts)
        return torch.cat(outputs), torch.cat(holds)

    def _run(self, x: Tensor) -> tuple[Tensor, Tensor]:
        holds = torch.ones(len(x), dtype=torch.bool)

        def note(unit: nn.Module, given: tuple[Tensor, ...]) -> None:
            assert isinstance(unit, Unit)
            rows = unit.holds(given[0].reshape(-1, unit.in_features))
            # A module that processes its rows one by one calls a unit on fewer rows.
            each = rows.reshape(len(x), -1).all(-1) if len(rows) % len(x) == 0 else rows.all()
            holds.logical_and_(each)

        handles = [unit.register_forward_pre_hook(note) for unit in self.units]
        try:
            return self.model(x).reshape(len(x), -1), holds
        finally:
            for handle in handles:
                handle.remove()


def source_of(model: nn.Module, inputs: int | None) -> Callable[[tuple[int, ...]], Source]:
    """A function that returns the model to read at an index of the batch shape; it must not be changed."""
    chain = chain_of(model)
    if chain is not None and all(type(unit).__module__.startswith("nalm.units.") for unit in chain):
        return lambda index: Chain([_single(unit, index) for unit in chain])
    copied = copied_plain(model)
    if not any(unit.batch_shape for unit in units_of(copied)):
        network = Network.of(copied, inputs)
        return lambda index: network

    def at(index: tuple[int, ...]) -> Source:
        memo: dict[int, Any] = {id(unit): _single(unit, index) for unit in outer_units(copied)}
        return Network.of(copy.deepcopy(copied, memo), inputs)

    return at


def chain_of(model: nn.Module) -> list[Unit] | None:
    """The units of a model that is certainly a plain chain of units; None for any other."""
    if isinstance(model, Unit):
        own = type(model).forward is not Unit.forward or "forward" in vars(model)
        return None if own or _hooked(model) or computed_names(model) else [model]
    if type(model) is not nn.Sequential or "forward" in vars(model) or _hooked(model) or not len(model):
        return None
    parts = [chain_of(module) for module in model]
    return None if any(part is None for part in parts) else [unit for part in parts for unit in part or ()]


def _hooked(module: nn.Module) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks)


def unwrapped(model: nn.Module) -> nn.Module:
    """The user's own module, without the wrappers that distribute or compile it."""
    while True:
        if isinstance(model, (nn.parallel.DistributedDataParallel, nn.DataParallel)):
            model = model.module
        elif isinstance(inner := vars(model).get("_modules", {}).get("_orig_mod"), nn.Module):
            model = inner  # torch.compile; its class is not imported, which would load the compiler
        else:
            return model


def copied_plain(model: nn.Module) -> nn.Module:
    """A copy on the CPU, with plain units, and without wrappers that compile its parts."""
    # Objects that have a value in the memo are replaced by it instead of being copied.
    memo: dict[int, Any] = {}
    for module in model.modules():
        inner = unwrapped(module)
        if inner is not module:
            memo[id(module)] = copied_plain(inner)
        elif isinstance(module, Unit) and computed_names(module):
            memo[id(module)] = plain(module)
        for value in vars(module).values():
            if isinstance(value, Tensor) and not value.is_leaf:  # torch refuses to copy these
                memo[id(value)] = value.detach().clone()
    return copy.deepcopy(model, memo).to("cpu")


def _single(unit: Unit, index: tuple[int, ...]) -> Unit:
    """One model of a batch, as a single unit in float64; without a batch shape, the unit itself."""
    single = _copied(unit, lambda parameter: parameter[index].to("cpu", torch.float64))
    for part in units_of(single):
        part.batch_shape = part.batch_shape[len(index) :]
    return single.eval()


def _copied(unit: Unit, change: Callable[[Tensor], Tensor]) -> Unit:
    """A shallow copy with changed parameters: a deep copy would take most of the time."""
    if unit._modules or unit._buffers:
        made = copy.deepcopy(unit)
    else:
        made = object.__new__(type(unit))
        made.__dict__ = {**vars(unit), "_parameters": {}}
    for name, parameter in unit.named_parameters(recurse=False):
        made._parameters[name] = nn.Parameter(change(parameter.detach()), requires_grad=False)
    for name in unit._parameters.keys() - made._parameters.keys():
        made._parameters[name] = None
    for name, part in unit.named_children():
        if isinstance(part, Unit):
            made._modules[name] = _copied(part, change)
    return made


def _key(unit: Unit) -> Hashable:
    options = tuple((name, value) for name, value in vars(unit).items() if isinstance(value, _OPTION))
    # Zero is added to remove the sign of zeros, which differs between rounded weights.
    return (
        type(unit),
        options,
        tuple((p.numpy() + 0.0).tobytes() for p in unit._parameters.values() if p is not None),
    )


def _dtype(model: nn.Module) -> torch.dtype:
    units = units_of(model)
    parameter = next(units[0].parameters(), None) if units else None
    return torch.get_default_dtype() if parameter is None else parameter.dtype


def _used(model: nn.Module, x: Tensor) -> list[Unit]:
    """The units that a module calls for these rows, in order."""
    used: list[Unit] = []
    units = outer_units(model)  # a composite is read as one unit
    handles = [unit.register_forward_pre_hook(lambda unit, _: used.append(unit)) for unit in units]
    try:
        with torch.no_grad():
            result = model(x)
    except Exception as error:  # a user's module may raise anything
        said = str(error).strip().splitlines() or [""]
        kind = "" if isinstance(error, NalmError) else f"{type(error).__name__}: "
        raise CannotFollow(f"it fails on an input of shape {tuple(x.shape)}: {kind}{said[0]}") from error
    finally:
        for handle in handles:
            handle.remove()
    if isinstance(result, Tensor) and (result.dim() == 0 or len(result) != len(x)):
        raise CannotFollow(f"it returns shape {tuple(result.shape)} for an input of shape {tuple(x.shape)}")
    if not used:
        raise CannotFollow("its forward uses no nalm unit")
    return list(dict.fromkeys(used))
