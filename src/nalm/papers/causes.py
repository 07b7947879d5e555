"""Why a number of ours differs from the published one, where we know, and the open question where we do not.

By entry, row and column; the column `*` stands for the whole row.
"""

CAUSES: dict[tuple[str, str, str], str] = {}
