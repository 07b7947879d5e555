"""From continuous weights to exact ones.

Three ways, each checked afterwards on fresh rows, so that a way that does not fit a model does no harm:

- Snap: every weight and gate to its nearest discrete value.
- Scale, then snap: between layers a factor may move freely (twice the first sum and half the second give the
  same product); every row of a unit that is not the last is divided such that its large entries become 1.
- Row by row: where the data leave weights open (two hidden values of which only the sum counts), a row is
  snapped and held, and the others are fitted again before the next; the last unit first.
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
"""Rows up to which they are snapped one by one."""


def snapped(flat: Flat, vectors: Tensor) -> Tensor:
    """All weights and gates at their nearest discrete values."""
    return flat.changed(vectors, _snap)


def snapped_all(flat: Flat, vectors: Tensor) -> Tensor:
    """The same, frozen weights too."""
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
    """Discrete weights that are at least as good on fresh rows, how good, and the steps it took; or None.

    Args:
        flat: the architecture.
        vector: continuous weights, shape `parameters`.
        before: how good these are on the fresh rows.
        fit: inputs and targets to fit to.
        fresh: further inputs and targets from the same range, and all targets if these are few.
    """
    rows = flat.rows()
    if any(row.unit is None for row in rows):
        return None  # nobody knows what is discrete outside units
    try:
        quick = snapped(flat, torch.stack([vector, scaled(flat, vector)]))
    except NotImplementedError:  # a user's own unit that does not say what is discrete
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
    """Snap a row, hold it, fit the rest again, and so on; also the steps that this took."""
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
