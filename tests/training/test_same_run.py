"""`nalm.train` and a benchmark give the same run, bit for bit, for the same model, task and seed."""

import numpy as np
import pytest
import torch
from torch import nn

import nalm
from nalm.experiment.compute import compute
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.tasks import TASKS, RangeTask, Reciprocal, SingleModule
from nalm.training.published import published_recipe
from nalm.units import UNITS

STEPS = 20
PLAIN = """\
import torch


class Plain(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.hidden = torch.nn.Linear(in_features, 3)
        self.scale = torch.nn.Parameter(torch.rand(out_features, 3))

    def forward(self, x):
        return torch.tanh(self.hidden(x)) @ self.scale.transpose(0, 1)
"""


def pairs():
    """Every unit on every task and operation that it can express, and stacks."""
    for name, unit in UNITS.items():
        for kind in TASKS.values():
            for op in kind.ops:
                if op in unit.ops and not kind.models:
                    yield name, kind, op
    for kind in TASKS.values():
        for model in kind.models:
            for op in kind.ops:
                if ModelSpec.parse(model).can(op):
                    yield model, kind, op
    yield "nau+nmu", SingleModule, "mul"


def task_for(kind, op):
    return kind.of(op, "1:2") if issubclass(kind, RangeTask) else kind(op)


@pytest.mark.parametrize(
    ("model", "kind", "op"), [pytest.param(*p, id=f"{p[0]}-{p[1].name}-{p[2]}") for p in pairs()]
)
def test_both_take_the_same_recipe(model, kind, op, monkeypatch):
    task, seen = task_for(kind, op), []

    def stop(model, tasks, recipes, *rest, **options):
        seen.append(recipes[0])
        raise ZeroDivisionError

    monkeypatch.setattr("nalm.training.train.train_runs", stop)
    with pytest.raises(ZeroDivisionError):
        nalm.train(model, task, seeds=1)
    assert seen == [Case(ModelSpec.parse(model), task).recipe]


@pytest.mark.parametrize("model", ["nau+nmu", "nau+nau"])
def test_a_stack_by_hand_takes_the_recipe_of_its_name(model):
    spec, task = ModelSpec.parse(model), SingleModule("add" if model == "nau+nau" else "mul")
    assert published_recipe(spec.build(2, 1), task) == published_recipe(spec, task)


def benched(model, task, seed):
    (record,) = compute(Chunk((Run(Case(ModelSpec.parse(model), task, STEPS, schedule="scaled"), seed),)))
    return record


def same(result, record):
    assert np.array_equal(result.validation[0].numpy(), record.validation)
    assert np.array_equal(result.test[0].numpy(), record.test)
    for name, value in record.final_parameters.items():
        assert np.array_equal(result.final_parameters[name][0].numpy(), value)


@pytest.mark.parametrize("model", ["nmu", "nau+nmu", "nalu", "snmu", "nmu@second-order"])
def test_both_give_the_same_run(model):
    task = SingleModule("mul", "1:2")
    same(nalm.train(model, task, seeds=[3], iterations=STEPS), benched(model, task, 3))


def test_a_task_that_adapts_recipes_is_asked_by_both():
    task = Reciprocal()
    assert published_recipe(nalm.NRU(1, 1), task).penalties == ()
    same(nalm.train("nru", task, seeds=[1], iterations=STEPS), benched("nru", task, 1))


def test_a_plain_module_starts_alike_by_name_and_by_hand(tmp_path):
    (tmp_path / "mine.py").write_text(PLAIN)
    name, task = f"{tmp_path}/mine.py:Plain", SingleModule("mul", "1:2")
    record = benched(name, task, 5)
    same(nalm.train(name, task, seeds=[5], iterations=STEPS), record)


def test_a_module_of_torchs_own_layers_starts_as_its_constructor_would_with_the_seed():
    def make():
        return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))

    result = nalm.train(make(), SingleModule("mul"), seeds=[7], iterations=1, log_interval=1)
    torch.manual_seed(7)
    fresh = dict(make().named_parameters())
    assert all(torch.equal(result.history[name][0, 0], p) for name, p in fresh.items())
