"""Checks of the built site: every link leads somewhere, and no page loads anything from elsewhere.

`python website/check.py site` prints what is wrong and ends with code 1 if anything is.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
"""Elements that load what they name, by the attribute that names it."""
_NOT_LOADED = {"canonical", "next", "prev", "alternate"}
"""Kinds of `link` that load nothing."""
_IN_STYLE = re.compile(r"url\(\s*['\"]?(?:https?:)?//[^)]*\)|@import\s+['\"](?:https?:)?//[^'\"]*")


class Page(HTMLParser):
    """A page: the places that links can lead to, its links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what an element is, names or leads to."""
        held = {name: value or "" for name, value in attributes}
        self.places.update(held[name] for name in ("id", "name") if name in held)
        if tag == "a" and "href" in held:
            self.links.append(held["href"])
        if tag in LOADING and held.get(LOADING[tag]) and held.get("rel") not in _NOT_LOADED:
            self.loaded.append(held[LOADING[tag]])


def faults(site: Path) -> list[str]:
    """A sentence for everything that is wrong."""
    site = site.resolve()
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    found = [
        f"{file.relative_to(site)}: the link {link!r} leads nowhere"
        for file, page in pages.items()
        if file.name != "404.html"  # it is shown at any address, so that its links are those of a server
        for link in dict.fromkeys((*page.links, *page.loaded))
        if not _leads(file, link, pages)
    ]
    found += [
        f"{file.relative_to(site)}: loads {what}"
        for file, page in pages.items()
        for what in page.loaded
        if urlsplit(what).netloc
    ]
    styles = {file: _IN_STYLE.findall(file.read_text(encoding="utf-8")) for file in site.rglob("*.css")}
    return found + [
        f"{file.relative_to(site)}: loads {what}" for file, held in styles.items() for what in held
    ]


def _leads(file: Path, link: str, pages: dict[Path, Page]) -> bool:
    """Whether a link leads to a file that is there, and to a place that the file has."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return False
    place = unquote(parts.fragment)
    return not place or target not in pages or place in pages[target].places


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))
