"""The Python examples of the README and of docs run and print what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "docs/own-loop.md",
    "docs/train.md",
    "docs/solve.md",
    "docs/many-units.md",
    "docs/fit.md",
    "docs/composition.md",
    "docs/epidemic.md",
    "docs/calcnet.md",
)
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\s*```text\n(.*?)```)?", re.DOTALL)
EXAMPLES = {
    f"{page}-{k}": (page, code, printed)
    for page in PAGES
    for k, (code, printed) in enumerate(BLOCK.findall((ROOT / page).read_text(encoding="utf-8")), 1)
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_examples_with_output(page):
    shown = [printed for name, _, printed in EXAMPLES.values() if name == page]
    assert any(shown)


def test_the_first_example_of_the_readme_shows_what_it_prints():
    assert EXAMPLES["README.md-1"][2]


@pytest.mark.parametrize(("page", "code", "printed"), EXAMPLES.values(), ids=EXAMPLES)
def test_example(page, code, printed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    needed = re.match(r"# needs: (.*)", code)
    for package in needed[1].split(", ") if needed else ():
        pytest.importorskip(package)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, page, "exec"), {"__name__": "example"})
    if printed:
        assert output.getvalue().strip() == printed.strip()
