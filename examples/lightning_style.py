# %% [markdown]
# # A Lightning-style module
#
# Where the calls of nalm go in a class with `training_step` and `configure_optimizers`. The class works
# unchanged with Lightning if its base is `lightning.LightningModule` instead of `nn.Module`; here a short
# loop calls the hooks in the same order.

# %%
"""A Lightning-style module: where `nalm.attach`, the penalty and checkpoints go."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

import nalm


# %%
class Product(nn.Module):  # lightning.LightningModule
    """Learns which two of four numbers are multiplied."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.unit = nalm.NMU(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        """The product of the chosen inputs."""
        return self.unit(x)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The optimiser, with the units' recipes attached to its step."""
        optimizer = torch.optim.Adam(self.parameters())
        self.schedule = nalm.attach(self, optimizer, iterations=self.steps)
        return optimizer

    def training_step(self, batch: tuple[Tensor, Tensor], index: int) -> Tensor:
        """The loss with the units' penalties."""
        x, y = batch
        loss = nn.functional.mse_loss(self(x), y)
        return loss + self.schedule.penalty(loss)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """The recipes know how many steps they have done."""
        checkpoint["nalm"] = self.schedule.state_dict()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Resume them."""
        self.schedule.load_state_dict(checkpoint["nalm"])


# %% [markdown]
# What a trainer does with it, in short.


# %%
def fit(module: Product, batches: Iterable[tuple[Tensor, Tensor]]) -> dict[str, Any]:
    """Call the hooks as a trainer does, and return a checkpoint."""
    optimizer = module.configure_optimizers()
    for index, batch in enumerate(batches):
        loss = module.training_step(batch, index)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    checkpoint = {"state_dict": module.state_dict(), "optimizer": optimizer.state_dict()}
    module.on_save_checkpoint(checkpoint)
    return checkpoint


# %%
def batches(steps: int) -> Iterable[tuple[Tensor, Tensor]]:
    """Rows of four numbers from [1, 2), and the products of the second and the fourth."""
    for _ in range(steps):
        x = 1 + torch.rand(128, 4)
        yield x, x[:, 1:2] * x[:, 3:]


# %%
def main(steps: int = 1000) -> None:
    """Train, and say what was learnt."""
    torch.manual_seed(0)
    module = Product(steps)
    checkpoint = fit(module, batches(steps))
    nalm.snap_(module)
    print("learnt:", nalm.explain(module.unit, ["a", "b", "c", "d"]))
    print("the checkpoint resumes after step", checkpoint["nalm"]["step"])


if __name__ == "__main__":
    main()
