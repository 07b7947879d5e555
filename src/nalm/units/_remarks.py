"""Remarks on a model's present weights: facts that its formula does not show.

A remark is stored in the model, so that it is copied and pickled with it. It is ignored as soon as the
weights change, because it may then no longer be true.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

REMARKS = "_nalm_remarks"
"""The attribute of a model that holds its remarks."""


def remark_(model: nn.Module, sentence: str) -> None:
    """Add a remark on a model's present weights; `nalm.explain` repeats it until they change.

    Args:
        model: any module.
        sentence: such as "`nalm.solve` failed on it: 64 % of the variance is left unexplained".
    """
    kept = [*remarks_of(model), sentence]
    setattr(model, REMARKS, (tuple(kept), _weights(model)))


def forget_remarks_(model: nn.Module) -> None:
    """Remove all remarks."""
    vars(model).pop(REMARKS, None)


def remarks_of(model: nn.Module) -> tuple[str, ...]:
    """The remarks on a model, if its weights have not changed since."""
    if not hasattr(model, REMARKS):
        return ()
    remarks: tuple[str, ...]
    remarks, then = getattr(model, REMARKS)
    now = _weights(model)
    same = now.keys() == then.keys() and all(torch.equal(now[name], then[name]) for name in now)
    return remarks if same else ()


@contextmanager
def keeping_remarks(model: nn.Module) -> Iterator[None]:
    """Keep the remarks through a change of the weights that leaves them true."""
    remarks = remarks_of(model)
    yield
    if remarks:
        setattr(model, REMARKS, (remarks, _weights(model)))


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """The bits of the weights in float64, so that they stay equal in a wider precision and NaN equals NaN."""
    wide = {
        name: value.detach().to("cpu", torch.float64, copy=True) for name, value in model.named_parameters()
    }
    return {name: value.view(torch.int64) for name, value in wide.items()}
