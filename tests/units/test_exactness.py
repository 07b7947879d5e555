"""Units with an epsilon equal their published equation, in arbitrary precision, to 1e-12."""

import mpmath
import pytest
import references
import torch

import nalm

X = torch.tensor([[1e-6, 3.0], [2.5, 1e6], [1e6, 1e-6], [0.1, 0.2], [1e-6, 1e-6]], dtype=torch.float64)


def powers(row, signs, epsilon, signed):
    """exp(sum of w ln(|x| + eps)) cos(sum of w pi [x < 0]) with 50 digits."""
    log = sum(w * mpmath.log(abs(mpmath.mpf(x)) + mpmath.mpf(epsilon)) for w, x in zip(signs, row))
    angle = sum(w * mpmath.pi for w, x in zip(signs, row) if x < 0)
    return mpmath.exp(log) * (mpmath.cos(angle) if signed else 1)


@pytest.mark.parametrize("make", [nalm.NACMul, nalm.NALU, nalm.GNALU, nalm.RealNPU, nalm.NPU])
@pytest.mark.parametrize("op", ["mul", "div"])
def test_the_published_equation_at_ideal_weights(make, op):
    unit = make(2, 1, dtype=torch.float64)
    unit.ideal_(op, 0, 1)
    signed = issubclass(make, nalm.RealNPU)
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


SIGNED = torch.cat([X, X * torch.tensor([-1.0, 1.0]), -X, torch.tensor([[2e4, 3e4], [1e-8, 5.0]])]).double()


@pytest.mark.parametrize("make", [nalm.INACMul, nalm.INALU])
@pytest.mark.parametrize("op", ["mul", "div"])
def test_the_capped_product_of_the_inalu_is_the_published_equation(make, op):
    unit = make(2, 1, dtype=torch.float64)
    unit.ideal_(op, 0, 1)
    with mpmath.workdps(50):
        for (a, b), got in zip(SIGNED.tolist(), unit(SIGNED)[:, 0].tolist()):
            log_a, log_b = (mpmath.log(max(abs(mpmath.mpf(v)), mpmath.mpf(1e-7))) for v in (a, b))
            log = min(log_a + log_b if op == "mul" else log_a - log_b, mpmath.mpf(20))
            expected = mpmath.exp(log) * mpmath.sign(a) * mpmath.sign(b)
            assert abs(got - expected) <= 1e-12 * abs(expected)


@pytest.mark.parametrize("op", ["mul", "div"])
def test_the_nmru_is_the_published_equation(op):
    unit = nalm.NMRU(2, 1, dtype=torch.float64)
    unit.ideal_(op, 0, 1)
    with mpmath.workdps(50):
        for (a, b), got in zip(SIGNED.tolist(), unit(SIGNED)[:, 0].tolist()):
            expected = mpmath.mpf(a) * (b if op == "mul" else 1 / (mpmath.mpf(b) + mpmath.mpf(unit.epsilon)))
            assert abs(got - expected) <= 1e-12 * abs(expected)


@pytest.mark.parametrize("op", ["and", "or", "not", "nand", "nor", "implies"])
@pytest.mark.parametrize("de_morgan", [False, True])
def test_the_rules_of_the_nlrl_are_the_published_equation(op, de_morgan):
    unit = nalm.NLRL(2, 1, dtype=torch.float64, de_morgan=de_morgan)
    unit.ideal_(op, 0, 1)
    weight, gates = unit.weights()["W"][0], unit.gates()
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    with mpmath.workdps(50):
        for row, got in zip(x.tolist(), unit(x)[:, 0].tolist()):
            hats = [1 - v if n > 0.5 else v for v, n in zip(row, gates["negation"][0])]
            used = [mpmath.mpf(h) for h, w in zip(hats, weight) if w > 0.5]
            both = mpmath.fprod(h + mpmath.mpf(unit.epsilon) for h in used)
            either = 1 - mpmath.fprod(1 - h for h in used)
            expected = both if gates["output"][0] < 0.5 else 1 - both if de_morgan else either
            assert abs(got - expected) <= 1e-12


@pytest.mark.parametrize("op", ["mul", "div"])
@pytest.mark.parametrize("sign", ["together", "separate"])
@pytest.mark.parametrize("training", [False, True])
def test_the_nru_is_exact(op, sign, training):
    unit = nalm.NRU(2, 1, dtype=torch.float64, sign=sign).train(training)
    unit.ideal_(op, 0, 1)
    a, b = SIGNED.T
    torch.testing.assert_close(unit(SIGNED)[:, 0], a * b if op == "mul" else a / b, rtol=1e-12, atol=0)


