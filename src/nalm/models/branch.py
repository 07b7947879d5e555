r"""Networks that decide by a comparison (thesis, appendix D.3.2, after Faber & Wattenhofer 2020).

.. math:: y = c \, f_1(x) + (1 - c) \, f_2(x), \qquad c = \mathrm{NSR}(x), \quad f = \mathrm{NAU}(x)

The papers do not say how the two units are joined. Ours: the truth of the comparison and its negation choose
between two sums. With `discrete`, the truth is rounded to 0 or 1 outside training, and the weights of sums to
-1, 0 or 1: a truth of 0.999 mixes a little of the wrong sum into the state of a list, and a weight of 0.002 a
little of a wrong input, a thousand times in a row.

A branch alone computes piecewise functions; as a recurrent cell it reads lists; behind a sum of distance and
edge it is the step of Bellman & Ford.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.models.recurrent import Cell, Recurrent
from nalm.units import NAU


class Branch(nn.Module):
    """One of two learnt sums of the inputs, chosen by a learnt comparison of them.

    Args:
        unit: the comparison, from `in_features` values to one between 0 and 1.
        in_features: number of inputs.
        discrete: whether truth and weights are rounded outside training.
    """

    def __init__(self, unit: nn.Module, in_features: int, *, discrete: bool = False) -> None:
        super().__init__()
        self.unit, self.sums, self.discrete = unit, NAU(in_features, 2), discrete
        self.in_features, self.out_features = in_features, 1

    def forward(self, x: Tensor) -> Tensor:
        """`... x in` to `... x 1`."""
        if self.discrete and not self.training:
            truth, sums = self.unit(x).round(), _rounded_sums(self.sums, x)
        else:
            truth, sums = self.unit(x), self.sums(x)
        return truth * sums[..., :1] + (1 - truth) * sums[..., 1:]


class ListReader(nn.Module):
    """A branch as a recurrent cell that reads a list; the last state is the result.

    Args:
        unit: the comparison, from an element and the state to one value.
        element: number of values of an element.
        starts_with_first: whether the state starts with the first element instead of 0.
        discrete: see `Branch`.
    """

    def __init__(
        self, unit: nn.Module, element: int, *, starts_with_first: bool, discrete: bool = False
    ) -> None:
        super().__init__()
        cell = Cell(Branch(unit, element + 1, discrete=discrete), element, 1)
        self.reader, self.starts_with_first = Recurrent(cell, batch_first=True), starts_with_first

    def forward(self, x: Tensor) -> Tensor:
        """Lists `n x length x element` to `n x 1`."""
        start = x[None, :, 0, :1] if self.starts_with_first else None
        _, last = self.reader(x, start)
        result: Tensor = last[0]
        return result


class PathFinder(nn.Module):
    """Distances from the first node of a graph, relaxed edge by edge (Bellman 1958, Ford 1956).

    In every round each node takes its own distance and goes through its neighbours: a sum turns a
    neighbour's distance and the edge's weight into an offer, a branch keeps the offer or what there was.

    Args:
        unit: the comparison, from offer and present distance to one value.
        discrete: see `Branch`.
    """

    def __init__(self, unit: nn.Module, *, discrete: bool = False) -> None:
        super().__init__()
        self.offer, self.branch = NAU(2, 1), Branch(unit, 2, discrete=discrete)

    def forward(self, weights: Tensor) -> Tensor:
        """Weights of edges `n x nodes x nodes`, 0 where there is none, to distances `n x nodes`."""
        nodes, distances = weights.shape[-1], far_from_first(weights)
        sums = self._rounded_offer if self.branch.discrete and not self.training else self.offer
        for _ in range(nodes - 1):
            best = distances
            for u in range(nodes):
                edge = weights[:, u]
                seen = torch.stack([distances[:, u : u + 1].expand_as(edge), edge], -1)
                kept = self.branch(torch.stack([sums(seen)[..., 0], best], -1))[..., 0]
                best = torch.where(edge > 0, kept, best)
            distances = best
        return distances

    def _rounded_offer(self, seen: Tensor) -> Tensor:
        return _rounded_sums(self.offer, seen)


def far_from_first(weights: Tensor) -> Tensor:
    """Distances before the first round: 0 for the first node, more than any path for the others."""
    nodes = weights.shape[-1]
    most = nodes * weights.amax((-2, -1))[:, None]
    away = torch.ones(nodes, dtype=weights.dtype, device=weights.device)
    away[0] = 0
    return most * away


def _rounded_sums(unit: NAU, x: Tensor) -> Tensor:
    """The sums of a NAU with its weights rounded."""
    return nn.functional.linear(x, unit.weights()["W"].round())
