# %% [markdown]
# # From a CSV file to a formula
#
# `nalm.ArithmeticRegressor` finds the formula behind a table, as an estimator of scikit-learn. On the
# command line: `nalm fit kinetic_energy.csv --target energy`.

# %%
"""From a CSV file to a formula: the energy of a moving body, with columns that do not matter."""

import csv
import tempfile
from pathlib import Path

import numpy as np

import nalm

# %% [markdown]
# A file as it may come from a measurement: mass, velocity and temperature of 60 bodies, and their energy.


# %%
def write_csv(file: Path, rows: int = 60) -> None:
    """Write a table of bodies and their energies."""
    random = np.random.default_rng(0)
    mass, velocity, temperature = random.uniform(1, 10, (3, rows))
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["mass", "velocity", "temperature", "energy"])
        writer.writerows(zip(mass, velocity, temperature, mass * velocity**2 / 2))


# %%
def main() -> None:
    """Read the file, find the formula, and use it on new rows."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bodies.csv"
        write_csv(file)
        table = np.genfromtxt(file, delimiter=",", names=True)
    inputs = ["mass", "velocity", "temperature"]
    x = np.column_stack([table[name] for name in inputs])
    model = nalm.ArithmeticRegressor(max_seconds=20, random_state=0).fit(x, table["energy"])
    names = {symbol: inputs[int(symbol.name[1:])] for symbol in model.expression_.free_symbols}  # x0 is mass
    print("energy =", model.expression_.subs(names))
    print("verdict:", model.verdict_)
    print("a body of mass 2 with velocity 30:", round(float(model.predict([[2.0, 30.0, 5.0]])[0]), 3))


if __name__ == "__main__":
    main()
