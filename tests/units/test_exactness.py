"""Units with an epsilon equal their published equation, in arbitrary precision, to 1e-12."""

import mpmath
import pytest
import torch

import nalm

X = torch.tensor([[1e-6, 3.0], [2.5, 1e6], [1e6, 1e-6], [0.1, 0.2], [1e-6, 1e-6]], dtype=torch.float64)


def powers(row, signs, epsilon, signed):
    """exp(sum of w ln(|x| + eps)) cos(sum of w pi [x < 0]) with 50 digits."""
    log = sum(w * mpmath.log(abs(mpmath.mpf(x)) + mpmath.mpf(epsilon)) for w, x in zip(signs, row))
    angle = sum(w * mpmath.pi for w, x in zip(signs, row) if x < 0)
    return mpmath.exp(log) * (mpmath.cos(angle) if signed else 1)


@pytest.mark.parametrize("make", [nalm.NACMul, nalm.NALU, nalm.RealNPU])
@pytest.mark.parametrize("op", ["mul", "div"])
def test_the_published_equation_at_ideal_weights(make, op):
    unit = make(2, 1, dtype=torch.float64)
    unit.ideal_(op, 0, 1)
    signed = make is nalm.RealNPU
    x = torch.cat([X, X * torch.tensor([-1.0, 1.0])]) if signed else X
    with mpmath.workdps(50):
        for row, got in zip(x.tolist(), unit(x)[:, 0].tolist()):
            expected = powers(row, (1, 1 if op == "mul" else -1), unit.epsilon, signed)
            assert abs(got - expected) <= 1e-12 * abs(expected)


@pytest.mark.parametrize("op", ["add", "sub"])
def test_nalu_sums_are_exact_for_positive_inputs(op):
    unit = nalm.NALU(2, 1, dtype=torch.float64)
    unit.ideal_(op, 0, 1)
    a, b = X.T
    torch.testing.assert_close(unit(X)[:, 0], a + b if op == "add" else a - b, rtol=1e-12, atol=0)


def test_one_and_several_zero_factors_have_right_gradients():
    unit = nalm.NMU(3, 1, dtype=torch.float64)
    unit.ideal_("mul", 0, 1)
    with torch.no_grad():
        unit.weight[..., 2] = 1
    for row, expected in (([0.0, 2, 3], [6.0, 0, 0]), ([0.0, 0, 3], [0.0, 0, 0]), ([1.0, 2, 3], [6.0, 3, 2])):
        x = torch.tensor([row], dtype=torch.float64, requires_grad=True)
        unit(x).sum().backward()
        assert x.grad.tolist() == [expected]


def test_zero_factors_have_right_gradients_with_many_inputs():
    unit = nalm.NMU(40, 1, dtype=torch.float64)
    with torch.no_grad():
        unit.weight.fill_(1)
    x = torch.ones(1, 40, dtype=torch.float64)
    x[0, 7] = 0
    x.requires_grad_()
    unit(x).sum().backward()
    assert x.grad[0, 7] == 1
    assert x.grad.sum() == 1
