"""Remarks on a model with the weights that it has: what is known of them and its formula does not show.

A remark is kept in the model, so that it is copied and pickled with it, and is forgotten as soon as the
weights are others, for it may then no longer be true.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

REMARKS = "_nalm_remarks"
"""The attribute of a model that holds them."""


def remark_(model: nn.Module, sentence: str) -> None:
    """Say something of a model with its present weights; `nalm.explain` repeats it until they change.

    Args:
        model: any module.
        sentence: such as "`nalm.solve` failed on it: 64 % of the variance is left unexplained".
    """
    kept = [*remarks_of(model), sentence]
    setattr(model, REMARKS, (tuple(kept), _weights(model)))


def forget_remarks_(model: nn.Module) -> None:
    """Take all remarks back."""
    vars(model).pop(REMARKS, None)


def remarks_of(model: nn.Module) -> tuple[str, ...]:
    """The remarks on a model that still has the weights they were made on."""
    if not hasattr(model, REMARKS):
        return ()
    remarks: tuple[str, ...]
    remarks, then = getattr(model, REMARKS)
    now = _weights(model)
    same = now.keys() == then.keys() and all(torch.equal(now[name], then[name]) for name in now)
    return remarks if same else ()


@contextmanager
def keeping_remarks(model: nn.Module) -> Iterator[None]:
    """Change the weights in a way after which what was said of them is still true."""
    remarks = remarks_of(model)
    yield
    if remarks:
        setattr(model, REMARKS, (remarks, _weights(model)))


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """The bits of the weights in float64: those in another precision are the same, and NaN is itself."""
    wide = {
        name: value.detach().to("cpu", torch.float64, copy=True) for name, value in model.named_parameters()
    }
    return {name: value.view(torch.int64) for name, value in wide.items()}
