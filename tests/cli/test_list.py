"""`nalm list`."""

import json

import pytest

from nalm.models.composites import COMPOSITES
from nalm.papers import PAPERS, ledger
from nalm.tasks import RANGES, TASKS
from nalm.units import UNITS

NAMES = {"units": [*UNITS, *COMPOSITES], "tasks": list(TASKS), "ranges": list(RANGES), "papers": list(PAPERS)}
KEYS = {
    "units": {"name", "class", "ops", "recipes", "papers", "summary"},
    "tasks": {"name", "ops", "inputs", "ranges", "models", "summary"},
    "ranges": {"name", "set", "train", "test", "written"},
    "papers": {"key", "authors", "year", "title", "venue"},
}


def test_list_shows_everything(run):
    code, out, err = run("list")
    assert (code, err) == (0, "")
    for name in (name for names in NAMES.values() for name in names):
        assert name in out


@pytest.mark.parametrize("kind", NAMES)
def test_list_of_a_kind_shows_all_of_it_and_nothing_else(run, kind):
    code, out, err = run("list", kind)
    assert (code, err) == (0, "")
    assert [other for other in NAMES if out.startswith(other)] == [kind]
    assert all(name in out for name in NAMES[kind])


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_names_and_ids_are_never_cut_on_a_terminal(on_terminal, columns):
    lines = on_terminal(columns, "list")
    words = " ".join(lines).split()
    assert all(name in words for kind in ("units", "tasks", "ranges", "papers") for name in NAMES[kind])
    lines = on_terminal(columns, "reproduce", "--list")
    words = " ".join(lines).split()
    assert all(entry["id"] in words for entry in ledger.listing())
    assert not [line for line in lines if "…" in line or len(line) > columns]


def test_list_json_has_every_kind(run):
    code, out, err = run("list", "--json", "-")
    assert (code, err) == (0, "")
    assert list(json.loads(out)) == list(NAMES)


@pytest.mark.parametrize("kind", NAMES)
def test_list_json_of_a_kind_has_its_entries_and_keys(run, kind):
    data = json.loads(run("list", kind, "--json", "-")[1])
    assert list(data) == [kind]
    assert all(set(row) == KEYS[kind] for row in data[kind])
    assert [row["key" if kind == "papers" else "name"] for row in data[kind]] == NAMES[kind]


def test_ranges_are_pairs_of_numbers_in_json(run):
    (row,) = (r for r in json.loads(run("list", "ranges", "--json", "-")[1])["ranges"] if r["name"] == "-2:2")
    assert (row["train"], row["test"]) == ([[-2, 2]], [[-6, -2], [2, 6]])
    assert (row["set"], row["written"]) == ("uniform", "-2:2=>-6:-2|2:6")
