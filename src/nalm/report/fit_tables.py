"""What `nalm fit` prints: the formula, what it is worth, and others that were nearly chosen."""

from __future__ import annotations

from collections.abc import Sequence

from nalm.discover.fit_file import NONE, TargetFit
from nalm.report.short_formula import in_lines, with_few_digits
from nalm.report.text_table import GAP, NARROWEST, Column, TextTable

MEANINGS = {
    "exact": "the formula meets every row to the data's precision, and the rows could have contradicted it.",
    "approximate": "the formula fits, fully or in part, but the rows do not show that it is the law.",
    NONE: "no formula of sums, products, powers and numbers comes near the rows.",
}
"""What verdicts mean."""
_LINES = 3
"""The most lines that another formula takes."""


def formula_lines(found: Sequence[TargetFit]) -> list[str]:
    """The formula alone; several with the names of their targets."""
    formulas = [one.expression or "no formula" for one in found]
    if len(found) == 1:
        return formulas
    return [f"{one.target} = {formula}" for one, formula in zip(found, formulas)]


def paragraphs(one: TargetFit, is_only: bool) -> list[str]:
    """Verdict, errors and notes."""
    name = "" if is_only else f"{one.target}: "
    verdict = f"{name}{one.verdict}: {MEANINGS.get(one.verdict, '')}".rstrip(": ")
    errors = f"Error (RMSE) {one.error:.3g}, R2 {_share(one.r2)}, {one.seconds:.1f} s."
    return [verdict, errors, *one.notes]


def alternatives_table(one: TargetFit, width: int) -> TextTable | None:
    """Other formulas, the shorter ones first; None if there are none.

    Args:
        one: what was found for a target.
        width: the width of the table; formulas are wrapped, and cut after a few lines.
    """
    columns = (Column("length"), Column("relative error"), Column("formula", prose=True))
    room = max(NARROWEST, width - sum(len(column.name + GAP) for column in columns[:2]))
    rows = [
        (
            str(other["length"]),
            "-" if other["error"] is None else f"{other['error']:.1e}",
            " ".join(in_lines(with_few_digits(other["expression"]), room, _LINES)),
        )
        for other in sorted(one.alternatives, key=lambda other: other["length"])
        if other["expression"] != one.expression
    ]
    return TextTable("Other formulas, from short to precise:", columns, rows) if rows else None


def _share(r2: float) -> str:
    """R2 with as many nines as it has, up to rounding."""
    return f"{r2:.12g}" if r2 > 0.999 else f"{0.0 if abs(r2) < 1e-9 else r2:.4g}"
