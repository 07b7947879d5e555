# %% [markdown]
# # A unit as a recurrent cell
#
# `nalm.Cell` makes any unit a recurrent cell: it reads the input and its own state, and writes the
# next state. A NAU that is trained on sequences of 5 numbers learns to add them up, and then adds up 1000.

# %%
"""A NAU as a recurrent cell: trained on sums of 5 numbers, it adds up 1000."""

import torch

import nalm


# %%
def sequences(n: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sequences of numbers from [-1, 2), `n x length x 1`, and their sums."""
    x = torch.empty(n, length, 1).uniform_(-1, 2)
    return x, x.sum(1)


# %% [markdown]
# `nalm.Recurrent` applies a cell along a sequence, with the interface of `nn.RNN`.


# %%
def train(steps: int = 600) -> nalm.Recurrent:
    """Train a recurrent NAU on sums of five numbers."""
    model = nalm.Recurrent(nalm.Cell("nau", input_size=1, state_size=1), batch_first=True)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = nalm.attach(model, optimizer, iterations=steps, op="add")
    for _ in range(steps):
        x, y = sequences(64, 5)
        loss = torch.nn.functional.mse_loss(model(x)[1].reshape(-1, 1), y)
        optimizer.zero_grad()
        (loss + schedule.penalty(loss)).backward()
        optimizer.step()
    return model


# %%
def main() -> None:
    """Train, and test on longer sequences."""
    torch.manual_seed(0)
    model = train()
    nalm.snap_(model)
    x, y = sequences(100, 1000)
    error = (model(x)[1].reshape(-1, 1) - y).abs().max().item()
    print("weights of input and state:", [round(w, 3) for w in model.cell.unit.weight[0].tolist()])
    print("sums of 1000 numbers are right to 0.01:", error < 0.01)


if __name__ == "__main__":
    main()
