"""Cells that a person reads as numbers and a program does not: how to write them."""

from __future__ import annotations

import re

_THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,'’ \u00a0\u202f])\d{3}(?:\1\d{3})*(?:[.,]\d+)?")
_PERCENT = re.compile(r"([+-]?\d+(?:[.,]\d+)?)\s*%")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_WITH_UNIT = re.compile(r"([€$£¥]?\s*)([+-]?\d+(?:[.,]\d+)?)(\s+[^\W\d]\S{,7}|\s*[€$£¥°]\S?)?")


def cure(text: str) -> str:
    """A sentence that says how to write what a cell holds; empty if it is no number to people either."""
    text = text.strip()
    if found := _THOUSANDS.fullmatch(text):
        return f"Write {text.replace(found[1], '')}, without separators of thousands."
    if found := _PERCENT.fullmatch(text):
        share = float(found[1].replace(",", ".")) / 100
        return f"Write {found[1]} or {share:g}, without the percent sign."
    if _DECIMAL_COMMA.fullmatch(text):
        return f"Write {text.replace(',', '.')}, with a decimal point."
    found = _WITH_UNIT.fullmatch(text)
    if found and (found[1] or found[3]):
        return f"Write {found[2]} alone; the unit can stand in the heading."
    return ""
