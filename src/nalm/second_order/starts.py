"""Where a population begins: starts that are drawn, and starts that are grown on the data.

Drawn starts come from the units' own initialisers. Grown starts come from the data:

- A single unit grows its selection: starting with no input, one weight after another is set to -1, 0 or 1,
  always the one that lowers the variance of the residuals most. In the logarithmic measure the factors of a
  product add up, so that each right choice improves the fit by itself, regardless of the signs and sizes of
  the inputs. (Between weight 0 and weight 1 the factor of a negative input passes through zero, which no
  local method can cross.)
- A stack grows its size: the later units start as the selection of their first 1, 2, … inputs, some of them
  negative, as if there were no other hidden values, and the first unit's weights are drawn.

Nothing here knows the operation or the range.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nalm.second_order.flat import Flat
from nalm.second_order.measures import Measure, residuals
from nalm.streams import Purpose
from nalm.units._base import Unit, units_of

_ROWS = 128
"""Enough rows to distinguish a right choice from a wrong one."""
_CHANGES = 16
"""The most inputs of a grown selection."""


@dataclass(frozen=True)
class Wave:
    """Members that are trained together.

    Attributes:
        name: the kind of start.
        vectors: the initial parameters, `members x parameters`.
        logarithmic: which members use the logarithmic measure, shape `members`, bool.
        held: which parameters are fixed, shape `parameters`, bool; None if none are.
        series: the series it belongs to; waves of a series grow until there is no more improvement.
    """

    name: str
    vectors: Tensor
    logarithmic: Tensor
    held: Tensor | None = None
    series: Hashable = None


def grown(flat: Flat, x: Tensor, y: Tensor, seed: int, starts: int) -> Iterator[Wave]:
    """Waves that are grown on the data, created lazily."""
    units = units_of(flat.models.skeleton) if flat.models.native else []
    try:
        if len(units) == 1:
            for measure in (Measure.LOGARITHMIC, Measure.PLAIN):
                yield _both_measures("grown selection", grown_selection(flat, x, y, measure, seed))
        elif len(units) > 1:
            yield from _sizes(flat, units, seed, max(2, starts // 2))
    except NotImplementedError:  # a user's own unit need not be able to select
        return


def drawn(flat: Flat, seed: int, starts: int) -> Wave:
    """Starts from the units' own initialisation."""
    return _both_measures("drawn", _drawn(flat, seed, starts))


def _drawn(flat: Flat, seed: int, count: int) -> Tensor:
    """Parameters drawn by the units, `count x parameters`; the first are those of first-order training."""
    seeds = torch.full((1,), seed, dtype=torch.int32)
    made = [flat.models.initial(seeds, Purpose.INIT if k == 0 else Purpose.REINIT, k) for k in range(count)]
    return torch.cat([flat.flatten(parameters) for parameters in made])


def _both_measures(name: str, vectors: Tensor) -> Wave:
    logarithmic = torch.arange(2 * len(vectors)) >= len(vectors)
    return Wave(name, torch.cat([vectors, vectors]), logarithmic)


def _sizes(flat: Flat, units: list[Unit], seed: int, starts: int) -> Iterator[Wave]:
    """A wave per number of hidden values, with 0, 1, … of them negative, in each measure."""
    start = _drawn(flat, seed, starts)
    later = torch.ones(flat.size, dtype=torch.bool)
    later[: sum(p.numel() for p in units[0].parameters())] = False
    largest = min(unit.in_features for unit in units[1:])
    for measure in Measure:
        logarithmic = torch.full((starts,), measure is Measure.LOGARITHMIC)
        tried = [flat.changed(start, _select_first(0, 0))[:, later]]  # an empty selection is not a start
        for negative in range(largest + 1):
            for size in range(max(1, negative), largest + 1):
                vectors = flat.changed(start, _select_first(size, negative))
                # A unit without negative weights selects fewer inputs, which was tried before.
                if not any(torch.equal(vectors[:, later], before) for before in tried):
                    tried.append(vectors[:, later])
                    yield Wave(_size_name(size), vectors, logarithmic, later, (measure, negative))


def _size_name(size: int) -> str:
    return f"grown to {size} hidden value{'' if size == 1 else 's'}"


def _select_first(size: int, negative: int) -> Callable[[nn.Module], None]:
    def select(model: nn.Module) -> None:
        for unit in units_of(model)[1:]:
            members = next(unit.parameters()).shape[0]
            chosen = torch.zeros(members, unit.out_features, unit.in_features, dtype=torch.float64)
            chosen[..., :size] = 1
            chosen[..., size - negative : size] = -1
            unit.select_(chosen)

    return select


def grown_selection(flat: Flat, x: Tensor, y: Tensor, measure: Measure, seed: int = 0) -> Tensor:
    """The parameters of a single unit with a grown selection, `1 x parameters`."""
    x, y = x[:_ROWS], y[:_ROWS]
    start = _drawn(flat, seed, 1)
    inputs, outputs = x.shape[-1], y.shape[-1]
    chosen = torch.zeros(outputs, inputs, dtype=x.dtype)
    lowest = torch.full((outputs,), torch.inf, dtype=x.dtype)
    for _ in range(_CHANGES):
        candidates = _one_changed(chosen)
        spread = _spread(flat, start, candidates, x, y, measure)
        value, index = spread.min(0)
        better = value < lowest * (1 - 1e-9)
        if not better.any():
            break
        lowest = torch.where(better, value, lowest)
        changed = candidates[index, torch.arange(outputs)]
        chosen = torch.where(better[:, None], changed, chosen)
    return _with_selection(flat, start, chosen[None])


def _one_changed(chosen: Tensor) -> Tensor:
    """The matrix with one column set to each other value of -1, 0 and 1: `candidates x out x in`."""
    column = torch.eye(chosen.shape[-1], dtype=torch.bool)[:, None]
    changed = torch.cat([torch.where(column, float(value), chosen) for value in (-1, 0, 1)])
    return changed[(changed != chosen).flatten(1).any(1)]


def _spread(flat: Flat, start: Tensor, candidates: Tensor, x: Tensor, y: Tensor, measure: Measure) -> Tensor:
    """Variance of the residuals of each candidate and output; infinite where they are not finite."""
    vectors = _with_selection(flat, start, candidates)
    logarithmic = torch.full((len(vectors),), measure is Measure.LOGARITHMIC)
    pieces = flat.pieces(len(vectors), len(x), 1)
    parts = [residuals(flat.predict(vectors, x[rows]), y[rows], logarithmic) for rows in pieces]
    spread = torch.cat(parts, 1).var(1)
    return torch.where(spread.isfinite(), spread, torch.inf)


def _with_selection(flat: Flat, start: Tensor, chosen: Tensor) -> Tensor:
    def select(model: nn.Module) -> None:
        units_of(model)[0].select_(chosen)

    return flat.changed(start.expand(len(chosen), -1), select)
