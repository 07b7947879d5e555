"""Make the notebooks from the scripts: `python examples/notebooks/make.py`.

A script has its cells in the percent format, which jupytext and editors know. Notebooks are made from it and
never changed by hand, so that the two cannot drift apart; they have no outputs.
"""

from __future__ import annotations

from pathlib import Path

import jupytext
import nbformat

FOLDER = Path(__file__).parent
_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def scripts() -> list[Path]:
    """The scripts in the percent format."""
    return [file for file in sorted(FOLDER.parent.glob("*.py")) if file.read_text("utf-8").startswith("# %%")]


def notebook(script: Path) -> str:
    """The notebook of a script as text: the same text each time."""
    made = jupytext.reads(script.read_text("utf-8"), fmt="py:percent")
    made.metadata = nbformat.from_dict(_KERNEL)
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"
        cell["metadata"] = nbformat.from_dict({})
    return nbformat.writes(made, version=4) + "\n"


def place(script: Path) -> Path:
    """Where the notebook of a script is."""
    return FOLDER / f"{script.stem}.ipynb"


if __name__ == "__main__":
    for each in scripts():
        place(each).write_text(notebook(each), "utf-8")
        print(place(each).name)
