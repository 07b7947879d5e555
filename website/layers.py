"""Where the boxes of a drawing stand: in layers from top to bottom, with few crossings of lines.

A line that passes a layer has a place in it, so that boxes leave room for it. Orders within layers are found
by moving everything to the mean of its neighbours a few times, as layered drawings of graphs usually are.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from idioms import Step

GAP = 18
"""Free space between neighbours."""
_SWEEPS = 24


@dataclass(eq=False)
class Spot:
    """A place in a layer, for a step or for a line that passes.

    Attributes:
        step: the step; None for a line.
        width: how much room it takes.
        above: the spots that it comes from, in the order of the step's arguments.
        below: the spots that go on from it.
        x: its middle.
        layer: the number of its layer, from the top.
    """

    step: Step | None
    width: float
    layer: int
    above: list[Spot] = field(default_factory=list)
    below: list[Spot] = field(default_factory=list)
    x: float = 0.0


def spots_of(steps: list[Step], width_of: dict[int, float]) -> list[list[Spot]]:
    """The layers of spots, with their places; steps come after their sources."""
    depth = _depths(steps)
    last = max(depth.values())
    spots = {id(step): Spot(step, width_of[id(step)], last - depth[id(step)]) for step in steps}
    layers: list[list[Spot]] = [[] for _ in range(last + 1)]
    for spot in spots.values():
        layers[spot.layer].append(spot)
    for step in steps:
        for source in step.sources:
            _connect(spots[id(source)], spots[id(step)], layers)
    _order(layers)
    _place(layers)
    return layers


def _depths(steps: list[Step]) -> dict[int, int]:
    """How many steps each is above the output; the input is at the top."""
    depth = {id(steps[-1]): 0}
    for step in reversed(steps):
        for source in step.sources:
            depth[id(source)] = max(depth.get(id(source), 0), depth[id(step)] + 1)
    top = max(depth.values())
    return {key: top if step.kind == "input" else depth[key] for key, step in zip(map(id, steps), steps)}


def _connect(source: Spot, target: Spot, layers: list[list[Spot]]) -> None:
    """Join two spots, by a spot of its own in every layer between them."""
    before = source
    for layer in range(source.layer + 1, target.layer):
        passing = Spot(None, 4.0, layer, above=[before])
        before.below.append(passing)
        layers[layer].append(passing)
        before = passing
    before.below.append(target)
    target.above.append(before)


def _order(layers: list[list[Spot]]) -> None:
    """Sort every layer by the mean place of its neighbours, downwards and upwards in turn."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            places = {id(spot): k for other in layers for k, spot in enumerate(other)}
            layer.sort(key=lambda spot: _mean_place(spot, places, down))


def _mean_place(spot: Spot, places: dict[int, int], down: bool) -> float:
    neighbours = spot.above if down else spot.below
    own = float(places[id(spot)])
    return sum(places[id(each)] for each in neighbours) / len(neighbours) if neighbours else own


def _place(layers: list[list[Spot]]) -> None:
    """Give every spot a place near its neighbours, without changing orders."""
    for layer in layers:
        _spread(layer)
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 else reversed(layers):
            for spot in layer:
                near = [each.x for each in (*spot.above, *spot.below)]
                spot.x = sum(near) / len(near) if near else spot.x
            _spread(layer)


def _spread(layer: list[Spot]) -> None:
    """Move neighbours apart where they overlap, half to each side."""
    for _ in range(_SWEEPS):
        for left, right in itertools.pairwise(layer):
            lacking = (left.width + right.width) / 2 + GAP - (right.x - left.x)
            if lacking > 0:
                left.x -= lacking / 2
                right.x += lacking / 2
