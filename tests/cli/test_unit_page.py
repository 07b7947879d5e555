"""`nalm show` for a class of a user's own: what is known is told, also of a plain module."""

import json

import pytest
from typer.testing import CliRunner

from nalm.cli import app
from nalm.cli.unit_page import unit_page
from nalm.errors import ArgumentError

FILE = '''
import nalm
import torch


class Plain(torch.nn.Module):
    """A plain sum."""

    def __init__(self, inputs, outputs, scale=2.0):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(outputs, inputs))

    def forward(self, x):
        return x @ self.weight.mT


class Mine(nalm.NMU):
    """A product of my own."""

    papers = ("mine2026",)


class NoOps(nalm.Unit):
    """A unit that does not say what it can do."""


class Faulty(nalm.NMU):
    @classmethod
    def make_recipe(cls, op, name, inputs):
        return 1 / 0
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    return "./mine.py:"


def test_the_page_of_a_users_unit(mine):
    page = unit_page(mine + "Mine")
    assert (page["name"], page["class"], page["source"]) == ("./mine.py:Mine", "Mine", "mine.py")
    assert page["ops"] == ["mul"]
    assert page["description"] == "A product of my own."
    assert "UnitPenalty" in page["published_recipes"]["mul"]
    assert page["citations"] == []
    assert page["thresholds"]["mul"]


def test_the_page_of_a_plain_module_says_what_is_known(mine):
    page = unit_page(mine + "Plain")
    assert page["ops"] == []
    assert page["options"] == {"scale": 2.0}
    assert page["summary"] == "A plain sum."
    assert page["published_recipes"] == page["thresholds"] == {}
    assert page["success"] == []
    assert page["file"] is None


def test_a_unit_without_operations_has_a_page(mine):
    assert unit_page(mine + "NoOps")["ops"] == []


def test_a_recipe_that_cannot_be_made_is_told_with_file_and_line(mine):
    with pytest.raises(ArgumentError, match=r"mine\.py:30: ZeroDivisionError"):
        unit_page(mine + "Faulty")


def test_a_unit_of_ours_has_no_source():
    assert unit_page("nmu")["source"] is None
    assert unit_page("nmu")["file"] == "nalm/units/nmu.py"
    with pytest.raises(ArgumentError, match="Did you mean 'nmu'"):
        unit_page("nmuu")


@pytest.mark.parametrize(
    ("name", "said"),
    [("Mine", "Python    Mine of mine.py"), ("Plain", "Can do    not known; benchmarks try all operations")],
)
def test_the_command_shows_it(mine, name, said):
    result = CliRunner().invoke(app, ["show", mine + name])
    assert result.exit_code == 0
    assert said in result.stdout
    shown = CliRunner().invoke(app, ["show", mine + name, "--json", "-"])
    assert json.loads(shown.stdout)["class"] == name
