"""Wrong kinds, sizes, devices and precisions: every call works or is refused in a sentence of ours."""

import inspect

import numpy as np
import pytest
import torch
from torch import nn

import nalm
from nalm.errors import NalmError
from nalm.tasks import ArithmeticDataset, SingleModule, Table
from nalm.units import UNITS

WRONG = [
    None, -1, 0, 1.5, "a", "", True, [], {}, (), float("nan"), float("inf"), np.int64(2), np.float32(2),
    torch.tensor(3), torch.tensor(2.5), object(), [1, 2], b"x", nn.Linear,
]  # fmt: skip
X = torch.rand(20, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 1
Y = X[:, 0] * X[:, 1]


def refused_or_fine(*calls):
    """Make calls; anything that is raised and is not a sentence of ours is a fault."""
    faults = []
    for call in calls:
        try:
            call()
        except NalmError:
            continue
        except Exception as error:
            faults.append(f"{inspect.getsource(call).strip()}: {type(error).__name__}: {error}")
    assert not faults


def calls_of(unit, wrong):
    own = set(inspect.signature(unit).parameters) - {"in_features", "out_features"}
    return (
        lambda: unit(wrong, 1),
        lambda: unit(2, wrong),
        *(lambda name=name: unit(2, 1, **{name: wrong}) for name in own),
        lambda: unit(2, 1).ideal_(wrong),
        lambda: unit(2, 1).ideal_(unit.ops[0], wrong, 1),
        lambda: unit.recipe(wrong),
        lambda: unit(2, 1).expression(wrong),
        lambda: unit(2, 1)(wrong),
    )


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_units(unit):
    for wrong in WRONG:
        refused_or_fine(*calls_of(unit, wrong))
    refused_or_fine(
        lambda: unit(2, 1)(torch.rand(3, 3)),
        lambda: unit(2, 1)(torch.ones(3, 2, dtype=torch.long)),
        lambda: unit(2, 1)(torch.ones(3, 2) * 1j),
        lambda: unit(2, 1)(torch.tensor(1.0)),
    )


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:20])
def test_solve(wrong):
    refused_or_fine(
        lambda: nalm.solve(wrong, X, Y),
        lambda: nalm.solve("nmu", wrong, Y),
        lambda: nalm.solve("nmu", X, wrong),
        *(
            lambda name=name: nalm.solve("nmu", X, Y, **{name: wrong})
            for name in ("names", "hidden", "starts", "grow", "steps", "seed")
        ),
    )


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:20])
def test_train(wrong):
    usual = {"iterations": 2, "log_interval": 2, "compiled": False}
    table = X.float(), Y.float()
    options = ["recipe", "seeds", "hidden", "log_interval", "dtype", "device", "on_progress", "on_logged"]
    options += ["iterations"] if wrong is not None else []  # None is all 50,000 of them
    refused_or_fine(
        lambda: nalm.train(wrong, table, **usual),
        lambda: nalm.train("nmu", wrong, **usual),
        lambda: nalm.train("nmu", (table[0], wrong), **usual),
        lambda: nalm.train("nmu", (wrong, table[1]), **usual),
        *(lambda name=name: nalm.train("nmu", table, **{**usual, name: wrong}) for name in options),
    )


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:20])
def test_helpers_and_tasks(wrong):
    unit = nalm.NMU(3, 1)
    optimizer = torch.optim.Adam(unit.parameters())
    attach = set(inspect.signature(nalm.attach).parameters) - {"model", "optimizer"}
    refused_or_fine(
        lambda: nalm.explain(wrong),
        lambda: nalm.explain(unit, wrong),
        lambda: nalm.explain(unit, tolerance=wrong),
        lambda: nalm.penalty(wrong),
        lambda: nalm.project_(wrong),
        lambda: nalm.snap_(wrong),
        lambda: nalm.sparsity_error(wrong),
        lambda: nalm.attach(wrong, optimizer),
        lambda: nalm.attach(unit, wrong),
        *(lambda name=name: nalm.attach(unit, optimizer, **{name: wrong}) for name in attach),
        lambda: Table(wrong, Y),
        lambda: Table(X, wrong),
        lambda: Table(X, Y, test=wrong),
        lambda: Table(X, Y, validation=wrong),
        *(lambda task=task: task(wrong) for task in (SingleModule, ArithmeticDataset)),
        *(lambda task=task: task("mul", wrong) for task in (SingleModule, ArithmeticDataset)),
        *(lambda task=task: task("mul", "1:2", wrong) for task in (SingleModule, ArithmeticDataset)),
    )


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:20])
def test_cells_and_calculators(wrong):
    cell = nalm.Cell("nmu", 1, 1)
    names = list(inspect.signature(nalm.Cell).parameters)
    given = dict(zip(names, ("nmu", 1, 1)))
    refused_or_fine(
        lambda: nalm.CalcNet().evaluate(wrong),
        lambda: nalm.Recurrent(wrong),
        lambda: nalm.Recurrent(cell, batch_first=wrong),
        lambda: nalm.Recurrent(cell)(wrong),
        lambda: nalm.Recurrent(cell)(torch.rand(3, 2, 1), wrong),
        lambda: nalm.Scaled.min_max(cell, wrong, Y),
        lambda: nalm.ConfiguredByLSTM(wrong, 1, 1, 1),
        lambda: nalm.ConfiguredByLSTM("nau", 1, wrong, 1),
        lambda: nalm.ConfiguredByLSTM("nau", 1, 1, 1, hidden_size=wrong),
        *(lambda name=name: nalm.Cell(**{**given, name: wrong}) for name in names),
    )


def test_devices_precisions_and_modes():
    meta, usual = nalm.NMU(3, 1, device="meta"), {"iterations": 2, "log_interval": 2, "compiled": False}
    refused_or_fine(
        lambda: nalm.explain(meta),
        lambda: nalm.penalty(meta),
        lambda: nalm.project_(meta),
        lambda: nalm.snap_(meta),
        lambda: nalm.sparsity_error(meta),
        lambda: nalm.train(meta, (X.float(), Y.float()), **usual),
        lambda: nalm.solve(meta, X, Y),
        lambda: nalm.solve(nalm.NMU(3, 1, dtype=torch.bfloat16), X, Y),
        lambda: nalm.solve(nalm.NMU(3, 1, batch_shape=(2,)), X, Y),
        lambda: nalm.solve(nn.LSTM(3, 1), X, Y),
        lambda: nalm.solve(nn.Sequential(nn.BatchNorm1d(3), nalm.NMU(3, 1)), X, Y),
        lambda: nalm.solve(nn.Sequential(nn.Linear(3, 1), nn.ReLU()), X, Y),
        lambda: nalm.solve("nmu", X[:0], Y[:0]),
        lambda: nalm.solve("nmu", X[:, :0], Y),
        lambda: nalm.train("nmu", (X.half(), Y.half()), **usual),
        lambda: nalm.train("nmu", (X.long(), Y.long()), **usual),
        lambda: nalm.explain(nn.Linear(2, 1)),
    )
    with torch.inference_mode():
        unit = nalm.NMU(3, 1)
        refused_or_fine(
            lambda: nalm.explain(unit),
            lambda: nalm.snap_(unit),
            lambda: nalm.project_(unit),
            lambda: nalm.solve(unit, X, Y),
            lambda: nalm.train(unit, (X.float(), Y.float()), **usual),
        )
    refused_or_fine(lambda: nalm.solve(unit, X, Y), lambda: nalm.train(unit, (X.float(), Y.float()), **usual))
