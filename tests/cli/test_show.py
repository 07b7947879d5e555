"""`nalm show`."""

import json

import pytest
from typer.testing import CliRunner

from nalm.cli import app
from nalm.models.composites import COMPOSITES
from nalm.models.named_baselines import BASELINES
from nalm.papers.unit_results import success_by_range
from nalm.tasks import OPERATIONS, TEST_RANGES
from nalm.units import UNITS

PAGE = {
    "name",
    "class",
    "ops",
    "recipes",
    "papers",
    "summary",
    "description",
    "options",
    "published_recipes",
    "arguments",
    "other_recipes",
    "citations",
    "source",
    "thresholds",
    "file",
    "recipes_in_words",
    "success",
}
EVERY = {**UNITS, **COMPOSITES, **BASELINES}


@pytest.fixture(scope="module")
def screens():
    """What `nalm show` prints of every unit and baseline."""
    runner = CliRunner()
    return {name: runner.invoke(app, ["show", name]) for name in EVERY}


@pytest.mark.parametrize("unit", EVERY)
def test_a_unit_fits_on_one_screen(screens, unit):
    assert screens[unit].exit_code == 0
    lines = screens[unit].stdout.splitlines()
    assert max(map(len, lines)) < 80
    assert len(lines) <= 44
    assert not any("\\" in line for line in lines)  # formulas are text, not LaTeX


@pytest.mark.parametrize("unit", UNITS)
def test_the_screen_tells_operations_import_file_recipe_and_papers(screens, unit):
    text = " ".join(screens[unit].stdout.split())
    assert f"Can do {', '.join(UNITS[unit].ops)} Options" in text
    assert f"from nalm import {UNITS[unit].__name__} Read nalm/units/" in text
    assert "Recipe" in text
    assert "learning rate" in text
    assert all(f"Paper {key}: " in text for key in UNITS[unit].papers)


def test_the_screen_of_the_nmu(screens):
    lines = screens["nmu"].stdout.splitlines()
    assert lines[0] == "NMU, the Neural Multiplication Unit."
    assert "  m_o = ∏_i (W_oi x_i + 1 - W_oi),  W ∈ [0, 1]" in lines
    assert "Read      nalm/units/nmu.py" in lines
    at = next(
        k for k, line in enumerate(lines) if line.startswith("Success of nmu on single-module, 2 inputs")
    )
    ranges = [line.split()[0] for line in lines[at:] if line.startswith("  U[")]
    assert len(ranges) == 9
    assert any(line.split() == ["U[1,2)", "1.00", "[.87,", "1]", "1.00", "[.87,", "1]"] for line in lines)


def test_published_rates_and_ours_are_side_by_side_for_several_operations(screens):
    (head,) = [line for line in screens["realnpu"].stdout.splitlines() if line.startswith("  range")]
    assert head.split() == ["range", "mul:", "paper", "ours", "div:", "paper", "ours"]
    (head,) = [line for line in screens["inalu"].stdout.splitlines() if line.startswith("  range")]
    assert head.split() == ["range", *["add", "ours", "sub", "ours", "mul", "ours", "div", "ours"]]


@pytest.mark.parametrize("unit", UNITS)
def test_show_json_has_the_whole_page(run, unit):
    code, out, err = run("show", unit, "--json", "-")
    page = json.loads(out)
    assert (code, err) == (0, "")
    assert set(page) == PAGE
    assert page["name"] == unit
    assert set(page["published_recipes"]) == set(page["ops"])
    assert set(page["thresholds"]) == set(page["ops"]) & set(OPERATIONS)
    assert [paper["key"] for paper in page["citations"]] == page["papers"]
    assert set(page["recipes_in_words"]) == set(page["ops"])
    assert page["success"] == [row.row() for row in success_by_range(unit)]


@pytest.mark.parametrize(
    ("unit", "options"),
    [
        ("nau", {"clamp": True, "penalised": True}),
        ("nalu", {"shared": True, "epsilon": 1e-7}),
        ("realnpu", {"relevance": True, "gate_gradient": "clip", "epsilon": 2**-23}),
    ],
)
def test_show_json_gives_options_with_their_defaults(run, unit, options):
    assert json.loads(run("show", unit, "--json", "-")[1])["options"] == options


def test_thresholds_that_do_not_exist_are_null(run):
    thresholds = json.loads(run("show", "realnpu", "--json", "-")[1])["thresholds"]
    assert all(set(by_range) == set(TEST_RANGES) for by_range in thresholds.values())
    assert all(t is None or t > 0 for by_range in thresholds.values() for t in by_range.values())
