"""The code blocks of all pages of the documentation."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    str(file.relative_to(ROOT))
    for file in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
)
_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$(?:\n+ *```text\n(.*?)^ *```$)?", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A code block, and the block of text that follows it at once: what it prints."""

    page: str
    language: str
    code: str
    printed: str


def blocks(*languages, page=None):
    """The blocks in these languages, by page and number; all blocks if no language is given."""
    found = {}
    for each in PAGES if page is None else (page,):
        matches = _BLOCK.findall((ROOT / each).read_text(encoding="utf-8"))
        for number, match in enumerate(matches, 1):
            if not languages or match[0] in languages:
                found[f"{each}-{number}"] = Block(each, *match)
    return found


def commands():
    """The commands `nalm ...` of blocks for a shell, without comments, by page and number."""
    found = {}
    for name, block in blocks("bash", "console").items():
        lines = block.code.replace("\\\n", " ").splitlines()
        if block.language == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        for line in lines:
            if line.startswith("nalm "):
                found[f"{name}-{line}"] = line
    return found
