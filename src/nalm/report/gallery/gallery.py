"""All pictures of the gallery, and the folder that they are written to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nalm.errors import ArgumentError, nearest
from nalm.experiment.store_error import StoreError
from nalm.papers.figures import MissingPackage
from nalm.report.gallery import (
    agent_episode,
    composed_path,
    digits_read,
    loss_surfaces,
    success_maps,
    weights_over_time,
)
from nalm.report.gallery.picture import Kind, Skipped, Studio

KINDS: dict[str, Kind] = {
    part.KIND.name: part.KIND
    for part in (
        *(loss_surfaces, weights_over_time, success_maps),
        *(digits_read, composed_path, agent_episode),
    )
}
"""Every kind of picture by its name, in the order of the page."""

OnPicture = Callable[[str, int, int], None]
"""Called with the name of the picture that comes next, how many are done, and how many there are."""


@dataclass(frozen=True)
class Shown:
    """A picture as it was written.

    Attributes:
        name: its name, which its files begin with.
        kind: the name of its kind.
        title: its heading.
        sentence: what is seen; or why it was left out.
        source: the command or the entry of the ledger that the numbers come from; empty if it was left out.
        files: the names of its files, the PNG first; empty if it was left out.
    """

    name: str
    kind: str
    title: str
    sentence: str
    source: str = ""
    files: tuple[str, ...] = ()


def chosen(only: Sequence[str] | None) -> list[tuple[Kind, str]]:
    """The pictures with these names or of these kinds, in the order of the page; by default all.

    Raises:
        ArgumentError: if a name is neither, with the nearest that is.
    """
    every = [(kind, name) for kind in KINDS.values() for name in kind.makers]
    if only is None:
        return every
    known = [*KINDS, *(name for _, name in every if name not in KINDS)]
    for name in only:
        if name not in known:
            expected = f"names of pictures, such as loss-surface-nmu, or of kinds ({', '.join(KINDS)})"
            close = nearest(name, known)
            hint = f"Did you mean {close!r}?" if close else ""
            raise ArgumentError("only", expected, repr(name), hint)
    return [(kind, name) for kind, name in every if {kind.name, name} & set(only)]


def check_gallery(folder: Path, store: Path | None) -> None:
    """Refuse what cannot work, before anything is computed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingPackage("The gallery needs matplotlib: pip install 'nalm[report]'.") from None
    if store is not None and not store.is_file():
        raise StoreError(f"{store} does not exist; `nalm bench` creates it.")
    if folder.exists() and not folder.is_dir():
        raise ArgumentError("output", "a folder to write to", repr(str(folder)))
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise ArgumentError("output", "a folder that can be written", repr(str(folder)))


def write_pictures(
    folder: Path, only: Sequence[str] | None, store: Path | None, on_picture: OnPicture
) -> list[Shown]:
    """Draw pictures and write them to a folder.

    Args:
        folder: the folder, which is made if need be.
        only: names of pictures or kinds; by default all.
        store: a store with runs, for pictures of stored networks and agents.
        on_picture: called before each picture, and at the end.
    """
    wanted = chosen(only)
    check_gallery(folder, store)
    made = []
    for k, (kind, name) in enumerate(wanted):
        on_picture(name, k, len(wanted))
        made.append(_written(folder, kind, name, Studio(store)))
    on_picture("", len(wanted), len(wanted))
    return made


def _written(folder: Path, kind: Kind, name: str, studio: Studio) -> Shown:
    try:
        drawn = kind.makers[name](studio)
    except Skipped as reason:
        return Shown(name, kind.name, name, f"Left out: {reason}")
    return Shown(name, kind.name, drawn.title, drawn.sentence, drawn.source, tuple(drawn.save(folder, name)))
