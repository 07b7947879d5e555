"""A U-Net whose skip connections pass a NAC: counting cells in images (after Rana et al. 2020).

A NAC on channels adds and subtracts feature maps point by point, and what it gives is added to what the
network below it gives.

    python examples/residual_nac_in_unet.py
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

import nalm


class ChannelNAC(nn.Module):
    """A NAC on the channels of each point: `n x channels x height x width`."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.nac = nalm.NAC(channels, channels)

    def forward(self, maps: Tensor) -> Tensor:
        """The same shape."""
        return self.nac(maps.movedim(1, -1)).movedim(-1, 1)


class CountingUNet(nn.Module):
    """Images `n x 1 x side x side`, side a multiple of 4, to densities of cells of the same shape."""

    def __init__(self, channels: int = 8) -> None:
        super().__init__()
        c = channels
        self.down = nn.ModuleList([_block(1, c), _block(c, 2 * c)])
        self.bottom = _block(2 * c, 2 * c)
        self.skip = nn.ModuleList([ChannelNAC(c), ChannelNAC(2 * c)])
        self.up = nn.ModuleList([_block(2 * c, c), _block(2 * c, 2 * c)])
        self.density = nn.Conv2d(c, 1, 1)

    def forward(self, images: Tensor) -> Tensor:
        """The density of cells."""
        held, maps = [], images
        for block in self.down:
            held.append(block(maps))
            maps = nn.functional.max_pool2d(held[-1], 2)
        maps = self.bottom(maps)
        for block, skip, before in zip(reversed(self.up), reversed(self.skip), reversed(held)):
            wide = block(nn.functional.interpolate(maps, scale_factor=2.0))
            maps = wide + skip(before)
        return self.density(maps)

    def count(self, images: Tensor) -> Tensor:
        """The number of cells in each image, `n`."""
        return self(images).sum((1, 2, 3))


def _block(inside: int, outside: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU())


def cells(n: int, most: int, generator: torch.Generator, side: int = 16) -> tuple[Tensor, Tensor]:
    """Images of up to `most` blurred points, and their densities, whose sum is the number of points."""
    there = torch.arange(most) < torch.randint(1, most + 1, (n, 1), generator=generator)
    place = torch.randint(2, side - 2, (n, most, 2), generator=generator)
    density = torch.zeros(n, side, side)
    for k in range(most):
        density[torch.arange(n), place[:, k, 0], place[:, k, 1]] += there[:, k].float()
    kernel = torch.tensor([0.25, 0.5, 0.25])
    blurred = nn.functional.conv2d(density[:, None], kernel.outer(kernel)[None, None], padding=1)
    return blurred, density[:, None]


def train(steps: int = 150) -> tuple[float, float]:
    """The mean errors of the count before and after training, in images with more cells than trained on."""
    torch.manual_seed(0)
    generator, model = torch.Generator().manual_seed(1), CountingUNet()
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    x, y = cells(64, 10, generator)

    def error() -> float:
        with torch.no_grad():
            return float((model.count(x) - y.sum((1, 2, 3))).abs().mean())

    before = error()
    for _ in range(steps):
        images, density = cells(32, 5, generator)
        loss = (model(images) - density).square().sum((1, 2, 3)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return before, error()


if __name__ == "__main__":
    print("error of the count before and after training: {:.2f}, {:.2f}".format(*train()))
