"""Checks that a unit accepts any shape: models side by side, leading dimensions, many inputs."""

from __future__ import annotations

import torch

from nalm.testing.measures import close, inputs
from nalm.testing.subject import Subject


def computes_models_side_by_side(subject: Subject) -> None:
    """A batch of models gives the same as a loop over single models, including penalties and sparsity."""
    batch = subject.make(3, 2, (4,))
    x = torch.stack([inputs(3) + 0.1 * k for k in range(4)])
    outputs, penalties, sparsity = batch(x), batch.penalty(), batch.sparsity_error(gates=True)
    assert outputs.shape == (4, x.shape[1], 2), f"output has shape {tuple(outputs.shape)}"
    assert penalties.shape == (4,), f"penalty has shape {tuple(penalties.shape)}"
    for k in range(4):
        single = subject.make()
        single.load_state_dict({name: p[k] for name, p in batch.state_dict().items()})
        close(outputs[k], single(x[k]), 1e-12, f"model {k}")
        close(penalties[k], single.penalty(), 1e-12, f"penalty of model {k}")
        close(sparsity[k], single.sparsity_error(gates=True), 1e-12, f"sparsity of model {k}")


def takes_any_leading_shape(subject: Subject) -> None:
    """Without a batch shape, input may be one vector or have any leading dimensions, even of size 0."""
    unit, x = subject.make(), inputs(3)
    flat = unit(x)
    close(unit(x[0]), flat[0], 1e-12, "one vector")
    close(unit(x.reshape(2, -1, 3)), flat.reshape(2, -1, 2), 1e-12, "two leading dimensions")
    assert unit(x[:0]).shape == (0, 2), "an empty batch must give an empty result"


def handles_many_inputs(subject: Subject) -> None:
    """A unit with more inputs than are unrolled gives the same as a small one when the others are unused."""
    op = subject.make().ops[0]
    wide, narrow = subject.make(40, 1, (2,)), subject.make(2, 1)
    wide.ideal_(op, 5, 30)
    narrow.ideal_(op, 0, 1)
    x = torch.rand(2, 6, 40, dtype=torch.float64, generator=torch.Generator().manual_seed(3)) + 0.5
    close(wide(x)[1], narrow(x[1][:, [5, 30]]), 1e-9, op)