def test_the_nru_is_finite_at_zero_even_where_it_divides():
    unit = nalm.NRU(2, 1, dtype=torch.float64)
    unit.ideal_("div", 0, 1)
    x = torch.tensor([[1.0, 0.0], [0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    y = unit(x)
    y.sum().backward()
    assert y.tolist() == [[0.0], [0.0]]
    assert x.grad.isfinite().all()
    assert unit.weight.grad.isfinite().all()


def test_the_disjunction_of_a_thousand_inputs_is_computed():
    unit = nalm.NLRL(1000, 2, dtype=torch.float64)
    unit.select_(torch.ones(2, 1000, dtype=torch.float64))
    with torch.no_grad():
        unit.output.fill_(120.0)
    x = torch.zeros(2, 1000, dtype=torch.float64)
    x[1, 777] = 1
    assert unit(x).tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_the_closed_form_of_the_disjunction_is_the_kronecker_product():
    unit = nalm.NLRL(10, 1, dtype=torch.float64)
    with torch.no_grad():
        unit.output.fill_(120.0)
    x = torch.rand(5, 10, dtype=torch.float64)
    expected = references.nlrl(x.numpy(), {name: p.detach().numpy() for name, p in unit.named_parameters()})
    torch.testing.assert_close(unit(x), torch.as_tensor(expected), rtol=1e-12, atol=1e-12)


def test_both_outputs_of_the_nsr_sum_to_one():
    unit = nalm.NSR(3, 4, both=True, redundancy=2)
    y = unit(torch.randn(6, 3))
    torch.testing.assert_close(y[:, :2] + y[:, 2:], torch.ones(6, 2))


def test_redundant_pairs_of_the_nsr_are_summed_before_the_logistic_function():
    one, two = nalm.NSR(3, 1, dtype=torch.float64), nalm.NSR(3, 1, redundancy=2, dtype=torch.float64)
    for name, parameter in one.named_parameters():
        with torch.no_grad():
            held = two.get_parameter(name)
            held.copy_(parameter.expand_as(held) if parameter.dim() == 1 else parameter.expand(2, 3))
    x = torch.randn(5, 3, dtype=torch.float64)
    torch.testing.assert_close(torch.logit(two(x)), 2 * torch.logit(one(x)))


def test_the_nmru_is_exact_in_evaluation_if_asked_to_be():
    unit = nalm.NMRU(2, 1, dtype=torch.float64, exact_evaluation=True).eval()
    unit.ideal_("div", 0, 1)
    a, b = SIGNED.T
    torch.testing.assert_close(unit(SIGNED)[:, 0], a / b, rtol=1e-12, atol=0)
    assert unit(torch.tensor([[3.0, 0.0]], dtype=torch.float64)).item() == 0


@pytest.mark.parametrize("sign", ["together", "separate"])
def test_a_zero_input_of_the_nru_counts_by_its_weight(sign):
    unit = nalm.NRU(1, 1, dtype=torch.float64, sign=sign).eval()
    with torch.no_grad():
        unit.weight.fill_(0.3)
    assert unit(torch.zeros(1, 1, dtype=torch.float64)).item() == pytest.approx(0.7)


@pytest.mark.parametrize("inputs", [3, 50])
@pytest.mark.parametrize("options", [{"sign": "together"}, {"sign": "separate"}])
def test_one_zero_factor_of_the_nru_has_the_right_slope(inputs, options):
    unit = nalm.NRU(inputs, 1, dtype=torch.float64, **options).eval()
    _check_slope(unit, inputs)


@pytest.mark.parametrize("inputs", [3, 50])
def test_one_zero_factor_of_the_nmru_has_the_right_slope(inputs):
    _check_slope(nalm.NMRU(inputs, 1, dtype=torch.float64), inputs)


def _check_slope(unit, inputs):
    weight = torch.zeros(1, inputs, dtype=torch.float64)
    weight[0, :3] = 1
    unit.select_(weight)
    x = torch.full((1, inputs), 2.0, dtype=torch.float64)
    x[0, 0] = 0
    x.requires_grad_()
    unit(x).sum().backward()
    assert x.grad[0, 0].item() == pytest.approx(4)
    assert x.grad[0, 1:].abs().max().item() == pytest.approx(0, abs=1e-12)
