"""What may be claimed of discrete weights that were found.

*Exact* is a formula that fits every given row, fitted or held out, to the precision in which the numbers are
given, if the rows could have contradicted it. *Discrete* are weights that leave only noise: every
neighbouring discrete value of a weight is worse, and the residuals cannot be predicted from the inputs.
*Discrete* is also a formula that fits all rows but a few, which are named, and one that fits too few rows.
Other discrete weights have no verdict: continuous weights are kept instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from scipy import stats
from torch import Tensor

from nalm.second_order.alternatives import open_weights
from nalm.second_order.flat import Flat
from nalm.second_order.formula import formula_values, is_readable
from nalm.second_order.precision import is_whole, tolerance
from nalm.second_order.quality import Quality
from nalm.second_order.solution import Found

MOST_BITS_PER_ROW = 10.0
"""The most evidence, in bits, that a single row can give for a formula: one row alone is never enough."""
BITS_TO_SPARE = 20.0
"""A wrong formula fits the rows by chance in one of 2 to the power of this many tables."""
_BY_CHANCE, _PART = 1e-6, 0.02
"""A trace of the inputs in the residuals counts if it is this improbable and this share of their variance."""
_FEW_OFF = 0.1
"""The share of rows that may be off if the formula fits all others, as when some were mistyped."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on discrete weights.

    Attributes:
        found: exact or discrete.
        unexplained: share of the variance left unexplained, for the output where it is largest, on the rows
            that `notes` do not name as wrong.
        notes: further sentences.
    """

    found: Found
    unexplained: float
    notes: tuple[str, ...] = ()


def verdict(flat: Flat, vector: Tensor, x: Tensor, y: Tensor, quality: Quality) -> Verdict | None:
    """The verdict on discrete weights, or None if they are no better than other numbers.

    Args:
        flat: the architecture.
        vector: its weights.
        x: all inputs that were given, `n x in`.
        y: all targets, `n x out`.
        quality: how good the weights are on fresh rows.
    """
    if not is_readable(flat, vector):
        return None
    values = formula_values(flat, vector, x)
    outputs = flat.predict(vector[None], x)[0] if values is None else values
    allowed = tolerance(x, y, flat.slopes(vector, x))
    met = ((outputs - y).abs() <= allowed).all(-1)
    few = too_few_rows(flat, vector, x[met], y[met], allowed[met])
    if values is not None and (met.all() or (not few and met.double().mean() >= 1 - _FEW_OFF)):
        exact = not few and bool(met.all())
        notes = tuple(filter(None, (few, off_sentence(met))))
        return Verdict(Found.EXACT if exact else Found.DISCRETE, unexplained(outputs[met], y[met]), notes)
    if too_few_rows(flat, vector, x, y, allowed) or open_weights(flat, vector, x, y):
        return None
    if not quality.fits and any(has_trace_of(x, outputs[:, k], y[:, k]) for k in range(y.shape[-1])):
        return None
    return Verdict(Found.DISCRETE, unexplained(outputs, y))


def meets_every_row(flat: Flat, vector: Tensor, x: Tensor, y: Tensor) -> bool:
    """Whether the formula of discrete weights fits all of these rows to the data's precision."""
    met, _ = _met(flat, vector, x, y)
    return bool(met.all())


def is_determined(flat: Flat, vector: Tensor, x: Tensor, y: Tensor) -> bool:
    """Whether the rows rule out all neighbouring discrete values of weights that have a verdict."""
    met, allowed = _met(flat, vector, x, y)
    if not met.any():
        return not open_weights(flat, vector, x, y)
    few = too_few_rows(flat, vector, x[met], y[met], allowed[met])
    return not few and not open_weights(flat, vector, x[met], y[met], allowed[met])


