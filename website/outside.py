"""Pages whose text is outside docs/, or is made from what is in it: contributing, changelog, decisions.

Links are written for readers of the repository, so they are changed to what the site has.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_CALLED_BY_PATH = re.compile(r"\[(?:docs/)?([\w-]+\.md)\]\(\1")
_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files of the repository that are pages of the site."""


def pages(root: Path) -> dict[str, str]:
    """The pages by their path in the site."""
    made = {page: in_site((root / file).read_text(encoding="utf-8")) for file, page in _PAGES.items()}
    return {**made, "decisions/index.md": _decisions(root)}


def in_site(text: str) -> str:
    """A text of the repository's root with its links changed: `docs/fit.md` is `fit.md` in the site."""

    def changed(link: re.Match[str]) -> str:
        file, mark, place = link[2].partition("#")
        return link[1] + _PAGES.get(file, file.removeprefix("docs/")) + mark + place + link[3]

    return _LINK.sub(changed, text)


def from_docs(text: str, root: Path) -> str:
    """A page of docs/ as the site has it.

    Links to files outside lead to their pages: `../CONTRIBUTING.md` is `contributing.md`. Links that are
    called by the path of a page, as in `[docs/fit.md](fit.md)`, are called by its title.
    """

    def changed(link: re.Match[str]) -> str:
        file, mark, place = link[2].partition("#")
        target = _PAGES.get(file.removeprefix("../"), file)
        return link[1] + ("decisions/index.md" if target == "decisions" else target) + mark + place + link[3]

    def titled(link: re.Match[str]) -> str:
        file = root / "docs" / link[1]
        return f"[{_title(file)}]({link[1]}" if file.is_file() else link[0]

    return _LINK.sub(changed, _CALLED_BY_PATH.sub(titled, text))


def decisions_navigation(root: Path) -> list[Any]:
    """The list of decisions, and each of them by its title."""
    return ["decisions/index.md", *({title: f"decisions/{name}"} for name, title in _titles(root))]


def _decisions(root: Path) -> str:
    lines = [f"- [{title}]({name})" for name, title in _titles(root)]
    intro = "Why things are as they are: one page per decision, with what was measured and what it costs."
    return "\n".join(["# Decisions", "", intro, "", *lines, ""])


def _titles(root: Path) -> list[tuple[str, str]]:
    files = sorted((root / "docs" / "decisions").glob("*.md"))
    return [(file.name, _title(file)) for file in files]


def _title(file: Path) -> str:
    return file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
