"""Success by unit and range, from the results of the ledger that are kept with the project."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nalm.papers.ledger import kept_result
from nalm.report.gallery.picture import Drawn, Kind, Skipped, Studio, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENTRIES = {
    "add": ("addition", ("mistry2023:fig3.2",)),
    "sub": ("subtraction", ("mistry2023:fig3.3",)),
    "mul": ("multiplication", ("mistry2023:fig3.4", "mistry2023:fig4.4")),
    "div": ("division", ("mistry2023:fig3.5", "mistry2023:fig5.6")),
}
"""By operation, its name and the entries that compare units on the papers' nine ranges."""

Rates = dict[tuple[str, str], tuple[float, int]]
"""By unit and range, the share of seeds that succeed and the number of seeds."""


def rates(entries: Sequence[str]) -> Rates:
    """The success rates of these entries; of a unit that several have, those of the first."""
    found: Rates = {}
    for entry in entries:
        result = kept_result(entry)
        if result is None:
            raise Skipped(f"The result of {entry} is not kept with this installation.")
        known = {unit for unit, _ in found}
        for unit, column, metric, value, _, _, seeds in result["findings"]:
            if metric == "success" and unit not in known:
                found[unit, column] = (value, seeds)
    return found


def draw(op: str, studio: Studio) -> Drawn:
    """The success rates of an operation."""
    name, entries = ENTRIES[op]
    found = rates(entries)
    units, columns = (list(dict.fromkeys(part)) for part in zip(*found))
    table = np.array([[found.get((u, c), (np.nan, 0))[0] for c in columns] for u in units])
    figure = new_figure(2.4 + 0.78 * len(columns), 1.7 + 0.42 * len(units))
    axis = figure.subplots()
    image = axis.imshow(table, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    _numbers(axis, table)
    axis.set_xticks(range(len(columns)), columns, rotation=35, ha="right", rotation_mode="anchor", fontsize=9)
    axis.set_yticks(range(len(units)), units, fontsize=9)
    axis.set_title(f"Single module, {name}: share of seeds that succeed", fontsize=11)
    figure.colorbar(image, ticks=(0, 0.5, 1), pad=0.02)
    seeds = sorted({seeds for _, seeds in found.values()})
    return Drawn(
        figure,
        name,
        f"How many of {seeds[0]} seeds{f' (or {seeds[-1]})' if len(seeds) > 1 else ''} learn {name} of two "
        "inputs, for each unit and training range, in the papers' full protocol.",
        " and ".join(f"nalm reproduce {entry}" for entry in entries),
        vector=True,
    )


def _numbers(axis: Axes, table: np.ndarray) -> None:
    """The number in every cell, light on dark and dark on light."""
    for (row, column), value in np.ndenumerate(table):
        if np.isfinite(value):
            axis.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8,
                      color="white" if value < 0.5 else "black")  # fmt: skip


KIND = Kind(
    "success",
    "Success by unit and range",
    "Kept results of the ledger; nothing is trained. A seed succeeds if its error outside the training range "
    "is below that of weights that are off by 1e-5.",
    {f"success-{op}": functools.partial(draw, op) for op in ENTRIES},
)
