# %% [markdown]
# # A unit of your own in a benchmark
#
# Any `nn.Module` that is made by `(in_features, out_features)` can be benchmarked beside nalm's units: same
# data, same seeds, same threshold. On the command line:
#
#     nalm bench single-module --units ./my_unit.py:MyUnit,nmu --op mul --ranges 1:2 --seeds 3

# %%
"""A unit of your own in a benchmark, beside the NMU."""

import tempfile
from pathlib import Path

from nalm.experiment.bench import do_work, make_experiment, make_work
from nalm.experiment.local import Local
from nalm.experiment.store import Store

# %% [markdown]
# The unit is in a file of its own, because processes that train it import it from there.

# %%
MY_UNIT = '''
import torch


class MyUnit(torch.nn.Module):
    """A product whose weights are clamped where they are used."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(out_features, in_features))

    def forward(self, x):
        w = self.weight.clamp(0, 1)
        return (w * x[..., None, :] + 1 - w).prod(-1)
'''


# %% [markdown]
# Runs are kept in a store; what is there is not computed again. `nalm report` makes a page of it.


# %%
def bench(folder: Path, seeds: int = 3, iterations: int = 4000) -> list[dict]:
    """Compare the unit with the NMU on products of numbers from [1, 2)."""
    (folder / "my_unit.py").write_text(MY_UNIT)
    units = [f"{folder}/my_unit.py:MyUnit", "nmu"]
    experiment = make_experiment("single-module", units, ["mul"], ["1:2"], seeds=seeds, iterations=iterations)
    with Store(folder / "runs.sqlite") as store:
        return do_work(make_work(experiment, store, processes=1), store, Local(1))["rows"]


# %%
def main() -> None:
    """Benchmark, and print a line per unit."""
    with tempfile.TemporaryDirectory() as folder:
        for row in bench(Path(folder)):
            name = row["model"].rpartition(":")[2]
            print(f"{name}: {row['outcomes']['solved']} of {row['runs']} runs solved")


if __name__ == "__main__":
    main()
