"""Tasks by name: ours, and what packages offer if it can be used (a whole package: test_from_outside.py)."""

import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from nalm.errors import ArgumentError
from nalm.models import offered
from nalm.tasks import RangeTask, SingleModule, Table, Task
from nalm.tasks.registry import GROUP, all_tasks, source_of, task_kind


class Any(Task):
    name = "any"


@dataclass(frozen=True)
class Endless(RangeTask):
    op: str
    range: str
    inputs: int
    name = "endless"


@dataclass(frozen=True)
class Whole(SingleModule):
    name = "whole"


@pytest.fixture(autouse=True)
def offer(monkeypatch):
    """What packages offer: everything here by its name, and a few wrong things."""
    here = {"any": "Any", "endless": "Endless", "whole": "Whole", "other": "Whole", "number": "__name__"}
    points = [EntryPoint(name, f"{__name__}:{value}", GROUP) for name, value in here.items()]
    points += [EntryPoint("both", f"{package}:Task", GROUP) for package in ("one_package", "two_package")]
    monkeypatch.setattr(offered, "entry_points", lambda group: points if group == GROUP else [])


def test_ours_and_theirs_are_found_by_name():
    assert task_kind("single-module") is SingleModule
    assert task_kind("table") is Table
    assert task_kind("whole") is Whole
    assert task_kind("any") is Any


WRONG = {
    "whoel": "Did you mean 'whole'",
    "endless": "of which inputs has a default, but got Endless of",
    "other": "a class with the name of its entry point, 'other', but got Whole of .* with the name 'whole'",
    "number": "a subclass of nalm.tasks.Task, but got 'number', which is",
    "both": "a name that only one package offers, but got 'both', which one_package and two_package offer",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_refused_in_a_sentence(name):
    with pytest.raises(ArgumentError, match=WRONG[name]):
        task_kind(name)


def test_a_list_has_what_can_be_used_and_says_what_cannot():
    tasks, faults = all_tasks()
    assert next(iter(tasks)) == "single-module"
    assert tasks["whole"] is Whole
    assert [fault.split(" is left out: ")[0] for fault in faults] == [
        repr(name) for name in ("endless", "other", "number", "both")
    ]


def test_code_that_is_not_ours_is_part_of_what_determines_a_run():
    assert source_of(SingleModule("mul")) is None
    assert len(source_of(Whole("mul"))) == 64
    assert source_of(Whole("mul")) == source_of(Any())  # one file


def test_a_task_without_a_file_has_no_source(monkeypatch):
    monkeypatch.delattr(sys.modules[__name__], "__file__")
    assert source_of(Whole("mul")) is None
