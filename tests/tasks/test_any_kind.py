"""A task of any kind: inputs of any shape, a network around the unit, its own loss, errors and test sets."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

import nalm
from nalm.errors import ArgumentError
from nalm.experiment.bench import do_work, make_work, table_experiment
from nalm.experiment.compute import compute
from nalm.experiment.describe import Filter, described_runs
from nalm.experiment.local import Local
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Store
from nalm.models import ModelSpec
from nalm.recipes import RMSE, Recipe
from nalm.report import tables
from nalm.tasks import MeanAbsoluteError, MeanSquaredError, Split, Table, Task, WrongNumber
from nalm.training.trainers import train_runs


class Reader(nn.Module):
    """Small pictures to numbers, then the unit under test."""

    def __init__(self, unit):
        super().__init__()
        self.read, self.unit = nn.Linear(4, 1), unit

    def forward(self, x):
        return self.unit(self.read(x.flatten(2)).flatten(1))


@dataclass(frozen=True)
class Pictures(Task):
    """The sum of what two pictures of 2 x 2 points show, each its mean brightness."""

    name = "pictures"
    in_features = 2
    tests = ("test", "brighter", "same")
    measures = (MeanSquaredError(), MeanAbsoluteError(), WrongNumber())
    loss = RMSE()
    input_shape = (2, 2, 2)
    unit_features = (2, 1)

    def network(self, unit):
        return Reader(unit)

    def shape(self):
        return (type(self),)

    def numbers(self, seed, split):
        return {"brightness": 10.0 if split == "brighter" else 1.0}

    def samples(self, split):
        return 800

    def batch(self, u, numbers):
        x = u * numbers["brightness"][:, None, None]
        pictures = x.transpose(1, 2).unflatten(-1, (2, 2, 2))
        return pictures, pictures.flatten(3).mean(-1).sum(-1, keepdim=True)

    def identity(self):
        return {"name": self.name}

    def labels(self):
        return {"picture": "2 x 2"}


def trained(**options):
    task, seeds = Pictures(), [0, 1]
    network = task.network(nalm.NAU(2, 1))
    return train_runs(network, [task] * 2, [Recipe(iterations=40)] * 2, seeds, log_interval=20, **options)


@pytest.mark.parametrize("compiled", [False, True])
def test_every_error_is_logged_on_every_set(compiled):
    result = trained(compiled=compiled)
    assert result.validation.shape == result.test.shape == (2, 3)
    names = {
        f"{split}/{name}"
        for split in ("test", "brighter", "same", "validation")
        for name in ("mse", "mae", "wrong_number")
    }
    assert set(result.errors) == names - {"validation/mse", "test/mse"}
    assert (result.errors["brighter/mse"] > 10 * result.test).all()
    assert not torch.equal(result.errors["same/mse"], result.test)  # other samples of the same kind
    assert torch.allclose(result.errors["same/mse"], result.test, rtol=0.5)
    assert (result.errors["test/mae"] ** 2 <= result.test).all()


def test_errors_are_those_of_the_network_itself():
    result = trained(compiled=False)
    task, model = Pictures(), result.model_of(0)
    x = torch.rand(1, task.draws, 50_000)
    pictures, targets = task.batch(x, {"brightness": torch.ones(1)})
    with torch.no_grad():
        ours = (model(pictures[0]) - targets[0]).square().mean()
    assert float(ours) == pytest.approx(float(result.chosen_error(Split.TEST)[0]), rel=0.2)


def test_the_loss_of_the_task_comes_before_that_of_the_recipe():
    task = Pictures()
    network = task.network(nalm.NAU(2, 1))
    runs = [
        train_runs(network, [task], [Recipe(loss=loss, iterations=5)], [0], compiled=False)
        for loss in (RMSE(), Recipe().loss)
    ]
    assert all(torch.equal(runs[0].final_parameters[k], p) for k, p in runs[1].final_parameters.items())


def test_its_runs_are_stored_with_labels_and_all_errors(tmp_path):
    run = Run(Case(ModelSpec.parse("nau"), Pictures(), iterations=20), 3)
    (record,) = compute(Chunk((run,)))
    with Store(tmp_path / "runs.sqlite") as store:
        store.add([record])
        (found,) = store.records()
    assert found.labels == {"picture": "2 x 2"}
    np.testing.assert_array_equal(found.errors["brighter/mae"], record.errors["brighter/mae"])
    assert found.sparsity is not None
    assert set(found.chosen_parameters) == {"read.weight", "read.bias", "unit.weight"}


# -- a table of numbers --------------------------------------------------------------------------


def table(rows=60, label="products"):
    x = torch.rand(rows, 2, generator=torch.Generator().manual_seed(1)) + 1
    return Table(x, x[:, 0] * x[:, 1], label=label)


def test_a_table_is_benchmarked_stored_and_resumed(tmp_path):
    def result(seeds):
        experiment = table_experiment(table(), ["nmu", "nau"], seeds=seeds, iterations=100)
        with Store(tmp_path / "runs.sqlite") as store:
            return do_work(make_work(experiment, store, 1), store, Local(1))

    first, more = result(1), result(2)
    assert (first["computed_runs"], more["computed_runs"], more["stored_runs"]) == (2, 2, 2)
    row = more["rows"][0]
    assert row["labels"] == {"table": "products"}
    assert (row["runs"], row["op"], row["train_range"], row["threshold"]) == (2, None, None, None)
    assert row["success"] == {"rate": None, "low": None, "high": None}
    assert 0 < row["errors"]["validation"] < 10
    assert more["summary"] == []


def test_a_threshold_judges_a_table(tmp_path):
    experiment = table_experiment(table(), ["nmu"], seeds=2, iterations=100)
    with Store(tmp_path / "runs.sqlite") as store:
        work = make_work(experiment, store, 1)
        assert do_work(work, store, Local(1), threshold=1e9)["rows"][0]["success"]["rate"] == 1


def test_other_rows_are_another_run():
    ours, theirs = (Run(Case(ModelSpec.parse("nmu"), table(rows)), 0).id for rows in (60, 61))
    assert ours != theirs
    assert ours == Run(Case(ModelSpec.parse("nmu"), table(label="another name")), 0).id


def test_many_rows_are_evaluated_in_blocks():
    x = torch.rand(50_000, 2)
    many = Table(x, x.sum(1), validation=0.5)
    assert many.block(Split.VALIDATION) == 6_250
    result = nalm.train("nau", many, seeds=1, iterations=10, log_interval=10, compiled=False)
    held, targets = many.rows[Split.VALIDATION]
    with torch.no_grad():
        error = (result.model(held) - targets).double().square().mean()
    assert float(error) == pytest.approx(float(result.chosen_error(Split.VALIDATION)[0]), rel=1e-4)


def test_runs_of_a_table_are_told_by_its_name(tmp_path):
    experiment = table_experiment(table(), ["nmu"], seeds=1, iterations=20)
    with Store(tmp_path / "runs.sqlite") as store:
        result = do_work(make_work(experiment, store, 1), store, Local(1))
    (row,) = tables.bench_table(result).rows
    assert (row[:2], row[4:]) == (("nmu", "products"), ("20", "1", "2"))
    assert float(row[2]) == pytest.approx(result["rows"][0]["errors"]["validation"], rel=1e-2)
    (run,) = described_runs(tmp_path / "runs.sqlite", Filter())
    assert run["outcome"] is None
    assert tables.runs_table([run]).rows[0][1:3] == ("table", "products")


def test_a_table_cannot_be_solved_by_a_benchmark_and_that_is_said_before_any_work():
    with pytest.raises(ArgumentError, match=r"For a table use `nalm.solve\(model, x, y\)`"):
        table_experiment(table(), ["nmu@second-order"])
