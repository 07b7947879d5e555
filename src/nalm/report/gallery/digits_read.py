"""Digits and what a network reads in them: of a stored run, or of one that is trained for a short time."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nalm.experiment.compute import compute
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Record, Store
from nalm.experiment.stored_cases import WEIGHTS
from nalm.models import ModelSpec
from nalm.papers.figures import COLOURS
from nalm.report.digits.cases import DigitGroup, DigitRuns
from nalm.report.digits.images import why_none
from nalm.report.digits.pictures import Pictures, Tile, pictures_of
from nalm.report.gallery.picture import Drawn, Kind, Skipped, Studio, new_figure
from nalm.tasks import MnistIsolated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 800
"""Enough to read most digits; the reduced protocol takes 8,000 steps."""
_WRONG = COLOURS[4]
_FEW = 2
"""So many images of a sample leave room for other samples beside it."""


def draw(studio: Studio, *, steps: int = STEPS) -> Drawn:
    """Digits, what was read, and what was computed of it."""
    stored = None if studio.store is None else from_store(studio.store)
    made, title, source = stored or trained(steps)
    rows: list[Sequence[Tile | None]] = [*_side_by_side(made.samples)]
    if made.misread:
        rows.append(made.misread)
    wide = max(len(row) for row in rows)
    figure = new_figure(max(4.6, 1.25 * wide + 0.4), 1.75 * len(rows) + 0.6)
    grid = figure.subplots(len(rows), wide, squeeze=False)
    for axes, row in zip(grid, rows):
        for axis, tile in zip(axes, [*row, *[None] * (wide - len(row))]):
            _tile(axis, tile)
    if made.misread:
        grid[-1, 0].set_title("misread:", fontsize=9, loc="left")
    figure.suptitle(title, fontsize=11)
    about = made.about.removesuffix(" The first of them:").removesuffix(" It is:")
    sentence = f"{title}: what each image shows, what was read, and what was computed. {about}"
    return Drawn(figure, "digits", sentence.strip(), source)


def _side_by_side(samples: Sequence[Sequence[Tile]]) -> list[list[Tile | None]]:
    """Samples of few images in one row, with a gap between them; others in rows of their own."""
    if max(len(sample) for sample in samples) > _FEW:
        return [list(sample) for sample in samples]
    row: list[Tile | None] = []
    for sample in samples:
        row += [*([None] if row else []), *sample]
    return [row]


def trained(steps: int) -> tuple[Pictures, str, str]:
    """What a network reads after a short training on drawn digits, a title, and the command."""
    task = replace(MnistIsolated("mul", digits="drawn").reduced(), most_images=500)
    case = Case(ModelSpec.parse("nmu"), task, steps, schedule="scaled")
    (record,) = compute(Chunk((Run(case, 0),)))
    made = pictures_of(case, record)
    assert made is not None, "the network was made here"
    title = f"nmu on products of drawn digits, trained for only {steps} steps"
    return made, title, "nalm gallery --only digits"


def from_store(store: Path) -> tuple[Pictures, str, str] | None:
    """The pictures of a stored network whose images are here; None if the store has no runs on digits."""
    with Store(store, read_only=True) as held:
        runs = DigitRuns()
        for _ in runs.set_apart(held.records(without=WEIGHTS)):
            pass
        groups = runs.groups()
        for group in groups:
            found = _of_group(group, held)
            if found is not None:
                return found
    if groups:
        raise Skipped(f"The images that the runs of {store.name} have seen are not here.")
    return None


def _of_group(group: DigitGroup, store: Store) -> tuple[Pictures, str, str] | None:
    """Of the case with the lowest error that is no reference, its run with the lowest seed."""
    if why_none(group.task, group.cases[0].runs[0].identity["task"]["digits"]):
        return None
    own = [case for case in group.cases if not case.is_reference]
    for case in sorted(own, key=lambda each: _error(each.runs)):
        known, first = case.case(), case.runs[0]
        if known is None:
            continue
        (whole,) = store.records([first.id], without=("final_parameters", "history"))
        made = pictures_of(known, whole)
        if made is not None:
            title = f"{case.model} on {group.title}, seed {first.seed}"
            return made, title, f"nalm bench {group.task.name} --op {group.task.op} --units {case.model}"
    return None


def _error(runs: Sequence[Record]) -> float:
    return float(np.nan_to_num(np.median([run.test.item(0) for run in runs]), nan=np.inf))


def _tile(axis: Axes, tile: Tile | None) -> None:
    from matplotlib.image import imread

    if tile is None:
        axis.set_axis_off()
        return
    pixels = imread(io.BytesIO(base64.b64decode(tile.image.partition(",")[2])), format="png")
    axis.imshow(pixels, cmap="gray", vmin=0, vmax=1)
    axis.set(xticks=(), yticks=())
    colour = _WRONG if tile.wrong else "0.25"
    for spine in axis.spines.values():
        spine.set(color=colour, linewidth=2 if tile.wrong else 0.6)
    said = [f"shows {tile.digit}", f"read {tile.read}{' (wrong)' if tile.wrong else ''}"] if tile.read else []
    if tile.result:
        said.append(f"result {tile.result}, true {tile.true}")
    axis.set_xlabel("\n".join(said), fontsize=8, color=colour)


KIND = Kind(
    "digits",
    "Digits and what was read",
    "A network reads digits and a unit computes with what was read; only results are trained on.",
    {"digits": draw},
)
