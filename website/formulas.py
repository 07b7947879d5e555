"""From docstrings of units, which are written in reStructuredText, to Markdown with formulas in MathML."""

from __future__ import annotations

import re
from typing import Literal

from latex2mathml.converter import convert

_BLOCK = re.compile(r"^\.\. math::(.*?)(?=\n\n|\Z)(?:\n\n((?: +.*\n?)+))?", re.DOTALL | re.MULTILINE)
_PAGE = re.compile(r"\bdocs/([\w-]+)\.md")
_BAR = re.compile(r"<mo[^>]*>(\||&#x0007C;|&#x02223;)</mo>")
"""A bar around an absolute value, which would get the space around it that an operator has."""
_INLINE = re.compile(r":math:`(.*?)`", re.DOTALL)


def markdown(docstring: str) -> str:
    """A docstring with its formulas as MathML."""
    text = _BLOCK.sub(lambda found: _block(found[1] + (found[2] or "")), docstring)
    paragraphs = (" ".join(part.split("\n")) for part in text.split("\n\n"))  # no line begins with a formula
    linked = _PAGE.sub(r"[\1](../\1.md)", "\n\n".join(paragraphs))
    return _INLINE.sub(lambda found: mathml(found[1], "inline"), linked)


def mathml(latex: str, display: Literal["block", "inline"]) -> str:
    """A formula as MathML, on one line, so that Markdown leaves it alone."""
    text = convert(" ".join(latex.split()), display=display).replace("\n", "")
    return _BAR.sub(r'<mo stretchy="false" lspace="0em" rspace="0em">\1</mo>', text)


def _block(latex: str) -> str:
    return f'<div class="scroll">{mathml(latex, "block")}</div>'
