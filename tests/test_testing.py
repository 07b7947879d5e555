"""`nalm.testing.check`: all faults at once, each with its place and a hint; documented examples pass."""

import re
from pathlib import Path

import pytest
import torch

import nalm
import nalm.testing
from nalm.testing import CHECKS, faults
from nalm.testing.hints import HINTS

DOCS = Path(__file__).parents[1] / "docs"


class Bare(nalm.Unit):
    ops = ("add",)

    def build(self):
        self.declare("w", (self.out_features, self.in_features), lambda u: u)

    def compute(self, x):
        return x @ self.w.mT


def found_in(unit):
    return {fault.check: fault for fault in faults(unit)}


def test_all_faults_are_listed_and_none_is_raw():
    found = found_in(Bare)
    assert found["says_what_it_is"].what == "the class must have a docstring"
    assert "must define `symbolic`" in found["has_its_symbolic_form"].what
    assert "pickle" in found["obeys_the_habits_of_modules"].what
    assert "instead of a lambda" in found["obeys_the_habits_of_modules"].hint
    with pytest.raises(
        AssertionError, match=rf"Bare: {len(found)} faults in {len(CHECKS)} checks\n- "
    ) as caught:
        nalm.testing.check(Bare)
    assert str(caught.value).count("\n- ") == len(found)


def test_the_same_fault_is_listed_once():
    missing = [fault for fault in faults(Bare) if "must define `weights`" in fault.what]
    assert len(missing) == 1
    assert "docs/units.md" in missing[0].hint


class Divides(nalm.NAU):
    """Fails in a line of its own."""

    def compute(self, x):
        return super().compute(x) / [1]


def test_a_fault_names_the_line_that_led_to_it_or_that_of_the_class():
    lines = Path(__file__).read_text().splitlines()
    line = 1 + next(k for k, text in enumerate(lines) if "/ [1]" in text and "compute" in text)
    kind = 1 + lines.index("class Bare(nalm.Unit):")
    assert found_in(Divides)["has_right_gradients"].place == f"{__file__}:{line}"
    assert "TypeError" in found_in(Divides)["has_right_gradients"].what
    assert found_in(Bare)["says_what_it_is"].place == f"{__file__}:{kind}"


def test_every_check_has_a_hint():
    assert all(found.hint for found in faults(Bare))
    assert {one.__name__ for one in CHECKS} == set(HINTS)


def test_a_class_that_is_typed_in_has_no_line():
    space = {"nalm": nalm}
    exec("class Typed(nalm.NAU):\n    def compute(self, x):\n        return x.sum()\n", space)
    assert faults(space["Typed"])[0].place == "Typed"


def documented(page, name):
    """The class of a page's Python example."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if f"class {name}" in block)


def load(tmp_path, monkeypatch, text, name):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"documented_{name.lower()}.py").write_text("import nalm\n" + text)
    return getattr(__import__(f"documented_{name.lower()}"), name)


def test_the_documented_unit_keeps_the_contract(tmp_path, monkeypatch):
    squashed = load(tmp_path, monkeypatch, documented("bench.md", "Squashed"), "Squashed")
    nalm.testing.check(squashed)
    unit = squashed(3, 1)
    unit.ideal_("mul", 0, 2)
    assert str(nalm.explain(unit, ["a", "b", "c"])) == "a*c"
    assert unit(torch.tensor([[2.0, 5.0, -3.0]])).item() == -6


def test_the_documented_fault_is_the_one_that_is_found(tmp_path, monkeypatch):
    half = load(tmp_path, monkeypatch, documented("units.md", "HalfSum"), "HalfSum")
    said = re.search(r"```text\n(.*?)```", (DOCS / "units.md").read_text(encoding="utf-8"), re.DOTALL).group(
        1
    )
    with pytest.raises(AssertionError) as caught:
        nalm.testing.check(half)
    shown = str(caught.value).replace(str(tmp_path / "documented_halfsum.py"), "mine.py")
    assert re.sub(r"mine\.py:\d+", "mine.py:4", shown).split() == said.split()
