"""The README's Python examples run and print what the README says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n(?:\s*```text\n(.*?)```)?", README, re.DOTALL)


def test_the_readme_has_examples_with_output():
    assert len(EXAMPLES) >= 3
    assert EXAMPLES[0][1], "the first example must show what it prints"


@pytest.mark.parametrize(("code", "printed"), EXAMPLES, ids=[f"example{k + 1}" for k in range(len(EXAMPLES))])
def test_example(code, printed):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    if printed:
        assert output.getvalue().strip() == printed.strip()
