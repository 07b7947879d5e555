"""The parts that pages are made of: templates, style sheets and scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nalm.errors import NalmError

_ASSETS = Path(__file__).parent / "assets"


def asset(name: str) -> str:
    """The text of a part."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def template(name: str, what: str = "The report") -> Any:
    """A template; `what` needs Jinja2, as is said if it is not there."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise NalmError(f"{what} needs Jinja2: pip install 'nalm[report]'.") from None
    # Everything from data is escaped: names of units and files may contain anything.
    made = Environment(loader=FileSystemLoader(_ASSETS), autoescape=True, undefined=StrictUndefined)
    return made.get_template(name)
