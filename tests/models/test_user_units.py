"""Units of a user's own: loaded from files and from packages, and every fault told with file and line."""

import pickle
import re
import signal
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.models import ModelSpec, offered, patience, user_units

PLAIN = """\
import torch


class Plain(torch.nn.Module):
    def __init__(self, in_features, out_features, scale=1.0):
        super().__init__()
        self.scale = scale
        self.weight = torch.nn.Parameter(torch.rand(out_features, in_features))

    def forward(self, x):
        return self.scale * x @ self.weight.mT
"""
UNIT = """\
import torch
import nalm


class Squashed(nalm.Unit):
    ops = ("mul",)

    def build(self):
        self.declare("raw", (self.out_features, self.in_features), lambda u: 2 * u - 1)

    def compute(self, x):
        w = torch.sigmoid(self.raw).unsqueeze(-3)
        return (w * x.unsqueeze(-2) + 1 - w).prod(-1)

    def weights(self):
        return {"W": torch.sigmoid(self.raw)}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def file(text, name="mine.py"):
        Path(name).write_text(text)
        return f"./{name}"

    return file


# -- what is loaded ------------------------------------------------------------------------------


def test_a_plain_module_may_try_all_operations_with_plain_adam(write):
    spec = ModelSpec.parse(write(PLAIN) + ":Plain")
    assert all(spec.can(op) for op in ("add", "sub", "mul", "div", "reciprocal"))
    assert spec.make_recipe("add", 2) == nalm.recipes.recipe.Recipe()
    assert spec.build(3, 2)(torch.ones(4, 3)).shape == (4, 2)
    assert not spec.made_of_units


def test_a_unit_says_itself_what_it_can(write):
    spec = ModelSpec.parse(write(UNIT) + ":Squashed")
    assert spec.made_of_units
    assert [op for op in ("add", "mul", "div") if spec.can(op)] == ["mul"]
    assert spec.build(3, 2, batch_shape=(5,))(torch.ones(5, 4, 3)).shape == (5, 4, 2)
    assert spec.units[0].name == "squashed"


def test_options_and_stacks_are_written_as_for_other_units(write):
    text = f"nau+{write(PLAIN)}:Plain(scale=2.5)"
    spec = ModelSpec.parse(text)
    assert str(spec) == text
    assert spec.build(3, 1)[1].scale == 2.5


def test_a_file_may_import_its_neighbours(write):
    write("SIZE = 7\n", "neighbour.py")
    path = write("from neighbour import SIZE\n" + PLAIN, "uses.py")
    try:
        assert ModelSpec.parse(f"{path}:Plain").build(2, 1) is not None
    finally:
        sys.modules.pop("neighbour", None)


# -- identity ------------------------------------------------------------------------------------


def identity(text):
    return [layer.identity() for layer in ModelSpec.parse(text).layers]


def test_what_counts_is_the_source_not_the_place(write, tmp_path):
    here = identity(write(PLAIN) + ":Plain")
    (tmp_path / "sub").mkdir()
    assert identity(write(PLAIN, "sub/other.py") + ":Plain") == here
    assert identity(write(PLAIN.replace("rand", "randn")) + ":Plain") != here


def test_the_source_of_neighbours_counts(write):
    path = write("import beside\n" + PLAIN)
    write("A = 1\n", "beside.py")
    before = user_units.load_file(f"{path}:Plain").source
    write("A = 2\n", "beside.py")
    assert user_units.load_file(f"{path}:Plain").source != before


def test_a_spec_crosses_processes_as_text(write):
    spec = ModelSpec.parse(write(PLAIN) + ":Plain(scale=3.0)")
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_a_source_that_changes_on_the_way_stays_what_it_was(write, tmp_path):
    """In another process, perhaps on another machine, the unit is made from what was read here."""
    path = Path(write(PLAIN))
    spec = ModelSpec.parse(f"{path}:Plain")
    packed = pickle.dumps(spec)
    for change in (lambda: path.write_text(PLAIN.replace("self.scale * x", "2 * x")), path.unlink):
        change()
        again = pickle.loads(packed)
        assert str(again) == str(spec)
        assert again.layers[0].identity() == spec.layers[0].identity()
        model = again.build(2, 1)
        assert torch.equal(model(torch.ones(1, 2)), model.weight.sum()[None, None])


def test_neighbours_travel_and_versions_of_them_are_not_mixed_up(write, tmp_path):
    path = Path(write("from far_neighbour import SCALE\n" + PLAIN.replace("self.scale *", "SCALE *")))
    packed = {}
    for scale in (3.0, 15.0):
        (tmp_path / "far_neighbour.py").write_text(f"SCALE = {scale}\n")
        packed[scale] = pickle.dumps(ModelSpec.parse(f"{path}:Plain"))
    path.unlink()
    for scale, each in packed.items():
        model = pickle.loads(each).build(2, 1)
        torch.testing.assert_close(model(torch.ones(1, 2)), scale * model.weight.sum()[None, None])


def test_a_package_may_offer_units(write, monkeypatch):
    write(UNIT, "offering_package.py")
    monkeypatch.syspath_prepend(".")
    point = EntryPoint("theirs", "offering_package:Squashed", user_units.GROUP)
    monkeypatch.setattr(offered, "entry_points", lambda group: [point] if group == user_units.GROUP else [])
    spec = ModelSpec.parse("theirs")
    assert spec.units[0].__name__ == "Squashed"
    assert "source" in spec.layers[0].identity()
    with pytest.raises(ArgumentError, match="Did you mean 'theirs'"):
        ModelSpec.parse("their")


def test_a_package_that_does_not_import_is_told(monkeypatch):
    point = EntryPoint("theirs", "no_such_package:Unit", user_units.GROUP)
    monkeypatch.setattr(offered, "entry_points", lambda group: [point])
    with pytest.raises(ArgumentError, match="no_such_package"):
        ModelSpec.parse("theirs")


# -- faults --------------------------------------------------------------------------------------

CLASS = (
    "import torch\n\n\nclass A(torch.nn.Module):\n    def __init__(self, a, b):\n        super().__init__()\n"
)
WEIGHT = (
    CLASS
    + """\
        self.w = torch.nn.Parameter(torch.ones(b, a))

    def forward(self, x):
