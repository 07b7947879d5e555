"""Units with noise: what is noisy in training is exact in evaluation, and the noise is what it says."""

import pytest
import torch
from scipy import stats

import nalm
from nalm.units.stgnmu import stgnmu

X = torch.tensor([[3.0, -2.0, 50.0], [0.25, 8.0, -1.0]], dtype=torch.float64)


def snmu(**options):
    unit = nalm.SNMU(3, 1, dtype=torch.float64, **options)
    unit.ideal_("mul", 0, 1)
    return unit


@pytest.mark.parametrize("options", [{}, {"low": 0.1, "high": 0.2}, {"noise": "batch"}])
def test_the_noise_of_the_snmu_cancels_at_ideal_weights(options):
    unit = snmu(**options)
    for mode in (True, False):
        torch.testing.assert_close(unit.train(mode)(X)[:, 0], X[:, 0] * X[:, 1], rtol=1e-12, atol=0)


def test_the_snmu_is_the_published_fraction_while_training():
    unit = nalm.SNMU(3, 2, dtype=torch.float64)
    noise = 1 + torch.rand(2, 3, dtype=torch.float64)
    unit.uniform_source = lambda shape, dtype, device: (noise - 1) / 4
    w = unit.weight
    above = ((noise * X)[:, None] * w + 1 - w).prod(-1)
    torch.testing.assert_close(unit(X), above / (noise[:, None] * w + 1 - w).prod(-1))


def test_noise_is_drawn_anew_for_each_element_and_call():
    unit = nalm.SNMU(3, 1)
    x = torch.ones(4000, 3)
    first, second = unit.draw_noise(x), unit.draw_noise(x)
    assert len(first.unique()) > 11_900
    assert not torch.equal(first, second)
    assert stats.kstest(first.numpy().ravel(), stats.uniform(1, 4).cdf).pvalue > 1e-4


def test_the_noise_of_a_batch_follows_its_deviation_each_model_its_own():
    unit = nalm.SNMU(2, 1, batch_shape=(2,), noise="batch")
    x = (
        torch.randn(2, 5000, 2, generator=torch.Generator().manual_seed(0))
        * torch.tensor([0.1, 2.0])[:, None, None]
    )
    largest = unit.draw_noise(x).amax((-2, -1))
    torch.testing.assert_close(largest, 1 + 1 / x.std((-2, -1)), rtol=2e-3, atol=0)


def test_a_batch_without_spread_has_finite_noise():
    unit = nalm.SNMU(2, 1, noise="batch")
    assert unit(torch.ones(1, 2)).isfinite().all()
    alone = nalm.SNMU(1, 1, noise="batch", batch_shape=(5,))
    assert alone(torch.ones(5, 1, 1)).isfinite().all()


def test_the_noise_of_a_batch_follows_the_usual_estimate_of_the_deviation():
    unit, x = nalm.SNMU(1, 1, noise="batch"), torch.tensor([[1.0], [2.0], [6.0]])
    unit.uniform_source = lambda shape, dtype, device: torch.ones(shape)
    torch.testing.assert_close(unit.draw_noise(x), (1 + 1 / x.std()).expand(3, 1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"low": 5.0, "high": 1.0}, "`high` must be a number above low = 5.0, but got 1.0"),
        ({"low": 0.0}, "`low` must be a number above 0, but got 0.0. Noise that touches zero"),
        ({"low": -1.0}, "`low` must be a number above 0"),
        ({"high": float("nan")}, "`high` must be a number above low"),
        ({"noise": "bach"}, "Did you mean 'batch'"),
    ],
)
def test_noise_that_cannot_be_undone_is_refused(options, message):
    with pytest.raises(nalm.ArgumentError, match=message):
        nalm.SNMU(2, 1, **options)


def test_the_gates_of_the_stgnmu_are_clipped_normal_variables():
    unit = nalm.STGNMU(1, 1, batch_shape=(20_000,), dtype=torch.float64)
    gates = unit(torch.full((20_000, 1, 1), 2.0, dtype=torch.float64)).detach().ravel() - 1
    inside = gates[(gates > 0) & (gates < 1)].numpy()
    assert float((gates == 0).double().mean()) == pytest.approx(stats.norm.cdf(-1), abs=0.01)
    assert float((gates == 1).double().mean()) == pytest.approx(stats.norm.cdf(-1), abs=0.01)
    assert stats.kstest(inside, stats.truncnorm(-1, 1, loc=0.5, scale=0.5).cdf).pvalue > 1e-4


def test_the_stgnmu_has_no_noise_in_evaluation():
    unit = nalm.STGNMU(3, 2).eval()
    x = torch.rand(4, 3)
    assert torch.equal(unit(x), unit(x))
    torch.testing.assert_close(unit(x), stgnmu(x, unit.mean, torch.zeros_like(unit.mean)))


def test_the_penalty_of_the_stgnmu_is_the_share_of_open_gates():
    unit = nalm.STGNMU(2, 1, dtype=torch.float64)
    with torch.no_grad():
        unit.mean.copy_(torch.tensor([[0.5, -1.0]]))
    assert float(unit.penalty().detach()) == pytest.approx((stats.norm.cdf(1) + stats.norm.cdf(-2)) / 2)
