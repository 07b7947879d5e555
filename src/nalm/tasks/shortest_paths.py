"""Shortest paths in the manner of Bellman & Ford (thesis, appendix D.3.2, after Faber & Wattenhofer 2020).

The network goes through the edges as the algorithm does, see `nalm.models.branch.PathFinder`; what is learnt
is the sum that makes an offer, the comparison, and what is kept.

The thesis has no settings. Ours: undirected graphs of five nodes, in which every node is joined to one before
it, and each other pair by an edge with probability 1/4; weights are whole numbers from 1 to 10; the distances
from the first node after all rounds are trained on. Tests have the same and four times as many nodes, and
ten times larger weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.models.branch import PathFinder, far_from_first
from nalm.recipes import Recipe
from nalm.tasks._base import Facet, Numbers, Split
from nalm.tasks._fields import FieldTask
from nalm.tasks.measures import Measure
from nalm.tasks.piecewise import branch_recipe

NODES = 5
"""Nodes of a graph in training."""
SETS = {
    "test": (20, 1),
    "20 nodes, weights x 10": (20, 10),
    "5 nodes": (5, 1),
    "5 nodes, weights x 10": (5, 10),
}
"""The test sets: number of nodes, and how many times larger the weights are."""
LARGEST, JOINED = 10, 0.25
"""The largest weight of an edge in training, and the share of further pairs that are joined."""
STEPS = 1500


@dataclass(frozen=True)
class MeanOverNodes(Measure):
    """The squared error of a distance, the mean over nodes and graphs."""

    name: str = "mse"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over graphs of the mean over nodes, shape `models`."""
        return (prediction - target).square().mean(-1).sum(-1)


@dataclass(frozen=True)
class WrongDistances(Measure):
    """The share of nodes whose distance, rounded, is wrong."""

    name: str = "wrong_distance"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over graphs of the share of nodes, shape `models`."""
        return (prediction.round() != target).to(prediction.dtype).mean(-1).sum(-1)


@dataclass(frozen=True)
class ShortestPaths(FieldTask):
    """Distances of all nodes from the first.

    Attributes:
        discrete: whether comparisons and weights of sums are rounded outside training; ours.
    """

    op: str = "distance"
    discrete: bool = False

    name = "shortest-paths"
    ops = ("distance",)
    models: ClassVar[tuple[str, ...]] = ("nsr", "nsr(redundancy=10)")
    shared: ClassVar[tuple[str, ...]] = ("discrete",)
    tests = tuple(SETS)
    measures = (MeanOverNodes(), WrongDistances())
    in_features = 2
    input_shape = (NODES, NODES)
    target_shape = (NODES,)
    unit_features = (2, 1)
    input_names = ["offer", "distance"]  # noqa: RUF012 - a property of the base
    log_interval: int = 150

    def network(self, unit: nn.Module) -> nn.Module:
        """The unit as the comparison of the algorithm."""
        return PathFinder(unit, discrete=self.discrete)

    @property
    def draws(self) -> int:
        """See `graphs`."""
        return _draws(NODES)

    def draws_in(self, split: str) -> int:
        """See `graphs`."""
        return _draws(SETS.get(split, (NODES, 1))[0])

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The largest weight."""
        return {"largest": float(LARGEST * SETS.get(split, (NODES, 1))[1])}

    def samples(self, split: str) -> int:
        """Graphs of an evaluation."""
        return 200

    def block(self, split: str) -> int:
        """All of them at once."""
        return 200

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Weights `models x n x nodes x nodes`, and distances `models x n x nodes`."""
        weights = graphs(u, numbers["largest"])
        return weights, bellman_ford(weights)

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float:
        """A root mean squared error of 0.1."""
        return 0.01

    def facets(self) -> tuple[Facet, ...]:
        """By size and weights; a run succeeds if every distance, rounded, is right."""
        return tuple(
            Facet(
                {"nodes": nodes, "weights": LARGEST * times},
                f"{split}/{WrongDistances().name}",
                below=0.5 / (nodes * self.samples(split)),
            )
            for split, (nodes, times) in SETS.items()
        )

    def adapt(self, recipe: Recipe) -> Recipe:
        """As for piecewise functions."""
        if recipe.trainer != "engine":
            return recipe
        return branch_recipe(recipe, STEPS)


def _draws(nodes: int) -> int:
    """A node before, for each but the first; of each pair, whether it is joined, and its weight."""
    return nodes - 1 + nodes * (nodes - 1)


def graphs(u: Tensor, largest: Tensor) -> Tensor:
    """Weights of connected graphs, `models x n x nodes x nodes`, 0 where there is no edge.

    Args:
        u: uniform numbers `models x draws x n`.
        largest: the largest weight, `models`.
    """
    nodes = round(u.shape[1] ** 0.5)  # nodes squared is one more than the draws
    before, joined, size = u.split((nodes - 1, *[nodes * (nodes - 1) // 2] * 2), 1)
    upper = torch.triu_indices(nodes, nodes, 1, device=u.device)
    place = upper[1] - 1  # the later node of a pair chooses the earlier one
    chosen = (before * torch.arange(1, nodes, device=u.device)[:, None]).long()
    tree = chosen[:, place] == upper[0][:, None]
    weight = (largest[:, None, None] * size).floor() + 1
    edges = torch.where(tree | (joined < JOINED), weight, torch.zeros_like(weight)).mT
    found = u.new_zeros(*edges.shape[:2], nodes, nodes)
    found[..., upper[0], upper[1]] = edges
    return found + found.mT


def bellman_ford(weights: Tensor) -> Tensor:
    """Distances from the first node, `... x nodes`, of graphs with weights `... x nodes x nodes`."""
    flat = weights.flatten(0, -3)
    distances = far_from_first(flat)
    edges = torch.where(flat > 0, flat, torch.inf)
    for _ in range(weights.shape[-1] - 1):
        distances = torch.minimum(distances, (distances[..., None] + edges).amin(-2))
    return distances.unflatten(0, weights.shape[:-2])