"""
)
FAULTS = {
    "does not import": ("import torch\n\nx = nothing\n", r"mine\.py:3: NameError: name 'nothing'"),
    "syntax": ("import torch\nclass A(\n", r"mine\.py:2: SyntaxError"),
    "exits": ("raise SystemExit\n", r"mine\.py:1: SystemExit"),
    "not a module": ("\n\nclass A:\n    pass\n", r"mine\.py:3: A, a class of another kind"),
    "a function": ("def A():\n    pass\n", r"mine\.py:1: A, a function"),
    "constructor": (
        "import torch\nclass A(torch.nn.Module):\n    def __init__(self): ...\n",
        r"mine\.py:2: TypeErr",
    ),
    "shape": (WEIGHT + "        return x * self.w\n", r"mine\.py:4: A gives shape \(3, 2\)"),
    "forward": (WEIGHT + "        return x @ x\n", r"mine\.py:10: RuntimeError: mat1"),
    "exits when made": (CLASS + "        raise SystemExit(0)\n", r"mine\.py:7: SystemExit"),
    "no parameters": (CLASS, r"mine\.py:4: A, which has none"),
    "frozen": (
        CLASS + "        self.w = torch.nn.Parameter(torch.ones(b, a), requires_grad=False)\n",
        r"mine\.py:4: A, which has none",
    ),
    "double": (
        CLASS + "        self.w = torch.nn.Parameter(torch.ones(b, a).double())\n",
        r"mine\.py:4: A, which has others",
    ),
    "a tuple": (WEIGHT + "        return x, x\n", r"mine\.py:4: TypeError: forward returns tuple"),
    "detached": (
        WEIGHT + "        return (x @ self.w.mT).detach()\n",
        r"mine\.py:4: TypeError: the output has",
    ),
    "branch": (
        WEIGHT + "        return x @ self.w.mT if x.sum() > 0 else x @ self.w.mT\n",
        r"mine\.py:10: RuntimeError: a branch depends on data",
    ),
    "random": (
        WEIGHT + "        return x @ self.w.mT * torch.rand(1)\n",
        r"mine\.py:10: RuntimeError: random numbers are drawn",
    ),
    "mixing": (
        CLASS + "        self.norm = torch.nn.BatchNorm1d(b)\n",
        r"mine\.py:4: A with BatchNorm1d",
    ),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_names_the_file_and_the_line(write, text, message):
    with pytest.raises(ArgumentError, match=message):
        ModelSpec.parse(write(text) + ":A").check(2, 1)


ENDLESS = {
    "import": (
        "import torch\n\nwhile True:\n    pass\n",
        r"can be imported, but got mine\.py:[34]: not done after",
    ),
    "import that sleeps": (
        "import time\ntime.sleep(100)\n",
        r"can be imported, but got mine\.py:2: not done after",
    ),
    "constructor": (
        CLASS + "        while True:\n            try:\n                pass\n"
        "            except Exception:\n                pass\n",
        r"made with \(2, 1\), but got mine\.py:\d+: not done after",
    ),
    "forward": (
        WEIGHT + "        while True:\n            pass\n",
        r"but got mine\.py:1[01]: not done",
    ),
}


@pytest.mark.parametrize(("text", "message"), ENDLESS.values(), ids=ENDLESS)
def test_code_that_does_not_end_is_given_up(write, monkeypatch, text, message):
    monkeypatch.setenv(patience.VARIABLE, "0.3")
    alarm = signal.getsignal(signal.SIGALRM)
    with pytest.raises(ArgumentError, match=message):
        ModelSpec.parse(write(text) + ":A").check(2, 1)
    assert signal.getsignal(signal.SIGALRM) == alarm
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_code_that_takes_long_is_named_while_it_is_waited_for(write, monkeypatch, capsys):
    monkeypatch.setattr(patience, "SECONDS_TO_SAY", 0.05)
    path = write("import time\ntime.sleep(0.3)\n" + PLAIN)
    assert ModelSpec.parse(f"{path}:Plain")
    said = r"Still importing mine\.py after \d+ s; the limit is 60 s\.\n"
    assert re.search(said, capsys.readouterr().err)


@pytest.mark.parametrize("limit", ["soon", "0", "nan", "-1"])
def test_a_limit_that_is_none_is_refused(write, monkeypatch, limit):
    monkeypatch.setenv(patience.VARIABLE, limit)
    with pytest.raises(ArgumentError, match=f"NALM_IMPORT_SECONDS.*'{limit}'"):
        ModelSpec.parse(write(PLAIN) + ":Plain")


def test_a_package_that_exits_is_told(write, monkeypatch):
    write("import sys\nsys.exit(3)\n", "exiting_package.py")
    monkeypatch.syspath_prepend(".")
    point = EntryPoint("theirs", "exiting_package:Unit", user_units.GROUP)
    monkeypatch.setattr(offered, "entry_points", lambda group: [point])
    with pytest.raises(ArgumentError, match="SystemExit: 3, from exiting_package:Unit"):
        ModelSpec.parse("theirs")


def test_a_class_or_file_that_is_not_there_brings_the_nearest(write):
    path = write(PLAIN)
    with pytest.raises(ArgumentError, match="Did you mean 'Plain'"):
        ModelSpec.parse(f"{path}:Plane")
    with pytest.raises(ArgumentError, match=r"Did you mean 'mine\.py'"):
        ModelSpec.parse("./mien.py:Plain")
