import numpy as np
import pytest
import torch
from scipy import integrate, stats

import nalm
from nalm.recipes.initialisers import (
    Constant,
    Normal,
    Uniform,
    half_capped,
    tanh_sigmoid,
    torch_linear,
    xavier_uniform,
)
from nalm.streams import Purpose, counters, key, uniform


@pytest.fixture(scope="module")
def u():
    seeds = torch.arange(100, dtype=torch.int32)
    return uniform(key(seeds, Purpose.INIT, 0), counters(1000), torch.float64)


@pytest.mark.parametrize(
    ("in_features", "out_features", "bound"),
    [(2, 1, 9.471), (1, 1, 9.471), (4, 1, 9.471), (10, 1, 2.260), (100, 2, 0.504)],
)
def test_tanh_sigmoid_has_the_known_bounds(in_features, out_features, bound):
    initial = tanh_sigmoid(in_features, out_features)
    assert initial.high == pytest.approx(bound, abs=1e-3)
    assert initial.low == -initial.high


@pytest.mark.parametrize("sizes", [(2, 1), (10, 1), (100, 2), (1000, 1000)])
def test_tanh_sigmoid_gives_weights_the_variance_two_over_fan(sizes):
    r = tanh_sigmoid(*sizes).high
    tanh_square = integrate.quad(lambda w: np.tanh(w) ** 2, -r, r)[0] / (2 * r)
    logistic_square = integrate.quad(lambda m: 1 / (1 + np.exp(-m)) ** 2, -r, r)[0] / (2 * r)
    assert tanh_square * logistic_square == pytest.approx(2 / max(sum(sizes), 5), rel=1e-6)


@pytest.mark.parametrize(
    ("in_features", "out_features", "gain", "bound"),
    [(2, 1, 1.0, 1.41421356), (10, 1, 1.0, 0.73854895), (2, 1, 2.0, 2.82842712)],
)
def test_xavier_has_the_known_bounds(in_features, out_features, gain, bound):
    initial = xavier_uniform(in_features, out_features, gain)
    assert (initial.low, initial.high) == pytest.approx((-bound, bound))


@pytest.mark.parametrize(
    ("in_features", "out_features", "bound"), [(2, 1, 0.5), (10, 1, 0.5), (22, 2, 0.5), (100, 2, 0.24253563)]
)
def test_half_capped_is_xavier_but_at_most_one_half(in_features, out_features, bound):
    initial = half_capped(in_features, out_features)
    assert (initial.low, initial.high) == pytest.approx((-bound, bound))


def test_torch_linear_has_the_bounds_of_torch():
    torch.manual_seed(0)
    layer = torch.nn.Linear(16, 1000)
    initial = torch_linear(16, 1000)
    assert initial.high == -initial.low == 0.25
    for drawn in (layer.weight, layer.bias):
        assert 0.24 < float(drawn.detach().abs().max()) <= 0.25


def test_uniform_is_uniform(u):
    x = Uniform(-2.0, 3.0)(u).numpy().ravel()
    assert -2 <= x.min() < x.max() < 3
    assert stats.kstest(x, stats.uniform(-2, 5).cdf).pvalue > 1e-4


def test_normal_is_normal(u):
    x = Normal(0.88, 0.2)(u).numpy().ravel()
    assert stats.kstest(x, stats.norm(0.88, 0.2).cdf).pvalue > 1e-4


def test_constant_is_constant(u):
    assert (Constant(0.5)(u) == 0.5).all()


