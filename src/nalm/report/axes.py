"""Drawings as SVG: two axes with a grid, in the colours of the page, readable at the width of a phone.

A drawing has the width of a phone's page and is shown at most a third larger, so that its text never gets
small. Colours are those of the page's style, which follows light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

WIDTH = 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 20, 10, 40
_MOST_TICKS = 6
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Figure(NamedTuple):
    """A figure of the page: its title, its drawing as SVG, and a remark below it."""

    title: str
    drawing: str
    remark: str = ""


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`, by powers of ten if it is logarithmic, at whole numbers if it counts."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value is: 0 at the low end, 1 at the high one."""
        if self.log:
            low, high, value = (math.log10(each) for each in (self.low, self.high, value))
            return (value - low) / (high - low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Where to write what."""
        if not self.log:
            step = nice_step(max((self.high - self.low) / _MOST_TICKS, float(self.whole)))
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            return [(k * step, f"{k * step:.6g}".replace("-", "−")) for k in range(first, last + 1)]
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        every = math.ceil((last - first + 1) / _MOST_TICKS)
        return [(10.0**k, power_of_ten(k)) for k in range(first, last + 1) if (k - first) % every == 0]


def nice_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, … times a power of ten that is not below this."""
    unit = 10.0 ** math.floor(math.log10(least))
    return next(unit * k for k in (1, 2, 5, 10) if unit * k >= least * (1 - 1e-9))


def power_of_ten(k: int) -> str:
    """A power of ten as text; small ones are written out."""
    return f"{10.0**k:,.6g}" if -3 <= k <= 3 else f"10{str(k).translate(_SUPERSCRIPTS)}"


def around(values: Sequence[float], margin: float = 0.08) -> tuple[float, float]:
    """An interval around all values, with a margin on both sides."""
    low, high = min(values), max(values)
    room = margin * ((high - low) or 1.0)
    return low - room, high + room


def decades(values: Sequence[float]) -> tuple[float, float]:
    """The powers of ten between which all of these positive values are."""
    low, high = (math.log10(bound) for bound in (min(values), max(values)))
    first, last = math.floor(low), math.ceil(high)
    return 10.0**first, 10.0 ** max(last, first + 1)


def shape(name: str, attributes: Mapping[str, str], title: str = "") -> Element:
    """An element of a drawing, with a text that is shown by hovering over it."""
    made = Element(name, dict(attributes))
    if title:
        SubElement(made, "title").text = title
    return made


class Axes:
    """Two axes to draw into.

    Args:
        across: the horizontal axis.
        up: the vertical one.
        names: what is on them.
        height: height of the drawing, as a part of its width.
    """

    def __init__(self, across: Scale, up: Scale, names: Sequence[str], height: float = 0.72) -> None:
        self.across, self.up = across, up
        self.height = round(WIDTH * height)
        self._shapes: list[Element] = []
        self._grid(names)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a pair of values is."""
        right = _LEFT + self.across.share(x) * (WIDTH - _LEFT - _RIGHT)
        return right, self.height - _BOTTOM - self.up.share(y) * (self.height - _TOP - _BOTTOM)

    def add(self, made: Element) -> None:
        """Draw something."""
        self._shapes.append(made)

    def drawing(self, said: str) -> str:
        """The drawing as SVG, with what a screen reader says about it."""
        box = {"viewBox": f"0 0 {WIDTH} {self.height}", "class": "drawing", "role": "img", "aria-label": said}
        whole = Element("svg", box)
        whole.extend(self._shapes)
        return tostring(whole, encoding="unicode")

    def _grid(self, names: Sequence[str]) -> None:
        bottom, right = self.height - _BOTTOM, WIDTH - _RIGHT
        for value, text in self.across.ticks():
            x, _ = self.place(value, self.up.low)
            self._line(x, _TOP, x, bottom)
            self._text(x, bottom + 16, text, "middle")
        for value, text in self.up.ticks():
            _, y = self.place(self.across.low, value)
            self._line(_LEFT, y, right, y)
            self._text(_LEFT - 6, y + 4, text, "end")
        self._text((_LEFT + right) / 2, self.height - 5, names[0], "middle")
        middle = (_TOP + bottom) / 2
        self._text(12, middle, names[1], "middle", transform=f"rotate(-90 12 {middle:.1f})")

    def _line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
        self.add(shape("line", {"class": "grid", **{name: f"{end:.1f}" for name, end in ends.items()}}))

    def _text(self, x: float, y: float, text: str, anchor: str, **more: str) -> None:
        made = shape("text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, **more})
        made.text = text
        self.add(made)
