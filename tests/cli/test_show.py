"""`nalm show`."""

import json

import pytest

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
}


@pytest.mark.parametrize("unit", UNITS)
def test_show_tells_name_operations_recipes_and_papers(run, unit):
    code, out, err = run("show", unit)
    assert (code, err) == (0, "")
    assert f"nalm.{UNITS[unit].__name__}" in out
    assert "Operations: " + ", ".join(UNITS[unit].ops) in out
    assert all(f"Published recipe for {op}: Recipe(" in out for op in UNITS[unit].ops)
    assert all(f"Paper {key}: " in out for key in UNITS[unit].papers)


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
