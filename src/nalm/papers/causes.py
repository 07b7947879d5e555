"""Why a number of ours differs from the published one, where we know, and the open question where we do not.

By entry, row and column; the column `*` stands for the whole row.
"""

_MISPRINT = (
    "A misprint: table 6 of the same paper has 0.8 and 0.2 per cent, its error over its column Random."
)

CAUSES: dict[tuple[str, str, str], str] = {
    ("trask2018:table5", "Threshold", "*"): (
        "The paper does not state the two numbers of Threshold; with 0 and 0, as here, it is the ReLU."
    ),
    ("trask2018:table7", "Tanh", "√a: interpolation"): _MISPRINT,
    ("trask2018:table7", "Sigmoid", "√a: interpolation"): _MISPRINT,
}
