# %% [markdown]
# # Units in your own loop
#
# A NAU feeds an NMU and learns `(a + b) * c`. `nalm.attach` gives every unit its published recipe: you add
# one term to the loss, and the rest happens in `optimizer.step()`.

# %%
"""Units in your own training loop: a NAU and an NMU learn (a + b) * c."""

import torch

import nalm

# %% [markdown]
# The data: three numbers from [1, 2), of which two are added and multiplied by the third.


# %%
def batch(n: int, low: float, high: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of three numbers from [low, high), and their results."""
    x = torch.empty(n, 3).uniform_(low, high)
    return x, (x[:, :1] + x[:, 1:2]) * x[:, 2:]


# %% [markdown]
# The loop is yours. Without `iterations`, `attach` only keeps weights in their bounds; with it, learning
# rates, clips and penalties follow the recipes.


# %%
def train(steps: int = 3000) -> torch.nn.Module:
    """Train a small stack of units."""
    model = torch.nn.Sequential(nalm.NAU(3, 2), nalm.NMU(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    schedule = nalm.attach(model, optimizer, iterations=steps, strength=0.1)
    for _ in range(steps):
        x, y = batch(128, 1, 2)
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        (loss + schedule.penalty(loss)).backward()
        optimizer.step()
    return model


# %% [markdown]
# What it learnt is a formula, and a formula holds outside the range that it was learnt on.


# %%
def main() -> None:
    """Train, and say what was learnt."""
    torch.manual_seed(0)
    model = train()
    nalm.snap_(model)  # weights within rounding of -1, 0 and 1 become exact
    x, y = batch(1000, 100, 1000)
    error = ((model(x) - y) / y).abs().max().item()
    print("learnt:", nalm.explain(model, ["a", "b", "c"]))
    print("relative error on numbers 500 times larger is below 1e-5:", error < 1e-5)


if __name__ == "__main__":
    main()
