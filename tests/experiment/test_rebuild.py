"""Stored runs, brought back: what a user's unit breaks is said, what ours break is raised."""

import numpy as np
import pytest
from made_runs import bare_record, made_record

from nalm.experiment.rebuild import effective_weights, formula, task_of
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.tasks import SingleModule
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


def test_a_task_that_is_not_here_is_known_by_its_labels_and_said_once():
    record = bare_record(Run(Case(ModelSpec.parse("nmu"), SingleModule("mul", "1:2")), 0), task="elsewhere")
    with pytest.warns(UserWarning, match="Runs of the task 'elsewhere' are not judged") as told:
        found = [task_of(record), task_of(record)]
    assert len(told) == 1
    assert found[0].labels() == record.labels
    assert (found[0].name, found[0].threshold(), found[0].title) == ("elsewhere", None, "mul")
    assert formula(record) is None


def of_a_task_without_sizes(parameters):
    run = Run(Case(ModelSpec.parse("nmu"), SingleModule("mul", "1:2")), 0)
    identity = {**run.case.identity, "task": {"name": "elsewhere"}}
    held = {name: np.ones(shape, np.float32) for name, shape in parameters.items()}
    return bare_record(run, task="elsewhere", identity=identity, chosen_parameters=held)


NOT_KNOWN = {
    "a network around the unit": {"read.weight": (1, 4), "unit.weight": (1, 2)},
    "more inputs than one": {"weight": (1, 2)},
}


@pytest.mark.filterwarnings("ignore:Runs of the task")
@pytest.mark.parametrize("parameters", NOT_KNOWN.values(), ids=NOT_KNOWN)
def test_of_sizes_that_are_not_known_the_parameters_are_told(parameters):
    record = of_a_task_without_sizes(parameters)
    assert formula(record) is None
    assert list(effective_weights(record, record.chosen_parameters)) == list(parameters)
