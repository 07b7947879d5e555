"""Remembered answers: under which name, of whose code, for how long, and what damage does to them."""

import gzip
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from made_runs import fill
from test_store import change, make_older

import nalm
from nalm.experiment.answers import KEPT, may_have
from nalm.experiment.bench import Experiment, make_experiment, table_experiment
from nalm.experiment.remembered import remember, remembered
from nalm.experiment.request import Request
from nalm.experiment.run import Case
from nalm.experiment.store import Store, StoreError
from nalm.models import ModelSpec
from nalm.tasks import SingleModule, Table

ASKED = Request("single-module", ["nmu"], ["mul"], ["1:2"], seeds=2, iterations=2000)
WANTED = make_experiment("single-module", ["nmu"], ["mul"], ["1:2"], seeds=2, iterations=2000)
RESULT = {
    "task": "single-module",
    "rows": [{"rate": 0.1}],
    "computed_runs": 2,
    "stored_runs": 0,
    "seconds": 9,
}


@pytest.fixture
def path(tmp_path):
    return answered(tmp_path / "runs.sqlite", WANTED)


def answered(path, experiment, request=ASKED):
    """A store with the runs of an experiment and an answer."""
    fill(path, experiment)
    with Store(path) as store:
        remember(store, request, experiment, RESULT)
    return path


def found(path, request=ASKED):
    """What is remembered, but for the time that it takes."""
    result = remembered(path, request)
    return None if result is None else {**result, "seconds": None}


HELD = {**RESULT, "computed_runs": 0, "stored_runs": 2, "run_steps_per_second": None, "seconds": None}


def test_an_answer_is_that_of_a_stored_benchmark(path):
    assert found(path) == HELD
    assert remembered(path, ASKED)["seconds"] < RESULT["seconds"]


OTHERS = {
    "task": "reciprocal", "units": ["nmu", "nmu"], "op": None, "ranges": ["1:2", "1:2"], "inputs": 2,
    "seeds": 3, "iterations": None, "recipe": "published", "schedule": "published", "hidden": 3,
    "threshold": 0.1, "published": True,
}  # fmt: skip


@pytest.mark.parametrize("argument", list(OTHERS))
def test_every_argument_belongs_to_the_question(path, argument):
    assert found(path, replace(ASKED, **{argument: OTHERS[argument]})) is None


def test_without_own_units_no_word_about_published_numbers_means_none(path):
    assert found(path, replace(ASKED, published=False)) == HELD


def name_in(folder):
    """The name that a request has for the package in a folder, in a process of its own."""
    code = "from nalm.experiment.request import Request; print(Request('single-module').name)"
    words = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {code}"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_any_change_of_the_code_asks_anew_and_a_copy_does_not(tmp_path):
    copy = tmp_path / "nalm"
    shutil.copytree(Path(nalm.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    ours = name_in(Path(nalm.__file__).parents[1])
    assert name_in(tmp_path) == ours
    file = copy / "units" / "nmu.py"
    before = file.read_text()
    file.write_text(before.replace("a", "b", 1))
    changed = name_in(tmp_path)
    file.write_text(before)
    (copy / "units" / "another.py").write_text("")
    assert len({ours, changed, name_in(tmp_path)}) == 3


@dataclass(frozen=True)
class Theirs(SingleModule):
    """A task of another package."""

    name = "theirs"


NMU = ModelSpec.parse("nmu")
FOREIGN = {
    "a task of another package": Experiment("theirs", (Case(NMU, Theirs("mul", "1:2")),), 2),
    "a task that takes the name of ours": Experiment("single-module", (Case(NMU, Theirs("mul", "1:2")),), 2),
    "a table": table_experiment(Table([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0]), ["nmu"], seeds=2),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_answers_that_rest_on_the_code_or_numbers_of_others_are_not_remembered(tmp_path, what):
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        remember(store, ASKED, FOREIGN[what], RESULT)
        assert store.answer(ASKED.name) is None


def test_only_the_latest_are_kept(path):
    with Store(path) as store:
        for k in range(KEPT + 2):
            store.keep_answer(f"request {k}", b"answer")
        store.keep_answer("request 2", b"another")
        store.keep_answer("new", b"answer")
        held = [k for k in range(KEPT + 2) if store.answer(f"request {k}") is not None]
        assert store.answer("request 2") == b"another"
    assert held == [2, *range(4, KEPT + 2)]
    assert found(path) is None


def test_a_store_is_looked_into_without_being_made_or_upgraded(tmp_path):
    path = tmp_path / "runs.sqlite"
    assert not may_have(path, ASKED.name)
    assert not path.exists()
    fill(path, WANTED)
    make_older(path, 4)
    before = path.read_bytes()
    assert found(path) is None
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"hello", b"", b"SQLite format 3\0" + bytes(200)])
def test_what_is_no_store_has_no_answer_and_is_left_alone(tmp_path, content):
    path = tmp_path / "runs.sqlite"
    path.write_bytes(content)
    assert found(path) is None
    assert path.read_bytes() == content


def test_a_store_in_use_is_said_to_be(path):
    with Store(path), pytest.raises(StoreError, match="in use by another command"):
        remembered(path, ASKED)
    assert found(path) == HELD


def test_the_first_damaged_run_in_order_is_named(path):
    change(path, "UPDATE runs SET test = zeroblob(length(test))")
    with pytest.raises(StoreError, match=r"seed 0\) is damaged: curve"):
        remembered(path, ASKED)


def test_damage_that_the_answer_does_not_rest_on_does_not_matter(path):
    change(path, "UPDATE runs SET history = x'00'")
    assert found(path) == HELD


@pytest.mark.parametrize("content", [b"[1, 2]", b"{}", b"null", b"no JSON"])
def test_an_answer_of_another_form_is_none(path, content):
    with Store(path) as store:
        store.keep_answer(ASKED.name, gzip.compress(content))
    assert found(path) is None


STEP = 61
"""Of all bytes, how many are passed over between two that are changed; prime, so that every kind is met."""


def test_a_changed_byte_leaves_the_answer_as_it_is_or_takes_it_away(path, tmp_path):
    content = path.read_bytes()
    kinds = set()
    for place in range(0, len(content), STEP):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        copy = tmp_path / "copy.sqlite"
        copy.write_bytes(changed)
        try:
            answer = found(copy)
            assert answer in (None, HELD), place
            kinds.add("none" if answer is None else "same")
        except StoreError:
            kinds.add("refused")
    assert kinds == {"none", "same", "refused"}
