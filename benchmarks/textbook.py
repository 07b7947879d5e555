"""The usual way to train one seed: what anyone would write with bare PyTorch, without logging."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Forward = Callable[[Tensor], Tensor]
Penalty = Callable[[], Tensor] | None
Clamp = Callable[[], Any] | None
Parts = tuple[list[Tensor], Forward, Penalty, Clamp]
"""Parameters, forward, penalty, clamp."""


def _nau() -> Parts:
    w = torch.empty(1, 2).uniform_(-0.5, 0.5).requires_grad_()
    return (
        [w],
        lambda x: F.linear(x, w),
        lambda: torch.min(w.abs(), (1 - w.abs()).abs()).mean(),
        lambda: w.clamp_(-1, 1),
    )


def _nmu(inputs: int) -> Parts:
    w = torch.empty(1, inputs).uniform_(0.25, 0.75).requires_grad_()
    return (
        [w],
        lambda x: (w * x[:, None] + 1 - w).prod(-1),
        lambda: torch.min(w.abs(), (1 - w).abs()).mean(),
        lambda: w.clamp_(0, 1),
    )


def _nalu() -> Parts:
    w_hat, m_hat, g = (torch.empty(1, 2).uniform_(-1, 1).requires_grad_() for _ in range(3))

    def forward(x: Tensor) -> Tensor:
        w = torch.tanh(w_hat) * torch.sigmoid(m_hat)
        gate = torch.sigmoid(F.linear(x, g))
        return gate * F.linear(x, w) + (1 - gate) * torch.exp(F.linear(torch.log(x.abs() + 1e-7), w))

    return [w_hat, m_hat, g], forward, None, None


def _real_npu() -> Parts:
    w = torch.empty(1, 2).uniform_(-1.4, 1.4).requires_grad_()
    g = torch.full((2,), 0.5, requires_grad=True)

    def forward(x: Tensor) -> Tensor:
        gate = g.clamp(0, 1)
        r = gate * (x.abs() + 1.19e-7) + (1 - gate)
        k = torch.where(x < 0, torch.pi, 0.0) * gate
        return torch.exp(F.linear(torch.log(r), w)) * torch.cos(F.linear(k, w))

    return [w, g], forward, lambda: 1e-7 * (w.abs().sum() + g.abs().sum()), None


def _stack(inputs: int) -> Parts:
    a = torch.empty(2, inputs).uniform_(-0.24, 0.24).requires_grad_()
    (m,), multiply, penalty, clamp = _nmu(2)

    def both() -> None:
        a.clamp_(-1, 1)
        clamp()

    return (
        [a, m],
        lambda x: multiply(F.linear(x, a)),
        lambda: torch.min(a.abs(), (1 - a.abs()).abs()).mean() + penalty(),
        both,
    )


def parts(unit: str, inputs: int) -> Parts:
    """The parts of a model with this many inputs."""
    if unit == "nmu":
        return _nmu(inputs)
    if unit == "nau+nmu":
        return _stack(inputs)
    return {"nau": _nau, "nalu": _nalu, "realnpu": _real_npu}[unit]()


def loop(model: Parts, target: Forward, inputs: int, rate: float) -> Callable[[int], None]:
    """A function that takes so many steps of Adam on fresh batches from U[1, 2)."""
    parameters, forward, penalty, clamp = model
    optimiser = torch.optim.Adam(parameters, lr=rate)

    def train(steps: int) -> None:
        for _ in range(steps):
            x = torch.empty(128, inputs).uniform_(1.0, 2.0)
            loss = F.mse_loss(forward(x), target(x))
            if penalty is not None:
                loss = loss + penalty()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            if clamp is not None:
                with torch.no_grad():
                    clamp()

    return train
