"""`nalm gallery`: pictures of what units do, and a page that shows them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nalm import interrupts
from nalm.cli.comma_lists import items
from nalm.cli.data_folder import use_data_folder
from nalm.cli.json_file import check_writable, write_json
from nalm.cli.options import DataDir, Json
from nalm.cli.output import say
from nalm.cli.progress import now_and_then

_KEPT = "Interrupted. The pictures that were finished stay; the page was not written."


def gallery(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="The folder to write to.")
    ] = Path("gallery"),
    only: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Only these pictures or kinds, such as weights,loss-surface-nmu."),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FILE", help="Stored runs, for pictures of networks and agents."),
    ] = None,
    data_dir: DataDir = None,
    json_file: Json = None,
) -> None:
    """Draw loss surfaces, weights over time, success, digits, a path and an episode, with a page of all.

    Everything together takes about three minutes of one core. The page is one file that needs no network.
    """
    wanted = items("only", only)
    check_writable(json_file)
    use_data_folder(data_dir)
    with interrupts.importing():
        from nalm.report.gallery.gallery import write_pictures
        from nalm.report.gallery.page import write_index

    shown = now_and_then("pictures are drawn")
    with interrupts.during("drawing the gallery", _KEPT):
        pictures = write_pictures(output, wanted, store, lambda _, done, total: shown(done, total))
        page = write_index(output, pictures)
    left_out = [each for each in pictures if not each.files]
    for each in left_out:
        say(f"{each.name}: {each.sentence}")
    found = {"folder": str(output), "page": str(page), "pictures": [asdict(each) for each in pictures]}
    if not write_json(found, json_file):
        drawn = len(pictures) - len(left_out)
        print(f"{drawn} picture{'' if drawn == 1 else 's'}: {page.resolve()}")
