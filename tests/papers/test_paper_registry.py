"""Entries by id: ours, and what packages offer if it can be used (a whole package: test_from_outside.py)."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from nalm.errors import ArgumentError
from nalm.models import offered
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Entry
from nalm.papers.registry import GROUP, all_entries, find_entry, published_of

OFFERED = {
    "mistry2023": (Entry("mistry2023:fig3.4", "theirs", ""),),
    "whole": (Entry("whole:table1", "t", "s"),),
    "empty": None,
    "wrong": ("whole:table1",),
    "strange": (Entry("whole:table1", "t", "s"),),
}


@pytest.fixture(autouse=True)
def offer(monkeypatch):
    """Modules with these entries, and a function in place of a module."""
    for key, entries in OFFERED.items():
        module = ModuleType(f"paper_{key}")
        module.ENTRIES = entries
        monkeypatch.setitem(sys.modules, module.__name__, module)
    points = [EntryPoint(key, f"paper_{key}", GROUP) for key in OFFERED]
    points.append(EntryPoint("function", "os:getcwd", GROUP))
    monkeypatch.setattr(offered, "entry_points", lambda group: points if group == GROUP else [])


def test_ours_and_theirs_are_found_and_ours_stay_ours():
    assert find_entry("whole:table1").title == "t"
    assert find_entry("mistry2023:fig3.4") is ENTRIES["mistry2023:fig3.4"]
    assert published_of("mistry2023:fig3.4")["NMU", "U[1,2)", "success"].value == 1


WRONG = {
    "whole:table2": "Did you mean 'whole:table1'",
    "mistry2023:fig34": "Did you mean 'mistry2023:fig3.4'",
    "empty:a": "a module whose `ENTRIES` is a tuple of entries of the ledger, but got paper_empty with None",
    "wrong:a": "a tuple of entries of the ledger, but got paper_wrong with",
    "strange:a": "ids that begin with 'strange:', but got 'whole:table1' in paper_strange",
    "function:a": "a module with `ENTRIES`, but got 'function', which is <",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_refused_in_a_sentence(name):
    with pytest.raises(ArgumentError, match=WRONG[name]):
        find_entry(name)


def test_a_list_has_what_can_be_used_and_says_what_cannot():
    entries, faults = all_entries()
    assert list(entries) == [*ENTRIES, "whole:table1"]
    assert [fault.split(" is left out: ")[0] for fault in faults] == [
        repr(name) for name in ("empty", "wrong", "strange", "function")
    ]
