"""From continuous weights to exact ones.

There are three ways. Each is checked afterwards on fresh rows, so that one that does not suit a model does no
harm:

- Snap: move every weight and gate to its nearest discrete value.
- Scale, then snap: a factor can be moved between layers (twice the first sum and half the second give the
  same product), so every row of every unit but the last is divided so that its large entries become 1.
- Row by row: where the data leave weights undetermined (two hidden values of which only the sum matters), a
  row is snapped and fixed, and the others are fitted again before the next; the last unit comes first.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.second_order.flat import Flat
from nalm.second_order.levenberg_marquardt import minimise
from nalm.second_order.quality import Quality, best, qualities
from nalm.units._base import units_of

_FITTING_STEPS = 10
_MOST_ROWS = 64
"""The most rows of weights that are snapped one by one."""


def snapped(flat: Flat, vectors: Tensor) -> Tensor:
    """All weights and gates at their nearest discrete values."""
    return flat.changed(vectors, _snap)


def snapped_all(flat: Flat, vectors: Tensor) -> Tensor:
    """The same, including frozen weights."""
    return flat.changed_all(vectors, _snap)


def scaled(flat: Flat, vector: Tensor) -> Tensor:
    """Every row of every weight matrix but the last unit's, divided by its typical large entry."""
    last = len(units_of(flat.models.skeleton)) - 1
    after = vector.clone()
    for row in flat.rows():
        sizes = after[row.place].abs()
        large = sizes[sizes > sizes.max() / 2]
        if row.unit != last and len(large):
            after[row.place] = after[row.place] / large.median()
    return torch.where(flat.trainable(), after, vector)


def discretise(
    flat: Flat,
    vector: Tensor,
    before: Quality,
    fit: tuple[Tensor, Tensor],
    fresh: tuple[Tensor, ...],
) -> tuple[Tensor, Quality, int] | None:
    """Discrete weights that are at least as good on fresh rows, their quality, and the steps taken; or None.

    Args:
        flat: the architecture.
        vector: continuous weights, shape `parameters`.
        before: the quality of the continuous weights on the fresh rows.
        fit: inputs and targets to fit.
        fresh: further inputs and targets from the same range, and all targets in case the fresh ones are few.
    """
    rows = flat.rows()
    if any(row.unit is None for row in rows):
        return None  # discrete values are defined for units only
    try:
        quick = snapped(flat, torch.stack([vector, scaled(flat, vector)]))
    except NotImplementedError:  # a user's own unit that does not define its discrete values
        return None
    found = qualities(flat, quick, *fresh)
    k = best(found)
    if found[k].as_good_as(before):
        return quick[k], found[k], 0
    if not before.fits or len({row.unit for row in rows}) == 1 or len(rows) > _MOST_ROWS:
        return None
    by_rows, steps = _row_by_row(flat, vector, fit)
    (quality,) = qualities(flat, by_rows[None], *fresh)
    return (by_rows, quality, steps) if quality.as_good_as(before) else None


def _row_by_row(flat: Flat, vector: Tensor, fit: tuple[Tensor, Tensor]) -> tuple[Tensor, int]:
    """Snap a row, fix it, fit the rest again, and so on; also returns the number of steps."""
    now, steps = vector.clone(), 0
    free = flat.trainable()
    plain = torch.zeros(1, dtype=torch.bool)
    for row in sorted(flat.rows(), key=lambda row: (-(row.unit or 0), row.place.start)):
        now[row.place] = snapped(flat, now[None])[0, row.place]
        free[row.place] = False
        if free.any():
            path = minimise(flat, now[None], *fit, plain, free[None], _FITTING_STEPS)
            now, steps = path.end[0], steps + int(path.steps[0])
    return snapped(flat, now[None])[0], steps


def _snap(model: nn.Module) -> None:
    for unit in units_of(model):
        unit.project_()
        unit.snap_()
