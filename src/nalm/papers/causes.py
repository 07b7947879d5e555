"""Why a number of ours differs from the published one, where we know, and the open question where we do not.

By entry, row and column; the column `*` stands for the whole row.
"""

_RATIO = (
    "Both inputs come from one range, so that their quotient does not depend on how close to zero it is; "
    "without an epsilon there is only the rounding of float32, which is relative to the quotient."
)
_SAME = "Without an epsilon in evaluation, ideal weights compute 1 / x as the target does: the error is 0."
_MISPRINT = (
    "A misprint: table 6 of the same paper has 0.8 and 0.2 per cent, its error over its column Random."
)
_SPAN = (
    "On a range around zero the scaled NMU contains the exact product, and finds it. The thesis divides by"
    " the span of X, we by that of the training data; whether its program took that of each batch is open."
)

CAUSES: dict[tuple[str, str, str], str] = {
    ("trask2018:table5", "Threshold", "*"): (
        "The paper does not state the two numbers of Threshold; with 0 and 0, as here, it is the ReLU."
    ),
    ("trask2018:table7", "Tanh", "√a: interpolation"): _MISPRINT,
    ("trask2018:table7", "Sigmoid", "√a: interpolation"): _MISPRINT,
    ("mistry2023:fig4.9", "upper bound", "is an exponential decay"): (
        "1 + 1 / deviation is a hyperbola: it falls faster than an exponential at first, and slower later."
    ),
    (
        "mistry2023:fig5.12",
        "NRU",
        "the error grows as ranges come closer to zero (division, 2 inputs)",
    ): _RATIO,
    (
        "mistry2023:fig5.12",
        "NMRU",
        "the error grows as ranges come closer to zero (division, 2 inputs)",
    ): _RATIO,
    ("mistry2023:fig5.12", "NMRU", "*"): _SAME,
    **{
        ("mistry2023:fig6.1", f"min-max (reg {word})", column): _SPAN
        for word in ("off", "on")
        for column in ("U[-2,2)", "has larger sparsity errors than the NMU")
    },
    ("mistry2023:fig6.1", "all", "*"): _SPAN,
}


def cause_of(entry: str, row: str, column: str) -> str | None:
    """Why a cell differs, if it is known or asked."""
    return CAUSES.get((entry, row, column)) or CAUSES.get((entry, row, "*"))
