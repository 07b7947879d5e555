# %% [markdown]
# # A unit behind a CNN
#
# Two pictures of digits go in and their sum comes out. A CNN reads each picture as one number, and a NAU adds
# the two. No label of a digit is ever shown: what a digit means is learnt through the sum alone. The digits
# are drawn by nalm, so that no file is needed; `load_digits("mnist")` gives handwritten ones.

# %%
"""A NAU behind a CNN: sums of two pictures of digits, without a label of any digit."""

import torch
from torch import Tensor, nn

import nalm
from nalm.data import load_digits


# %%
class SumOfDigits(nn.Module):
    """Two pictures `n x 2 x 28 x 28` to their sum `n x 1`."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = nn.Sequential(
            nn.Conv2d(1, 8, 5, stride=2),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Conv2d(8, 16, 5, stride=2),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * 4 * 4, 64),
            nn.ReLU(),
            nn.Linear(64, 1),
        )
        self.unit = nalm.NAU(2, 1)

    def read(self, pictures: Tensor) -> Tensor:
        """The number that the CNN takes each picture for, `n x 2`."""
        return self.reader(pictures.flatten(0, 1)[:, None] / 255).reshape(-1, 2)

    def forward(self, pictures: Tensor) -> Tensor:
        """The sum."""
        return self.unit(self.read(pictures))


# %% [markdown]
# `attach` treats the NAU by its recipe and leaves the CNN to your optimiser.


# %%
def train(steps: int = 500) -> SumOfDigits:
    """Train CNN and unit together, by the error of the sum."""
    digits = load_digits("drawn").train
    model = SumOfDigits()
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    schedule = nalm.attach(model, optimizer, iterations=steps)
    for _ in range(steps):
        pick = torch.randint(len(digits.labels), (64, 2))
        loss = nn.functional.mse_loss(
            model(digits.images[pick]), digits.labels[pick].sum(1, keepdim=True).float()
        )
        optimizer.zero_grad()
        (loss + schedule.penalty(loss)).backward()
        optimizer.step()
    return model


# %%
def main() -> None:
    """Train, and say how well new digits are read."""
    torch.manual_seed(0)
    model = train().eval()
    nalm.snap_(model)
    digits = load_digits("drawn").test
    pairs = torch.arange(len(digits)).reshape(-1, 2)
    with torch.no_grad():
        read = model.read(digits.images[pairs]) * model.unit.weight  # with weights of -1, -3 stands for 3
    error = (read - digits.labels[pairs]).abs().mean().item()
    print("the unit:", nalm.explain(model.unit, ["digit1", "digit2"]))
    print("new digits are read with a mean error below 0.7:", error < 0.7)


if __name__ == "__main__":
    main()
