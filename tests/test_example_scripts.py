"""Examples as scripts and notebooks: both have the same cells, and print what examples/README.md shows."""

import contextlib
import importlib.util
import io
import re
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat and jupytext are not installed")
pytest.importorskip("jupytext", reason="jupytext is not installed")

FOLDER = Path(__file__).parents[1] / "examples"
NEEDS = {"onnx_export": ("onnx", "onnxscript", "onnxruntime"), "csv_to_formula": ("sklearn",)}
"""Packages that an example needs besides those of nalm."""


def _make():
    """The program that makes the notebooks."""
    spec = importlib.util.spec_from_file_location("make_notebooks", FOLDER / "notebooks" / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = _make()
SCRIPTS = {file.stem: file for file in MAKE.scripts()}


def shown():
    """What the README shows as the output of each script."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^`(\w+)\.py`:.*?^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def test_every_example_has_a_notebook_and_is_in_the_readme():
    notebooks = {file.stem for file in (FOLDER / "notebooks").glob("*.ipynb")}
    assert set(SCRIPTS) == notebooks == set(shown())
    assert len(SCRIPTS) == 7


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_notebook_is_made_from_the_script(name):
    script = SCRIPTS[name]
    made = MAKE.notebook(script)
    assert MAKE.place(script).read_text(encoding="utf-8") == made, "run python examples/notebooks/make.py"
    nbformat.validate(nbformat.reads(made, 4))


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_cells_print_what_the_readme_shows(name, tmp_path, monkeypatch):
    """The code cells in one namespace, as a kernel runs them; they are those of the script too."""
    for package in NEEDS.get(name, ()):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)  # an example must not need to be started in its folder
    cells = nbformat.read(MAKE.place(SCRIPTS[name]), 4).cells
    kernel = type(sys)("__main__")
    monkeypatch.setitem(sys.modules, "__main__", kernel)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for cell in cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, f"{name}.ipynb", "exec"), kernel.__dict__)
    assert said.getvalue() == shown()[name]
    assert list(tmp_path.iterdir()) == []
