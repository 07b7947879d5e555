"""A NALU between a two-layer GRU and a dense layer: the next point of a path (after Xiao et al. 2020).

The GRU's states are within (-1, 1); the NALU adds and multiplies them before the dense layer.

    python examples/nalu_between_gru_and_dense.py
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

import nalm


class PathPredictor(nn.Module):
    """Points `n x time x 2` to the point after the last, `n x 2`."""

    def __init__(self, hidden: int = 16) -> None:
        super().__init__()
        self.gru = nn.GRU(2, hidden, num_layers=2, batch_first=True)
        self.nalu = nalm.NALU(hidden, hidden)
        self.dense = nn.Linear(hidden, 2)

    def forward(self, points: Tensor) -> Tensor:
        """The last point, moved."""
        states, _ = self.gru(points)
        return points[:, -1] + self.dense(self.nalu(states[:, -1]))


def paths(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Paths along circles, whose direction changes at every point; the last point is the target."""
    turn = 0.5 * torch.rand(n, 1, generator=generator)
    phase = 2 * torch.pi * torch.rand(n, 1, generator=generator)
    angle = phase + turn * torch.arange(11)
    points = torch.stack([angle.cos(), angle.sin()], -1)
    return points[:, :-1], points[:, -1]


def train(steps: int = 300) -> tuple[float, float]:
    """The mean squared errors before and after training, on paths that were not trained on."""
    torch.manual_seed(0)
    generator, model = torch.Generator().manual_seed(1), PathPredictor()
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    x, y = paths(256, generator)

    def error() -> float:
        with torch.no_grad():
            return float(nn.functional.mse_loss(model(x), y))

    before = error()
    for _ in range(steps):
        points, target = paths(64, generator)
        loss = nn.functional.mse_loss(model(points), target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return before, error()


if __name__ == "__main__":
    print("error before and after training: {:.4f}, {:.4f}".format(*train()))
