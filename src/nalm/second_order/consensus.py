"""Find a formula despite a few wrong rows, such as mistyped ones, if all other rows agree on it.

In a sum of squared errors one wrong row can outweigh all others. If some rows are outliers, small random
samples are solved instead (random sample consensus, Fischler & Bolles 1981): a sample without a wrong row
gives the formula, and all rows are then compared with it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nalm.second_order.flat import Flat
from nalm.second_order.solution import Found
from nalm.second_order.solver import Result, Rows, solve_rows
from nalm.second_order.verdict import verdict
from nalm.streams import Purpose, counters, key, uniform

_SAMPLES, _LEAST_ROWS, _PER_PARAMETER = 4, 40, 3
"""The most samples, the fewest rows of a sample, and its rows per parameter."""
_DRAWN = 1
"""The most starts that are drawn for a sample: a clean sample is easy."""
_FAR_OUT = 4.0
"""A row is an outlier if it is off by more than this many times the 95 % quantile."""


def without_outliers(
    flat: Flat, rows: Rows, seed: int, first: Result, *, starts: int, grow: bool, steps: int
) -> Result:
    """The first result, or that of a sample whose formula fits nearly all rows.

    Args:
        flat: the architecture.
        rows: all rows.
        seed: the seed of the samples and of drawn starts.
        first: the result on all rows together.
        starts: as for `solve_rows`.
        grow: as for `solve_rows`.
        steps: as for `solve_rows`.
    """
    x, y = rows.given
    size = max(_LEAST_ROWS, _PER_PARAMETER * flat.size)
    if first.verdict is not None or 2 * size > len(x) or not _stands_out(flat, first.vector, x, y):
        return first
    for sample in _samples(len(x), size, seed):
        kept = size // 4
        parts = Rows.of((x[sample[kept:]], y[sample[kept:]]), (x[sample[:kept]], y[sample[:kept]]))
        found = solve_rows(flat, parts, seed, starts=min(starts, _DRAWN), grow=grow, steps=steps)
        if found.verdict is not None and found.verdict.found is Found.EXACT:
            said = verdict(flat, found.vector, x, y, found.quality)
            if said is not None:
                return found.judged(said)
    return first


def _samples(rows: int, size: int, seed: int) -> list[Tensor]:
    """Disjoint samples of row numbers."""
    stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.TASK, 3)
    order = uniform(stream, counters(rows), torch.float64)[0].argsort()
    return [part for part in order.split(size)[:_SAMPLES] if len(part) == size]


def _stands_out(flat: Flat, vector: Tensor, x: Tensor, y: Tensor) -> bool:
    """Whether a few rows are outliers, by their residuals or by their values."""
    left = (flat.predict(vector[None], x)[0] - y).abs()
    far = (y - y.median(0).values).abs()
    return any(
        bool((off.amax(0) > _FAR_OUT * off.sort(0).values[int(0.95 * (len(off) - 1))]).any())
        for off in (left, far)
    )
