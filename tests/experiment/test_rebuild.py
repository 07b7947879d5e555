"""Stored runs, brought back: what a user's unit breaks is said, what ours break is raised."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest
from made_runs import bare_record, made_record

from nalm.experiment.rebuild import effective_weights, formula, task_of
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec, offered
from nalm.tasks import SingleModule
from nalm.tasks.registry import GROUP
from nalm.units import NMU

FAULTY = """\
import torch
import nalm


class Faulty(nalm.Unit):
    ops = ("mul",)

    def build(self):
        self.declare("raw", (self.out_features, self.in_features), lambda u: u)

    def compute(self, x):
        return (self.raw.unsqueeze(-3) * x.unsqueeze(-2)).prod(-1)

    def weights(self):
        raise ZeroDivisionError("no weights today")
"""


def record_of(model, make=made_record):
    return make(Run(Case(ModelSpec.parse(model), SingleModule("mul", "1:2")), 0), solved=True)


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FAULTY)
    return "./mine.py:Faulty"


def record_with_parameters(model):
    held = {name: p.detach().numpy() for name, p in ModelSpec.parse(model).build(2, 1).named_parameters()}
    return record_of(model, lambda run, solved: bare_record(run, solved=solved, chosen_parameters=held))


def test_what_a_users_unit_raises_is_said_with_its_place(faulty):
    record = record_with_parameters(faulty)
    assert formula(record) == "cannot be read: mine.py:15: ZeroDivisionError: no weights today"
    assert list(effective_weights(record, record.chosen_parameters)) == ["raw"]


def test_in_a_stack_with_ours_too(faulty):
    record = record_with_parameters(f"nau+{faulty}")
    assert formula(record).startswith("cannot be read: mine.py:15")
    assert set(effective_weights(record, record.chosen_parameters)) == {"0.weight", "1.raw"}


def test_an_error_in_one_of_our_units_is_raised(monkeypatch):
    record = record_of("nmu")
    assert formula(record) == "x1*x2"

    def fail(self):
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr(NMU, "weights", fail)
    with pytest.raises(ZeroDivisionError, match="a bug of ours"):
        formula(record)
    with pytest.raises(ZeroDivisionError, match="a bug of ours"):
        effective_weights(record, record.chosen_parameters)


def stored(task, **changes):
    run = Run(Case(ModelSpec.parse("nmu"), SingleModule("mul", "1:2")), 0)
    return made_record(run, solved=True, task=task, **changes)


def test_a_task_that_is_not_here_is_known_by_what_is_stored():
    record = stored("elsewhere")
    found = task_of(record)
    assert (found.name, found.threshold(), found.title) == ("elsewhere", None, "mul")
    assert found.labels() == record.labels
    assert formula(record) == "x1*x2"


def test_a_task_whose_package_is_broken_is_said_once(monkeypatch):
    point = EntryPoint("broken", "no_such_package:Task", GROUP)
    monkeypatch.setattr(offered, "entry_points", lambda group: [point])
    with pytest.warns(UserWarning, match="'broken' are not judged.*no_such_package") as told:
        found = [task_of(stored("broken")), task_of(stored("broken"))]
    assert len(told) == 1
    assert {task.name for task in found} == {"broken"}


def test_a_unit_inside_a_network_that_is_not_here_is_not_read():
    parameters = {"read.weight": np.ones((1, 4), np.float32), "unit.weight": np.ones((1, 2), np.float32)}
    record = stored("elsewhere", chosen_parameters=parameters)
    assert formula(record) is None
    assert effective_weights(record, parameters) == parameters
