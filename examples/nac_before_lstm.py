"""A NAC on every frame before an LSTM: classes of short videos (after Raj et al. 2020).

The NAC adds the relevant points of a frame and leaves out the others, so that the LSTM sees few numbers.

    python examples/nac_before_lstm.py
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

import nalm

CLASSES = ("left", "right", "up", "down")


class VideoClassifier(nn.Module):
    """Videos `n x time x side x side` to logits, `n x classes`."""

    def __init__(self, side: int = 8, features: int = 16, hidden: int = 16) -> None:
        super().__init__()
        self.nac = nalm.NAC(side * side, features)
        self.lstm = nn.LSTM(features, hidden, batch_first=True)
        self.classes = nn.Linear(hidden, len(CLASSES))

    def forward(self, videos: Tensor) -> Tensor:
        """Logits after the last frame."""
        states, _ = self.lstm(self.nac(videos.flatten(2)))
        return self.classes(states[:, -1])


def videos(n: int, generator: torch.Generator, side: int = 8, time: int = 4) -> tuple[Tensor, Tensor]:
    """A bright point that moves in one of four directions from frame to frame, and which one."""
    moves = torch.tensor([[0, -1], [0, 1], [-1, 0], [1, 0]])
    label = torch.randint(len(CLASSES), (n,), generator=generator)
    start = torch.randint(side, (n, 1, 2), generator=generator)
    place = (start + moves[label][:, None] * torch.arange(time)[:, None]) % side
    frames = nn.functional.one_hot(place[..., 0] * side + place[..., 1], side * side).float()
    return frames.unflatten(-1, (side, side)), label


def train(steps: int = 400) -> tuple[float, float]:
    """The share of videos that are classified rightly before and after training."""
    torch.manual_seed(0)
    generator, model = torch.Generator().manual_seed(1), VideoClassifier()
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    x, y = videos(256, generator)

    def accuracy() -> float:
        with torch.no_grad():
            return float((model(x).argmax(-1) == y).float().mean())

    before = accuracy()
    for _ in range(steps):
        frames, label = videos(128, generator)
        loss = nn.functional.cross_entropy(model(frames), label)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return before, accuracy()


if __name__ == "__main__":
    print("accuracy before and after training: {:.2f}, {:.2f}".format(*train()))
