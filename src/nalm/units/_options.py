"""The constructor arguments of a unit: what its signature shows, and what is refused."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import torch

from nalm.errors import ArgumentError, unknown


class Common(TypedDict, total=False):
    """The options that every unit has and passes on to `Unit`."""

    batch_shape: Sequence[int]
    device: torch.device | str | None
    dtype: torch.dtype | None


def signature_of(kind: type, base: inspect.Signature | None = None) -> inspect.Signature:
    """The arguments of a class, with the options of `base` written out where it takes them as `**common`."""
    own = list(inspect.signature(kind.__init__).parameters.values())[1:]  # type: ignore[misc]
    if base is not None and any(p.name == "common" for p in own):
        common = [p for p in base.parameters.values() if p.kind is p.KEYWORD_ONLY]
        sizes = [p for p in own if p.kind is p.POSITIONAL_OR_KEYWORD]
        own = [*sizes, *common, *(p for p in own if p.kind is p.KEYWORD_ONLY)]
    return inspect.Signature(own)


def check_options(signature: inspect.Signature, options: Mapping[str, Any]) -> None:
    """Refuse options that are not in the signature, and values of boolean options that are not boolean."""
    known = signature.parameters
    if any(p.kind is p.VAR_KEYWORD for p in known.values()):
        return  # the class itself checks what it accepts
    for name, value in options.items():
        if name not in known:
            raise unknown("option", name, known)
        if isinstance(known[name].default, bool) and not isinstance(value, bool):
            raise ArgumentError(name, "True or False", repr(value))


def check_device(device: torch.device | str | None) -> torch.device | None:
    """The device, or None for the default one; an error if this machine has none of that name."""
    if device is None:
        return None
    expected = "None, a torch.device or the name of one, such as 'cpu'"
    if not isinstance(device, (str, torch.device)):
        raise ArgumentError("device", expected, repr(device))
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        got = f"{str(device)!r} ({(str(error).splitlines() or [''])[0].rstrip('.')})"
        raise ArgumentError("device", f"{expected}, that is available here", got) from None
    return found


def check_dtype(dtype: torch.dtype | None) -> torch.dtype | None:
    """The precision, or None for the default one; an error if it cannot hold the weights."""
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise ArgumentError("dtype", "a floating-point torch.dtype", repr(dtype))
    if dtype == torch.float16:
        hint = "Its range is too small for saturated weights and reciprocals."
        raise ArgumentError("dtype", "torch.float32, torch.float64 or torch.bfloat16", repr(dtype), hint)
    return dtype
