"""Why a number of ours differs from the published one, where we know, and the open question where we do not.

By entry, row and column; the column `*` stands for the whole row.
"""

_SPAN = (
    "On a range around zero the scaled NMU contains the exact product, and finds it. The thesis divides by"
    " the span of X, we by that of the training data; whether its program took that of each batch is open."
)

CAUSES: dict[tuple[str, str, str], str] = {
    **{
        ("mistry2023:fig6.1", f"min-max (reg {word})", column): _SPAN
        for word in ("off", "on")
        for column in ("U[-2,2)", "has larger sparsity errors than the NMU")
    },
    ("mistry2023:fig6.1", "all", "*"): _SPAN,
}
