"""A formula as a module of PyTorch: the same values, gradients, and numbers that can be trained."""

import copy
import io
import pickle

import numpy as np
import pytest
import sympy as sp
import torch

from nalm.discover.fit.formula import Formula
from nalm.discover.fit.module import FormulaModule

A, B, C = SYMBOLS = tuple(sp.Symbol(name, real=True) for name in "abc")
EXPRESSIONS = [
    A * B**2 / 2,
    sp.Float(2.5, 15) * A / (B + sp.Float(0.75, 15) * C),
    sp.sqrt(A**2 + B**2),
    C / sp.sqrt(A + B) - sp.pi,
    A ** sp.Rational(3, 2) * B**-3,
    sp.Float(4.5, 15),
    B,
]
X = np.random.default_rng(0).uniform(1, 4, (20, 3))
INPUTS = torch.from_numpy(X)


def module(*expressions):
    return FormulaModule(expressions, SYMBOLS)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_its_values_are_those_of_the_formula(expression):
    made = module(expression)(INPUTS)
    assert made.shape == (20, 1)
    np.testing.assert_allclose(made[:, 0].detach(), Formula(expression, SYMBOLS)(X), rtol=1e-14)


@pytest.mark.parametrize("expression", EXPRESSIONS[:5], ids=str)
def test_its_gradients_by_inputs_and_numbers_are_right(expression):
    made = module(expression)
    assert torch.autograd.gradcheck(made, INPUTS[:4].clone().requires_grad_())
    slopes = torch.autograd.functional.jacobian(lambda x: made(x).sum(), INPUTS)
    np.testing.assert_allclose(slopes, Formula(expression, SYMBOLS).slopes(X), rtol=1e-12, atol=1e-14)


def test_several_formulas_are_several_outputs():
    made = module(*EXPRESSIONS)
    assert (made.in_features, made.out_features) == (3, len(EXPRESSIONS))
    alone = torch.cat([module(expression)(INPUTS) for expression in EXPRESSIONS], -1)
    assert torch.equal(made(INPUTS), alone)


def test_inputs_may_have_any_shape_before_the_columns():
    made = module(EXPRESSIONS[0], EXPRESSIONS[1])
    assert made(INPUTS[0]).shape == (2,)
    assert torch.equal(made(INPUTS.reshape(4, 5, 3)), made(INPUTS).reshape(4, 5, 2))


def test_float32_inputs_give_float32_outputs():
    made = module(EXPRESSIONS[1])(INPUTS.float())
    assert made.dtype == torch.float32
    torch.testing.assert_close(made.double(), module(EXPRESSIONS[1])(INPUTS), rtol=1e-6, atol=0)


def test_its_numbers_are_trained_back():
    made = module(EXPRESSIONS[1])
    right, target = made.constants.detach().clone(), made(INPUTS).detach()
    with torch.no_grad():
        made.constants.mul_(1.1)
    for _ in range(6):  # Gauss-Newton steps
        outputs = made(INPUTS)[:, 0]
        slopes = [torch.autograd.grad(row, made.constants, retain_graph=True)[0] for row in outputs]
        step = torch.linalg.lstsq(torch.stack(slopes), target - outputs.detach()[:, None]).solution[:, 0]
        with torch.no_grad():
            made.constants.add_(step)
    torch.testing.assert_close(made.constants.detach(), right, rtol=1e-12, atol=0)


def test_exponents_are_no_parameters():
    assert module(A**2 * B ** sp.Rational(1, 2)).constants.numel() == 0


@pytest.mark.parametrize("again", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_are_equal_and_of_their_own(again):
    made = module(*EXPRESSIONS[:3])
    other = again(made)
    assert torch.equal(other(INPUTS), made(INPUTS))
    with torch.no_grad():
        other.constants.zero_()
    assert not torch.equal(other(INPUTS), made(INPUTS))


def test_its_state_goes_into_another_of_the_same_formula():
    made, other = module(EXPRESSIONS[1]), module(sp.Float(1.0, 15) * A / (B + sp.Float(9.0, 15) * C))
    file = io.BytesIO()
    torch.save(made.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file))
    assert torch.equal(other(INPUTS), made(INPUTS))


def test_it_is_printed_with_its_formulas():
    assert "a*b**2/2" in repr(module(EXPRESSIONS[0]))


def test_it_can_be_a_part_of_a_network():
    network = torch.nn.Sequential(module(A * B, A + C), torch.nn.Linear(2, 1, dtype=torch.float64))
    network(INPUTS).sum().backward()
    assert all(p.grad is not None for p in network.parameters() if p.numel())
