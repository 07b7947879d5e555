"""Why a number of ours differs from the published one, where we know, and the open question where we do not.

By entry, row and column; the column `*` stands for the whole row.
"""

_RATIO = (
    "Both inputs come from one range, so that their quotient does not depend on how close to zero it is; "
    "without an epsilon there is only the rounding of float32, which is relative to the quotient."
)
_SAME = "Without an epsilon in evaluation, ideal weights compute 1 / x as the target does: the error is 0."

CAUSES: dict[tuple[str, str, str], str] = {
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
}
