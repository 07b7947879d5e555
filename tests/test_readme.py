"""The Python examples of the README and of docs run and print what the page says."""

import contextlib
import io
import re

import pytest
from blocks import blocks

EXAMPLES = blocks("python")
MUST_SHOW = (
    "README.md",
    "docs/index.md",
    "docs/own-loop.md",
    "docs/train.md",
    "docs/solve.md",
    "docs/many-units.md",
    "docs/fit.md",
    "docs/composition.md",
    "docs/epidemic.md",
    "docs/calcnet.md",
)


@pytest.mark.parametrize("page", MUST_SHOW)
def test_a_page_has_examples_with_output(page):
    assert any(block.printed for block in EXAMPLES.values() if block.page == page)


def test_the_first_example_of_the_readme_shows_what_it_prints():
    assert next(block for block in EXAMPLES.values() if block.page == "README.md").printed


@pytest.mark.parametrize("block", EXAMPLES.values(), ids=EXAMPLES)
def test_example(block, tmp_path, monkeypatch):
    """A first line `# needs: package` skips where it is missing; `# not run: reason` is only compiled."""
    monkeypatch.chdir(tmp_path)
    program = compile(block.code, block.page, "exec")
    if left_out := re.match(r"# not run: (.+)", block.code):
        pytest.skip(left_out[1])
    needed = re.match(r"# needs: (.*)", block.code)
    for package in needed[1].split(", ") if needed else ():
        pytest.importorskip(package)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(program, {"__name__": "example"})
    if block.printed:
        assert output.getvalue().strip() == block.printed.strip()
