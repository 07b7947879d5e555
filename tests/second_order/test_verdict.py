"""What may be said of discrete weights."""

import pytest
import torch
from torch import nn

import nalm
from nalm.models.many import Models
from nalm.second_order.alternatives import open_weights
from nalm.second_order.flat import Flat
from nalm.second_order.formula import formula_values, is_readable
from nalm.second_order.quality import qualities
from nalm.second_order.solution import Found
from nalm.second_order.verdict import has_trace_of, too_few_rows, verdict


def flat_of(model):
    return Flat(Models(model, torch.float64, torch.device("cpu")))


def rows(n=200, inputs=3, seed=0):
    return 1 + torch.rand(n, inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def noise(n=200, seed=1):
    return torch.randn(n, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def vector(*values):
    return torch.tensor(values, dtype=torch.float64)


def said(model, weights, x, y):
    flat = flat_of(model)
    (quality,) = qualities(flat, weights[None], x, y)
    return verdict(flat, weights, x, y, quality)


def test_a_formula_that_meets_every_row_is_exact():
    x = rows()
    found = said(nalm.NMU(3, 1), vector(1, 0, 1), x, x[:, :1] * x[:, 2:])
    assert found.found is Found.EXACT
    assert found.notes == ()


def test_weights_with_noise_are_discrete_where_it_is_noise():
    x = rows()
    found = said(nalm.NMU(3, 1), vector(1, 0, 1), x, x[:, :1] * x[:, 2:] + 0.1 * noise())
    assert found.found is Found.DISCRETE
    assert 0.01 < found.unexplained < 0.2


def test_nothing_is_said_of_weights_whose_next_value_is_as_good():
    x = rows()
    y = 577.3 * x[:, :1] + 200 * noise()
    assert said(nalm.Linear(3, 1, bias=False), vector(577, 0, 0), x, y) is None


def test_nothing_is_said_where_what_is_left_can_be_told_from_the_inputs():
    x = rows()
    y = x[:, :1] + 0.05 * (12 * x[:, :1]).sin() + 0.3 * (x[:, 1:2] - 1.5) ** 2
    assert said(nalm.NAU(3, 1), vector(1, 0, 0), x, y) is None


def test_a_formula_has_no_epsilons():
    x = rows()
    x[0, 1] = 1e-6
    flat, weights = flat_of(nalm.NMRU(3, 1)), vector(1, 0, 0, 0, 1, 0)
    exact = x[:, :1] / x[:, 1:2]
    assert torch.equal(formula_values(flat, weights, x), exact)
    assert (flat.predict(weights[None], x)[0] - exact).abs().max() > 1e-3
    assert said(nalm.NMRU(3, 1), weights, x, exact).found is Found.EXACT


def test_truth_values_are_read_as_such_or_not_at_all():
    flat = flat_of(nalm.NLRL(2, 1))
    unit = nalm.NLRL(2, 1, dtype=torch.float64)
    unit.ideal_("and", 0, 1)
    weights = torch.cat([p.detach().flatten() for p in unit.parameters()])
    truths = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=torch.float64)
    assert formula_values(flat, weights, truths)[:, 0].tolist() == [0, 0, 0, 1]
    assert formula_values(flat, weights, truths + 0.25) is None


def test_frozen_weights_that_are_not_discrete_cannot_be_read():
    model = nn.Sequential(nalm.NAU(3, 2), nalm.NMU(2, 1))
    model[1].weight.requires_grad_(False)
    assert is_readable(flat_of(model), vector(1, 0, 0, 0, 1, 0, 1, 1))
    assert not is_readable(flat_of(model), vector(1, 0, 0, 0, 1, 0, 0.5, 1))


def test_rows_must_be_more_than_weights_and_say_more_than_choosing_takes():
    flat, weights, fine = flat_of(nalm.NAU(3, 1)), vector(1, 0, 0), torch.full((200, 1), 1e-15).double()
    x = rows()
    y = x[:, :1]
    assert too_few_rows(flat, weights, x[:3], y[:3], fine[:3]).startswith("3 distinct rows could not")
    assert too_few_rows(flat, weights, x[:4], y[:4], fine[:4]) == ""
    coarse = torch.full((200, 1), 0.2).double()
    assert "too little information" in too_few_rows(flat, weights, x[:8], y[:8], coarse[:8])
    whole = x.round()
    assert "too little information" in too_few_rows(flat, weights, whole, whole[:, :1], fine)


@pytest.mark.parametrize("allowed", [None, 1e-12])
def test_weights_that_columns_leave_open_are_seen(allowed):
    x = rows()
    x[:, 2] = x[:, 0] * x[:, 1]
    y = x[:, :1] * x[:, 1:2]
    limit = None if allowed is None else torch.full_like(y, allowed)
    flat = flat_of(nalm.NMU(3, 1))
    assert not open_weights(flat, vector(1, 1, 0), x, y, limit)
    x[:, 2] = 1.0
    assert open_weights(flat, vector(1, 1, 0), x, y, limit)


def test_weights_without_effect_are_not_open():
    x = rows()
    flat = flat_of(nn.Sequential(nalm.NAU(3, 2), nalm.NMU(2, 1)))
    weights = vector(1, 0, 0, 0, 1, 0, 1, 0)  # the second sum is not used
    assert not open_weights(flat, weights, x, x[:, :1], torch.full((200, 1), 1e-12).double())


def test_noise_has_no_trace_of_the_inputs():
    x = rows(1000)
    y = x[:, 0] + 0.1 * noise(1000)[:, 0]
    assert not has_trace_of(x, x[:, 0], y)
    assert has_trace_of(x, x[:, 0], y + 0.1 * x[:, 1])
    assert has_trace_of(x, x[:, 0], y + 0.5 * (x[:, 1] - 1.5) ** 2)


def test_a_quotient_of_nothing_has_no_formula():
    flat = flat_of(nn.Sequential(nalm.NAU(2, 2), nalm.NRU(2, 1)))
    assert formula_values(flat, vector(1, 0, 0, 0, 1, -1), rows(inputs=2)) is None
