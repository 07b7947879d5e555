"""What a picture of the gallery is: a figure, one sentence about it, and how it comes to be."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nalm.errors import NalmError
from nalm.report.files import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 110
_LARGEST_SVG = 100_000


class Skipped(NalmError):
    """A picture cannot be made here; the text says why, in a sentence."""


@dataclass(frozen=True)
class Drawn:
    """A picture before it is written.

    Attributes:
        figure: the drawing.
        title: its heading.
        sentence: what is seen.
        source: the command or the entry of the ledger that the numbers come from.
        vector: whether it is made of lines and text, so that an SVG of it is small.
        others: further files by their ending, such as an animation, and what writes them.
    """

    figure: Figure
    title: str
    sentence: str
    source: str
    vector: bool = False
    others: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)

    def save(self, folder: Path, name: str) -> list[str]:
        """Write it under this name; the names of the files, the PNG first."""
        files = [f"{name}.png"]
        with written_whole(folder / files[0]) as part:
            part.write_bytes(_png(self.figure))
        if self.vector and len(drawn := _svg(self.figure)) <= _LARGEST_SVG:
            files.append(f"{name}.svg")
            with written_whole(folder / files[-1]) as part:
                part.write_bytes(drawn)
        for ending, write in self.others.items():
            files.append(f"{name}.{ending}")
            with written_whole(folder / files[-1]) as part:
                write(part)
        return files


@dataclass(frozen=True)
class Studio:
    """What pictures may be made of.

    Attributes:
        store: a store with runs, or None.
    """

    store: Path | None = None


Maker = Callable[[Studio], Drawn]
"""Makes a picture; raises `Skipped` if it cannot."""


@dataclass(frozen=True)
class Kind:
    """Pictures of one kind.

    Attributes:
        name: the name on the command line.
        title: the heading on the page.
        sentence: what the pictures have in common.
        makers: what makes each picture, by its name.
    """

    name: str
    title: str
    sentence: str
    makers: Mapping[str, Maker]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _png(figure: Figure) -> bytes:
    from PIL import Image

    written, smaller = io.BytesIO(), io.BytesIO()
    figure.savefig(written, format="png", dpi=_DPI)
    Image.open(written).convert("RGB").save(smaller, format="PNG", optimize=True)  # nothing is transparent
    return smaller.getvalue()


def _svg(figure: Figure) -> bytes:
    import matplotlib

    written = io.BytesIO()
    # Text stays text, and equal drawings give equal files.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "nalm"}):
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()