@pytest.mark.parametrize("initialiser", [Uniform(-1, 1), Normal(0, 1), Constant(0.5), tanh_sigmoid(2, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_shape_and_precision_are_kept(initialiser, dtype):
    made = initialiser(torch.rand(3, 2, 4, dtype=dtype))
    assert made.shape == (3, 2, 4)
    assert made.dtype == dtype


NAC_BOUND = 9.471
BOUNDS = [
    (nalm.NAC, "w_hat", -NAC_BOUND, NAC_BOUND),
    (nalm.NAC, "m_hat", -NAC_BOUND, NAC_BOUND),
    (nalm.NACMul, "w_hat", -NAC_BOUND, NAC_BOUND),
    (nalm.NALU, "w_hat", -NAC_BOUND, NAC_BOUND),
    (nalm.NAU, "weight", -0.5, 0.5),
    (nalm.NMU, "weight", 0.25, 0.75),
    (nalm.RealNPU, "weight", -1.41421356, 1.41421356),
    (nalm.NPU, "weight", -1.41421356, 1.41421356),
    (nalm.GNALU, "w_hat", -NAC_BOUND, NAC_BOUND),
    (nalm.GNALU, "gate", -1.41421356, 1.41421356),
    (nalm.SNMU, "weight", 0.25, 0.75),
    (nalm.NRU, "weight", -0.5, 0.5),
    (nalm.NMRU, "weight", 0.25, 0.75),
    (nalm.NLRL, "weight", -0.5, 0.5),
    (nalm.NLRL, "output", -0.5, 0.5),
]


@pytest.mark.parametrize(("kind", "parameter", "low", "high"), BOUNDS)
def test_units_with_two_inputs_start_uniformly_within_the_published_bounds(kind, parameter, low, high):
    generator = torch.Generator().manual_seed(0)
    unit = kind(2, 1, batch_shape=(5000,), dtype=torch.float64)
    unit.reset_parameters(generator)
    values = getattr(unit, parameter).detach().numpy().ravel()
    width = high - low
    assert values.min() == pytest.approx(low, abs=2e-3 * width)
    assert values.max() == pytest.approx(high, abs=2e-3 * width)
    assert values.mean() == pytest.approx((low + high) / 2, abs=4 * width / np.sqrt(12 * values.size))
    assert values.var() == pytest.approx(width**2 / 12, rel=0.04)


def test_the_gates_of_the_realnpu_start_half_open():
    assert (nalm.RealNPU(3, 2).gate == 0.5).all()


NORMAL = [
    ("benchmark", "w_hat", 0.88, 0.2),
    ("benchmark", "m_hat_mul", 0.5, 0.2),
    ("benchmark", "gate", 0.0, 0.2),
    ("authors", "w_hat_mul", 1.0, 0.1),
    ("authors", "m_hat", -1.0, 0.1),
    ("authors", "gate", 0.0, 0.1),
]


@pytest.mark.parametrize(("initial", "parameter", "mean", "deviation"), NORMAL)
def test_the_inalu_starts_normally(initial, parameter, mean, deviation):
    unit = nalm.INALU(2, 1, batch_shape=(5000,), dtype=torch.float64, initial=initial)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    values = getattr(unit, parameter).detach().numpy().ravel()
    assert stats.kstest(values, stats.norm(mean, deviation).cdf).pvalue > 1e-4


def test_the_imaginary_weights_of_the_npu_start_at_zero_and_the_gates_of_the_stgnmu_half_open():
    assert (nalm.NPU(3, 2).imaginary == 0).all()
    assert (nalm.STGNMU(3, 2).mean == 0.5).all()


@pytest.mark.parametrize("variance", [0.1, 1.0, 3.0])
def test_a_known_input_variance_is_kept_by_the_nmu(variance):
    unit = nalm.NMU(3, 1, batch_shape=(200_000,), dtype=torch.float64, input_variance=variance)
    generator = torch.Generator().manual_seed(0)
    unit.reset_parameters(generator)
    x = torch.randn(200_000, 1, 3, dtype=torch.float64, generator=generator) * variance**0.5
    assert float(unit(x).detach().var()) == pytest.approx(variance, rel=0.1)
    assert float(unit.weight.detach().mean()) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("variance", [0.0, -1.0, 1e6])
def test_an_input_variance_that_cannot_be_kept_is_refused(variance):
    with pytest.raises(nalm.ArgumentError, match="`input_variance`"):
        nalm.NMU(3, 1, input_variance=variance)