def _met(flat: Flat, vector: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Which rows a formula fits, none if there is no formula, and how far off it may be."""
    allowed = tolerance(x, y, flat.slopes(vector, x))
    values = formula_values(flat, vector, x) if is_readable(flat, vector) else None
    if values is None:
        return torch.zeros(len(x), dtype=torch.bool), allowed
    return ((values - y).abs() <= allowed).all(-1), allowed


def off_sentence(met: Tensor) -> str:
    """A sentence that names the rows that the formula does not fit; empty if it fits all."""
    off = (~met).nonzero()[:, 0].tolist()
    if not off:
        return ""
    named = ", ".join(map(str, off[:5])) + (", …" if len(off) > 5 else "")
    verb = "row is" if len(off) == 1 else "rows are"
    met_rows = f"The formula fits all but {len(off)} of {len(met):,} rows to the data's precision"
    return f"{met_rows}; the other {verb} {named}."


def unexplained(outputs: Tensor, y: Tensor, targets: Tensor | None = None) -> float:
    """The share of variance left unexplained, for the worst output; for a constant, the share of its square.

    The variance is that of all `targets`, by default of y.
    """
    targets = y if targets is None else targets
    spread = targets.var(0, correction=0)
    scale = torch.where(spread > 0, spread, targets.square().mean(0).clamp_min(torch.finfo(y.dtype).tiny))
    left = ((outputs - y).square().mean(0) / scale).max()
    return float(left) if left.isfinite() else math.inf


def too_few_rows(flat: Flat, vector: Tensor, x: Tensor, y: Tensor, allowed: Tensor) -> str:
    """A sentence if rows like these could not have contradicted the weights; empty if they could.

    There must be more distinct rows than weights to choose, and they must carry more bits than the choice of
    the weights takes.
    """
    choices = int(flat.trainable().sum()) / y.shape[-1]
    rows = len(x.unique(dim=0)) if len(x) else 0
    if rows <= choices:
        return f"{rows} distinct rows could not have contradicted a choice of {choices:g} weights."
    needed = _bits_of(vector[flat.trainable()]) / y.shape[-1] + BITS_TO_SPARE
    said = rows * bits_per_row(x, y, allowed)
    if said >= needed:
        return ""
    return f"{rows} distinct rows contain too little information to choose {choices:g} weights."


def _bits_of(weights: Tensor) -> float:
    """The bits that a choice of discrete weights takes: among three values, or more for larger weights."""
    return float((math.log2(3) + 2 * (1 + 2 * weights.abs()).log2() * (weights.abs() > 1)).sum())


def bits_per_row(x: Tensor, y: Tensor, allowed: Tensor) -> float:
    """The mean information per row, in bits, for the output where it is smallest."""
    spread = y.std(0, correction=0)
    spread = torch.where(spread > 0, spread, y.abs().mean(0))
    spread = torch.where(spread > 0, spread, x.abs().mean())
    # Formulas of whole numbers give whole numbers: values in between need not be distinguished.
    finest = 1.0 if is_whole(x) and is_whole(y) else 0.0
    told = (1 + 2 * spread / allowed.clamp_min(max(finest, torch.finfo(y.dtype).tiny))).log2()
    return float(told.clamp_max(MOST_BITS_PER_ROW).mean(0).min())


def has_trace_of(x: Tensor, outputs: Tensor, y: Tensor) -> bool:
    """Whether the residuals of a target, shape `n`, depend on the inputs: then they are not noise.

    An F test of powers of the inputs and of the prediction, as in Ramsey's RESET (1969).
    """
    columns = torch.cat([x, outputs[:, None]], -1)
    if not bool(columns.isfinite().all()):
        return True
    centred = columns - columns.mean(0)
    scaled = centred / centred.std(0).clamp_min(torch.finfo(x.dtype).tiny)
    powers = [torch.ones(len(x), 1, dtype=x.dtype), scaled, scaled**2, scaled**3]
    features = torch.cat(powers, -1) if 10 * scaled.shape[-1] < len(x) else torch.cat(powers[:2], -1)
    rank = int(torch.linalg.matrix_rank(features))
    if rank + 2 > len(x):
        return False  # too few rows to decide
    left = y - outputs
    left = left - left.mean()
    fitted = torch.linalg.lstsq(features, left[:, None], driver="gelsd").solution
    after = float((left[:, None] - features @ fitted).square().sum())
    total = float(left.square().sum())
    if total <= 0:
        return False
    share = 1 - after / total
    ratio = ((total - after) / (rank - 1)) / max(after / (len(x) - rank), torch.finfo(x.dtype).tiny)
    return share > _PART and float(stats.f.sf(ratio, rank - 1, len(x) - rank)) < _BY_CHANCE
