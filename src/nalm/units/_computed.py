"""Units whose weights torch computes from other tensors: parametrized, pruned, or normalised by a hook.

Such a weight is not a parameter of the unit: values written into it in place are lost the next time it is
computed. Changes are therefore made on a plain copy and written back through the inverse of the computation.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from nalm.errors import ArgumentError
from nalm.units._base import Unit

_CLOSE = 1e-6
"""How far a weight may be from the value that was written, because its computation rounds."""


def computed_names(unit: Unit) -> list[str]:
    """Names of the unit's weights that are computed from other tensors."""
    own = unit._parameters
    return [name for name in unit.initialisers if name not in own]


def plain(unit: Unit) -> Unit:
    """A copy of the unit that holds the values of its computed weights as parameters."""
    values = {name: getattr(unit, name).detach().clone() for name in computed_names(unit)}
    parametrized = parametrize.is_parametrized(unit)
    # The original class, found as torch's own `remove_parametrizations` finds it.
    kind = type(unit).__bases__[0] if parametrized else type(unit)
    # Copied by hand: `deepcopy` fails on weights that a hook has computed with a gradient.
    made: Unit = object.__new__(kind)
    made.__dict__ = dict(vars(unit))
    for held in ("_parameters", "_buffers", "_modules"):
        made.__dict__[held] = dict(vars(unit)[held])
    if parametrized:
        del made._modules["parametrizations"]
    made.__dict__["_forward_pre_hooks"] = OrderedDict(
        (key, hook) for key, hook in unit._forward_pre_hooks.items() if _tensor_of(hook) not in values
    )
    for name, value in values.items():
        made.__dict__.pop(name, None)
        made._parameters[name] = nn.Parameter(value)
    return copy.deepcopy(made)


def _tensor_of(hook: object) -> str | None:
    """The weight that one of torch's hooks computes before every call; None for any other hook."""
    if type(hook).__module__.partition(".")[0] != "torch":
        return None
    name: str | None = getattr(hook, "_tensor_name", None) or getattr(hook, "name", None)
    return name


@torch.no_grad()
def change_(units: Sequence[Unit], change: Callable[[Unit], None]) -> None:
    """Change the units' weights in place, also computed ones; if one unit fails, none is changed."""
    if not any(map(computed_names, units)):
        for unit in units:
            change(unit)
        return
    before = [{name: value.clone() for name, value in unit.state_dict().items()} for unit in units]
    try:
        for unit in units:
            changed = plain(unit)
            change(changed)
            for name, value in changed.named_parameters():
                if not torch.equal(getattr(unit, name), value):
                    _write_(unit, name, value.detach())
    except ArgumentError:
        for unit, state in zip(units, before):
            unit.load_state_dict(state)
        raise


def _write_(unit: Unit, name: str, value: Tensor) -> None:
    if name in unit._parameters:
        unit.get_parameter(name).copy_(value)
        return
    expected = "made of units whose weights can be set"
    which = f"`{name}` of a {kind_of(unit)}"
    if not parametrize.is_parametrized(unit, name):
        hint = "Make it permanent first, with `torch.nn.utils.prune.remove` or `remove_weight_norm`."
        raise ArgumentError("model", expected, f"{which}, which a hook computes before every call", hint)
    hint = f"Remove it first: torch.nn.utils.parametrize.remove_parametrizations(unit, {name!r})."
    try:
        setattr(unit, name, value)
    except (RuntimeError, NotImplementedError, ValueError):  # torch's errors where there is no inverse
        got = f"{which} with a parametrization that has no `right_inverse`"
        raise ArgumentError("model", expected, got, hint) from None
    off = float((getattr(unit, name) - value).abs().max())
    if not off <= _CLOSE:
        got = f"{which}, which its parametrization keeps {off:.3g} away from the value that was set"
        raise ArgumentError("model", expected, got, hint)


def kind_of(unit: Unit) -> str:
    """The name of a unit's class, without the prefix that torch adds to parametrized ones."""
    return (type(unit).__bases__[0] if parametrize.is_parametrized(unit) else type(unit)).__name__
