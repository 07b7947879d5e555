"""Models as functions of one vector: predictions and derivatives are those of the models themselves."""

import pytest
import torch
from torch import nn

import nalm
from nalm.models.many import Models
from nalm.second_order import flat as module
from nalm.second_order.flat import Flat

MODELS = {
    "unit": lambda: nalm.NMU(3, 2),
    "stack": lambda: nn.Sequential(nalm.NAU(3, 2), nalm.NMRU(2, 2)),
    "gates": lambda: nalm.RealNPU(3, 2),
    "plain": lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)),
}


def flat_of(model):
    return Flat(Models(model, torch.float64, torch.device("cpu")))


def vectors_of(flat, members):
    return torch.rand(members, flat.size, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_the_model(name):
    model = MODELS[name]().double()
    flat, x = flat_of(model), torch.rand(5, 3, dtype=torch.float64)
    vectors = vectors_of(flat, 2)
    for k in range(2):
        model.load_state_dict({n: p[k] for n, p in flat.named(vectors).items()})
        torch.testing.assert_close(flat.predict(vectors, x)[k], model.eval()(x))


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_are_those_of_torch(name):
    flat, x = flat_of(MODELS[name]()), torch.rand(4, 3, dtype=torch.float64) + 0.5
    vectors = vectors_of(flat, 2)
    _, derivatives = flat.jacobian(vectors, x)
    for k in range(2):
        expected = torch.func.jacrev(lambda v: flat.predict(v[None], x)[0])(vectors[k])
        torch.testing.assert_close(derivatives[k], expected)


def test_a_vector_goes_there_and_back():
    flat = flat_of(MODELS["stack"]())
    vectors = vectors_of(flat, 3)
    assert torch.equal(flat.flatten(flat.named(vectors)), vectors)


def test_rows_are_those_of_the_matrices():
    flat = flat_of(nn.Sequential(nalm.NAU(3, 2), nalm.NMU(2, 1)))
    assert [(row.unit, row.place.start, row.place.stop) for row in flat.rows()] == [
        (0, 0, 3),
        (0, 3, 6),
        (1, 6, 8),
    ]
    assert [row.unit for row in flat_of(MODELS["plain"]()).rows()] == [None] * 8


def test_a_change_leaves_frozen_parameters_alone():
    model = nn.Sequential(nalm.NAU(2, 1), nalm.NMU(1, 1))
    model[1].weight.requires_grad_(False)
    flat = flat_of(model)
    changed = flat.changed(vectors_of(flat, 2), lambda m: [unit.snap_() for unit in m])
    assert torch.equal(changed[:, 2:], vectors_of(flat, 2)[:, 2:])
    assert set(changed[:, :2].flatten().tolist()) <= {0, 1}


def test_frozen_parameters_are_not_trainable():
    model = nn.Sequential(nalm.NAU(3, 2), nalm.NMU(2, 1))
    model[1].weight.requires_grad_(False)
    assert flat_of(model).trainable().tolist() == [True] * 6 + [False] * 2


def test_long_data_are_taken_in_pieces(monkeypatch):
    flat = flat_of(nalm.NMU(3, 1))
    assert len(flat.pieces(2, 100, 1)) == 1
    monkeypatch.setattr(module, "BLOCK", 8 * 2 * 3 * 30)
    pieces = flat.pieces(2, 100, 1)
    assert [len(range(100)[piece]) for piece in pieces] == [30, 30, 30, 10]
