"""The page of a gallery: all pictures with a sentence each, in one file that fetches nothing."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nalm._version import __version__
from nalm.report.files import written_whole
from nalm.report.gallery.gallery import KINDS, Shown
from nalm.report.templates import asset, template

PAGE = "index.html"
_IMAGES = (".png", ".gif")
"""Files that are on the page; others are linked."""


def write_index(folder: Path, pictures: Sequence[Shown]) -> Path:
    """Write the page of pictures that are in the folder."""
    sections = [
        {"kind": kind, "pictures": [_picture(folder, each) for each in pictures if each.kind == name]}
        for name, kind in KINDS.items()
        if any(each.kind == name for each in pictures)
    ]
    text = template("gallery.html", "The gallery").render(
        version=__version__,
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        count=sum(bool(each.files) for each in pictures),
        style=asset("page.css") + asset("gallery.css"),
        sections=sections,
    )
    with written_whole(folder / PAGE) as part:
        part.write_text(text, encoding="utf-8")
    return folder / PAGE


def _picture(folder: Path, shown: Shown) -> dict[str, Any]:
    files = [folder / name for name in shown.files if name.endswith(_IMAGES)]
    return {"shown": shown, "images": [_image(file) for file in files]}


def _image(file: Path) -> dict[str, Any]:
    """An image as an address that contains it, and its size."""
    from PIL import Image

    with Image.open(file) as opened:
        width, height = opened.size
    content = base64.b64encode(file.read_bytes()).decode()
    return {"address": f"data:image/{file.suffix[1:]};base64,{content}", "width": width, "height": height}
