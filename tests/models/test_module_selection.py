"""Selection: a hard choice forward, the gradient of a soft one backward."""

import numpy as np
import pytest
import torch

from nalm.models.selection import (
    gumbel,
    one_hot_argmax,
    select_in_evaluation,
    select_in_training,
    softargmax,
    softmax,
    st_gumbel_softmax,
    st_softmax,
    straight_through,
)


@pytest.fixture
def logits():
    return torch.tensor([[0.3, -1.0, 2.0], [0.5, 0.5, 0.4]], dtype=torch.float64, requires_grad=True)


def numpy_softmax(x, temperature=1.0):
    e = np.exp(np.asarray(x) / temperature)
    return e / e.sum(-1, keepdims=True)


# -- values --------------------------------------------------------------------------------------


def test_one_hot_marks_the_largest_and_of_equals_the_first(logits):
    assert one_hot_argmax(logits).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert one_hot_argmax(torch.zeros(4)).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("temperature", [0.1, 1.0, 10.0])
def test_softmax_is_that_of_numpy(logits, temperature):
    expected = numpy_softmax(logits.detach().numpy(), temperature)
    np.testing.assert_allclose(softmax(logits, temperature).detach(), expected, rtol=1e-14)


def test_softmax_of_large_logits_is_finite():
    assert softmax(torch.tensor([1000.0, -1000.0])).tolist() == [1, 0]


def test_straight_through_softmax_is_exactly_one_hot(logits):
    assert st_softmax(logits, 10.0).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_gumbel_noise_is_minus_log_of_minus_log():
    assert float(gumbel(torch.tensor(0.3, dtype=torch.float64))) == pytest.approx(-np.log(-np.log(0.3)))
    assert gumbel(torch.tensor([0.0, 1 - 2**-24])).isfinite().all()


def test_gumbel_softmax_chooses_with_the_probabilities_of_the_softmax():
    w = torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64)
    u = torch.rand(20_000, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    shares = st_gumbel_softmax(w.expand_as(u), u, 10.0).mean(0)
    np.testing.assert_allclose(shares, numpy_softmax(w), atol=0.01)


@pytest.mark.parametrize(("temperature", "expected"), [(1e-3, 2.0), (1e6, 1.5)])
def test_softargmax_is_the_index_from_one_or_the_mean_of_indices(temperature, expected):
    assert float(softargmax(torch.tensor([0.1, 0.4]), temperature)) == pytest.approx(expected, abs=1e-5)


def test_softargmax_is_equation_7_3(logits):
    expected = (numpy_softmax(logits.detach().numpy(), 2.0) * [1, 2, 3]).sum(-1)
    np.testing.assert_allclose(softargmax(logits, 2.0).detach(), expected, rtol=1e-14)


# -- gradients -----------------------------------------------------------------------------------


def gradient(value, *of):
    return torch.autograd.grad(value, of)


@pytest.mark.parametrize("noisy", [False, True])
def test_the_gradient_of_a_hard_choice_is_that_of_the_soft_one(logits, noisy):
    u, weight = torch.rand_like(logits), torch.rand_like(logits)
    hard = st_gumbel_softmax(logits, u, 10.0) if noisy else st_softmax(logits, 10.0)
    soft = softmax(logits + gumbel(u) if noisy else logits, 10.0)
    (found,), (expected,) = (gradient((value * weight).sum(), logits) for value in (hard, soft))
    torch.testing.assert_close(found, expected)
    assert (found != 0).all()


def test_the_text_takes_the_soft_gradient_and_line_13_the_sum_of_both():
    hard, soft = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (3.0, 0.7))
    for name, expected in (("soft", (0.0, 1.0)), ("both", (1.0, 1.0))):
        value = straight_through(2 * hard, soft, name)
        found = torch.autograd.grad(value, (hard, soft), allow_unused=True)
        assert float(value.detach()) == 6
        assert tuple(0.0 if g is None else float(g) for g in found) == (2 * expected[0], expected[1])


# -- algorithm 1 ---------------------------------------------------------------------------------


@pytest.fixture
def given():
    generator = torch.Generator().manual_seed(3)
    x, w, u = (torch.rand(s, generator=generator, dtype=torch.float64) for s in ((5, 3), (3,), (3,)))
    return x.requires_grad_(), w.requires_grad_(), u


@pytest.mark.parametrize(("g_ml", "certain"), [(-1.0, False), (0.0, False), (0.1, True)])
def test_the_gate_decides_between_the_likeliest_module_and_a_drawn_one(given, g_ml, certain):
    x, w, u = given
    noise = 0 if certain else gumbel(u)
    chosen = int((w.detach() + noise).argmax())
    found = select_in_training(x, w, torch.tensor(g_ml, dtype=torch.float64), u)
    torch.testing.assert_close(found, x[:, chosen : chosen + 1], rtol=0, atol=0)


@pytest.mark.parametrize("name", ["soft", "both"])
def test_its_gradients_are_those_of_the_pseudocode(given, name):
    x, w, u = given
    g_ml = torch.tensor(-0.4, dtype=torch.float64, requires_grad=True)
    found = gradient(select_in_training(x, w, g_ml, u, gradient=name).square().sum(), x, w, g_ml)

    def through(hard, soft):
        return (hard - soft).detach() + soft

    p = torch.sigmoid(g_ml)
    one_hot = torch.nn.functional.one_hot
    det = through(one_hot(w.argmax(), 3).double(), torch.softmax(w / 10, -1))
    noisy = w - torch.log(-torch.log(u))
    stoch = through(one_hot(noisy.argmax(), 3).double(), torch.softmax(noisy / 10, -1))
    soft = p * (x @ det) + (1 - p) * (x @ stoch)
    hard = x @ stoch
    out = through(hard, soft) if name == "soft" else hard - soft.detach() + soft
    expected = gradient(out.square().sum(), x, w, g_ml)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


def test_evaluation_takes_the_likeliest_module_whatever_the_others_give():
    outputs = torch.tensor([[1.0, torch.inf, torch.nan]])
    assert select_in_evaluation(outputs, torch.tensor([0.0, -1.0, -2.0])).tolist() == [[1.0]]


def test_models_side_by_side_are_selected_one_by_one():
    generator = torch.Generator().manual_seed(1)
    shapes = ((4, 5, 3), (4, 3), (4,), (4, 3))
    x, w, g, u = (torch.rand(shape, generator=generator, dtype=torch.float64) - 0.5 for shape in shapes)
    u = u + 0.5
    together = select_in_training(x, w, g, u)
    for k in range(4):
        torch.testing.assert_close(together[k], select_in_training(x[k], w[k], g[k], u[k]))
