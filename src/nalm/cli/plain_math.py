r"""Formulas of docstrings, written in LaTeX, as text for a terminal: `\prod_i x_i` becomes `∏_i x_i`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

_SIGNS = {
    "prod": "∏", "sum": "∑", "in": "∈", "sigma": "σ", "pi": "π", "epsilon": "ε", "omega": "ω", "alpha": "α",
    "beta": "β", "gamma": "γ", "lambda": "λ", "mu": "μ", "tau": "τ", "theta": "θ", "delta": "δ", "phi": "φ",
    "eta": "η", "odot": "⊙", "cdot": "·", "times": "×", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥",
    "ne": "≠", "approx": "≈", "sim": "~", "infty": "∞", "to": "→", "dots": "…", "ldots": "…", "pm": "±",
    "mid": "|",
}  # fmt: skip
_ACCENTS = {"hat": "\N{COMBINING CIRCUMFLEX ACCENT}", "tilde": "\N{COMBINING TILDE}"}
_CHANGES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"\\(?:[bB]igg?[lr]?|left|right|displaystyle|limits)(?![a-zA-Z])", ""),
    (r"\\q?quad", "  "),
    (r"\\(hat|tilde) ?([a-zA-Z])", lambda found: found[2] + _ACCENTS[found[1]]),
    (r"\\(?:text|mathrm|operatorname|mathbf|mathbb|mathcal)\{([^{}]*)\}", r"\1"),
    (r"\\(?:begin|end)\{[^{}]*\}|&", ""),
    (r"_\{([^{}]*)\}", lambda found: f"_{_bracketed(re.sub(r'[, ]', '', found[1]), 2)}"),
    (r"\^\{([^{}]*)\}", lambda found: f"^{_bracketed(found[1], 1)}"),
    (
        r"\\frac\{([^{}]*)\}\{([^{}]*)\}",
        lambda found: f"{_bracketed(found[1], 1)} / {_bracketed(found[2], 1)}",
    ),
    (r"\\sqrt(?:\{([^{}]*)\}| ?(\w))", lambda found: f"√{found[2] or f'({found[1]})'}"),
)
"""What is replaced, as often as there is something: brackets may be inside of others."""
_BLOCK = re.compile(r"\.\. math::(?P<first>[^\n]*)(?P<rest>(?:\n[ \t]+\S[^\n]*)*)")


def equations(docstring: str) -> list[str]:
    """The displayed formulas of a docstring, each as one line of text."""
    found = _BLOCK.finditer(inspect.cleandoc(docstring))
    return [plain_math(f"{each['first']} {each['rest']}") for each in found]


def plain_math(latex: str) -> str:
    r"""LaTeX as text.

    Example:
        >>> plain_math(r"m_o = \prod_i (W_{o,i} x_i + 1 - W_{o,i}), \qquad W \in [0, 1]")
        'm_o = ∏_i (W_oi x_i + 1 - W_oi),  W ∈ [0, 1]'
    """
    text, before = latex, ""
    while text != before:
        before = text
        for pattern, change in _CHANGES:
            text = re.sub(pattern, change, text)
    text = re.sub(r"\\([a-zA-Z]+)", lambda found: _SIGNS.get(found[1], found[1]), text)
    text = re.sub(r"\\[,;:! ]|\\\\", " ", text).replace("\\", "")
    return re.sub(r"\s{2,}", "  ", text).strip()


def _bracketed(text: str, longest: int) -> str:
    """The text, in brackets if it has more than so many characters."""
    return text if len(text) <= longest else f"({text.strip()})"
