"""The steps: what they reach, what they leave alone, when they end."""

import itertools

import torch
from torch import nn

import nalm
from nalm.models.many import Models
from nalm.second_order import flat as flat_module
from nalm.second_order.flat import Flat
from nalm.second_order.levenberg_marquardt import minimise


def flat_of(model):
    return Flat(Models(model, torch.float64, torch.device("cpu")))


def rows(n, inputs, low=1.0, high=2.0):
    u = torch.rand(n, inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return low + (high - low) * u


def walk(flat, start, x, y, *, free=None, logarithmic=False, steps=50):
    everything = torch.ones_like(start, dtype=torch.bool)
    measure = torch.full((len(start),), logarithmic)
    return minimise(flat, start, x, y, measure, everything if free is None else free, steps)


def test_a_linear_problem_takes_a_few_steps():
    flat, x = flat_of(nalm.NAU(4, 1)), rows(40, 4)
    truth = torch.tensor([1.0, -1.0, 0.5, 0.0], dtype=torch.float64)
    path = walk(flat, torch.zeros(1, 4, dtype=torch.float64), x, (x @ truth)[:, None])
    torch.testing.assert_close(path.end[0], truth, atol=1e-10, rtol=0)
    assert path.steps[0] <= 8


def test_a_product_of_sums_is_reached_although_its_valley_is_curved():
    flat = flat_of(nn.Sequential(nalm.NAU(20, 2), nalm.NMU(2, 1)))
    x = rows(400, 20)
    y = x[:, :6].sum(1, keepdim=True) * x[:, 4:10].sum(1, keepdim=True)
    start = torch.rand(1, flat.size, dtype=torch.float64, generator=torch.Generator().manual_seed(3)) - 0.5
    start[:, -2:] = 1
    free = torch.ones_like(start, dtype=torch.bool)
    free[:, -2:] = False
    path = walk(flat, start, x, y, free=free, steps=100)
    assert (flat.predict(path.end, x) - y).abs().max() < 1e-8
    assert torch.equal(path.end[:, -2:], start[:, -2:])


def test_members_have_a_damping_and_an_end_of_their_own():
    flat, x = flat_of(nalm.NMU(3, 1)), rows(60, 3)
    y = (x[:, 0] * x[:, 2])[:, None]
    solution = torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64)
    bad = torch.tensor([30.0, -40.0, 50.0], dtype=torch.float64)
    near = solution + 0.1
    alone = walk(flat, near[None], x, y, logarithmic=True)
    together = walk(flat, torch.stack([near, bad]), x, y, logarithmic=True)
    torch.testing.assert_close(together.end[0], alone.end[0], atol=1e-9, rtol=0)
    assert together.steps[0] == alone.steps[0]


def test_the_error_never_rises():
    flat, x = flat_of(nalm.NMU(5, 1)), rows(60, 5, -2, 2)
    y = x.prod(1, keepdim=True).sin()
    path = walk(flat, torch.full((1, 5), 0.4, dtype=torch.float64), x, y, steps=30)
    errors = [float((flat.predict(v, x) - y).square().mean()) for v in path.vectors]
    assert all(after <= before for before, after in itertools.pairwise(errors))
    assert errors[-1] < errors[0]


def test_it_ends_where_nothing_is_gained():
    flat, x = flat_of(nalm.NAU(2, 1)), rows(30, 2)
    y = torch.rand(30, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    assert walk(flat, torch.zeros(1, 2, dtype=torch.float64), x, y, steps=100).steps[0] < 30


def test_pieces_of_rows_give_the_same(monkeypatch):
    flat, x = flat_of(nalm.NMU(3, 1)), rows(60, 3)
    y, start = (x[:, 0] * x[:, 2])[:, None], torch.full((1, 3), 0.5, dtype=torch.float64)
    whole = walk(flat, start, x, y)
    monkeypatch.setattr(flat_module, "BLOCK", 8 * 3 * 7)
    torch.testing.assert_close(walk(flat, start, x, y).end, whole.end, atol=1e-9, rtol=0)


def test_numbers_that_are_not_finite_end_a_member_and_leave_the_others():
    flat, x = flat_of(nalm.RealNPU(2, 1, relevance=False)), rows(60, 2)
    y = (x[:, 0] / x[:, 1])[:, None]
    start = torch.tensor([[0.5, 0.0], [1e6, 1e6]], dtype=torch.float64)
    path = walk(flat, start, x, y)
    assert path.end.isfinite().all()
    torch.testing.assert_close(path.end[0], torch.tensor([1.0, -1.0], dtype=torch.float64), atol=1e-5, rtol=0)
