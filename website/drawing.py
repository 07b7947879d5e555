"""The drawing of a unit's data flow as SVG, in the colours of the page."""

from __future__ import annotations

from html import escape

from data_flow import data_flow
from idioms import Step
from layers import Spot, spots_of
from nalm.units import Unit

_LETTER = 7.4
"""Width of a letter, in a font of fixed width."""
_BOX, _ROW, _EDGE = 28, 62, 10


def drawing(kind: type[Unit]) -> str:
    """The data flow of a unit, from its inputs at the top to its output at the bottom."""
    steps = data_flow(kind)
    widths = {id(step): 24 + _LETTER * len(step.text) for step in steps}
    layers = spots_of(steps, widths)
    spots = [spot for layer in layers for spot in layer]
    left = min(spot.x - spot.width / 2 for spot in spots) - _EDGE
    right = max(spot.x + spot.width / 2 for spot in spots) + _EDGE
    height = _ROW * (len(layers) - 1) + _BOX + 2 * _EDGE
    for spot in spots:
        spot.x -= left
    lines = [_line(spot, place) for spot in spots if spot.step for place in range(len(spot.above))]
    boxes = [_box(spot) for spot in spots if spot.step]
    width = round(right - left)
    return (
        f'<svg class="flow" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
        f"<title>Data flow of {kind.__name__}</title><desc>{escape(_in_words(steps))}</desc>"
        f"{''.join(lines)}{''.join(boxes)}</svg>"
    )


def _box(spot: Spot) -> str:
    assert spot.step is not None
    top = _EDGE + _ROW * spot.layer
    return (
        f'<g class="{spot.step.kind}"><rect x="{spot.x - spot.width / 2:.1f}" y="{top}" '
        f'width="{spot.width:.1f}" height="{_BOX}" rx="{5 if spot.step.kind == "step" else 14}"/>'
        f'<text x="{spot.x:.1f}" y="{top + 18.5}">{escape(spot.step.text)}</text></g>'
    )


def _line(spot: Spot, place: int) -> str:
    """The line to a box from where its argument comes, with the argument's letter at its end."""
    assert spot.step is not None
    arrives = spot.x + spot.width * ((place + 1) / (len(spot.above) + 1) - 0.5)
    points = [(arrives, _EDGE + _ROW * spot.layer)]
    before = spot.above[place]
    while before.step is None:
        points.append((before.x, _EDGE + _ROW * before.layer + _BOX / 2))
        before = before.above[0]
    points.append((before.x, _EDGE + _ROW * before.layer + _BOX))
    points.reverse()
    (x, y), path = points[0], [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for to_x, to_y in points[1:]:
        middle = (y + to_y) / 2
        path.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return f'<path d="{"".join(path)}"/>' + _letter(spot.step, place, *points[-1])


def _letter(step: Step, place: int, x: float, y: float) -> str:
    if place >= len(step.letters):
        return ""
    return f'<text class="letter" x="{x + 7:.1f}" y="{y - 5:.1f}">{step.letters[place]}</text>'


def _in_words(steps: list[Step]) -> str:
    """The same as a list of steps, for those who cannot see the drawing."""
    numbers = {id(step): str(k) for k, step in enumerate(steps, 1)}
    return "; ".join(
        f"{numbers[id(step)]}: {step.text}"
        + (f" from {', '.join(numbers[id(source)] for source in step.sources)}" if step.sources else "")
        for step in steps
    )
