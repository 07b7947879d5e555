import numpy as np
import pytest
import torch

from nalm.recipes.losses import MAPE, MSE, PCC, RMSE, CrossEntropy, PCCThenMSE
from nalm.recipes.schedules import StepState

MODELS, SAMPLES, OUTPUTS = 3, 50, 2


def at(step, models=MODELS):
    return StepState(
        torch.full((models,), step, dtype=torch.int32), torch.full((models,), torch.inf, dtype=torch.float64)
    )


@pytest.fixture
def pair():
    """Predictions and targets that are correlated, of either sign and nowhere zero."""
    generator = torch.Generator().manual_seed(0)
    target = torch.randn(MODELS, SAMPLES, OUTPUTS, generator=generator, dtype=torch.float64)
    target = target + target.sign()
    noise = torch.randn(MODELS, SAMPLES, OUTPUTS, generator=generator, dtype=torch.float64)
    return target + 0.3 * noise, target


def expected_mse(prediction, target):
    return np.array([np.mean((p - t) ** 2) for p, t in zip(prediction.numpy(), target.numpy())])


def expected_pcc(prediction, target):
    return np.array(
        [
            np.mean([1 - np.corrcoef(p[:, k], t[:, k])[0, 1] for k in range(OUTPUTS)])
            for p, t in zip(prediction.numpy(), target.numpy())
        ]
    )


@pytest.mark.parametrize("loss", [MSE(), RMSE(), MAPE(), PCC(), PCCThenMSE()])
def test_a_loss_is_one_value_per_model_in_the_precision_of_the_data(loss, pair):
    for dtype in (torch.float32, torch.float64):
        prediction, target = (tensor.to(dtype) for tensor in pair)
        value = loss(prediction, target, at(0))
        assert value.shape == (MODELS,)
        assert value.dtype == dtype


@pytest.mark.parametrize("loss", [MSE(), RMSE(), MAPE(), PCC(), PCCThenMSE()])
def test_a_model_does_not_see_the_others(loss, pair):
    alone = [loss(pair[0][k : k + 1], pair[1][k : k + 1], at(0, 1)) for k in range(MODELS)]
    assert torch.equal(loss(*pair, at(0)), torch.cat(alone))


@pytest.mark.parametrize("loss", [MSE(), RMSE(), MAPE(), PCC(), PCCThenMSE()])
def test_gradients_are_those_of_finite_differences(loss, pair):
    prediction = pair[0][:, :6].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda p: loss(p, pair[1][:, :6], at(0)), prediction)


def test_mse_averages_samples_and_outputs(pair):
    assert np.allclose(MSE()(*pair, at(0)).numpy(), expected_mse(*pair), rtol=1e-12)


def test_rmse_is_the_root_of_mse(pair):
    assert np.allclose(RMSE()(*pair, at(0)).numpy(), np.sqrt(expected_mse(*pair)), rtol=1e-12)


def test_rmse_of_an_exact_model_is_zero_with_a_gradient_of_zero(pair):
    prediction = pair[0].clone()
    prediction[1] = pair[1][1]
    prediction.requires_grad_()
    loss = RMSE()(prediction, pair[1], at(0))
    (gradient,) = torch.autograd.grad(loss.sum(), prediction)
    assert loss[1] == 0
    assert (gradient[1] == 0).all()
    assert gradient.isfinite().all()
    assert (gradient[[0, 2]] != 0).all()


def test_mape_divides_by_the_size_of_the_target(pair):
    prediction, target = (tensor.numpy() for tensor in pair)
    expected = [np.mean(np.abs(p - t) / np.abs(t)) for p, t in zip(prediction, target)]
    assert np.allclose(MAPE()(*pair, at(0)).numpy(), expected, rtol=1e-12)


def test_mape_does_not_reward_errors_of_negative_targets():
    target = torch.tensor([[[-2.0]]])
    assert MAPE()(target + 1, target, at(0, 1)).item() == 0.5


def test_pcc_is_one_minus_pearsons_correlation(pair):
    assert np.allclose(PCC()(*pair, at(0)).numpy(), expected_pcc(*pair), rtol=0, atol=1e-6)


def test_pcc_ignores_scale_and_offset_of_predictions(pair):
    scaled = PCC()(7 * pair[0] - 3, pair[1], at(0))
    assert torch.allclose(scaled, PCC()(*pair, at(0)), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("slope", "expected"), [(2.0, 0.0), (-2.0, 2.0)])
def test_pcc_is_zero_for_a_rising_line_and_two_for_a_falling_one(pair, slope, expected):
    value = PCC()(slope * pair[1] + 1, pair[1], at(0))
    assert torch.allclose(value, torch.full_like(value, expected), rtol=0, atol=1e-6)


def test_pcc_of_a_constant_prediction_is_one_with_a_finite_gradient(pair):
    prediction = torch.full_like(pair[0], 4.0).requires_grad_()
    loss = PCC()(prediction, pair[1], at(0))
    (gradient,) = torch.autograd.grad(loss.sum(), prediction)
    assert torch.allclose(loss, torch.ones_like(loss))
    assert gradient.isfinite().all()


def test_the_epsilon_of_pcc_may_differ_from_model_to_model(pair):
    epsilons = (1e-8, 1e-2, 3.0)
    together = PCC(torch.tensor(epsilons, dtype=torch.float64))(*pair, at(0))
    alone = [PCC(e)(*pair, at(0))[k] for k, e in enumerate(epsilons)]
    assert torch.allclose(together, torch.stack(alone), rtol=1e-12)


def test_pcc_comes_before_the_switch_and_mse_from_it_on(pair):
    loss = PCCThenMSE(switch=100.0)
    assert torch.equal(loss(*pair, at(0)), PCC()(*pair, at(0)))
    assert torch.equal(loss(*pair, at(99)), PCC()(*pair, at(0)))
    assert torch.equal(loss(*pair, at(100)), MSE()(*pair, at(0)))
    assert torch.equal(loss(*pair, at(101)), MSE()(*pair, at(0)))


def test_the_switch_may_differ_from_model_to_model(pair):
    switch = torch.tensor([10.0, 20.0, 30.0], dtype=torch.float64)
    value = PCCThenMSE(switch)(*pair, at(20))
    pcc, mse = PCC()(*pair, at(0)), MSE()(*pair, at(0))
    assert torch.equal(value, torch.stack([mse[0], mse[1], pcc[2]]))


def test_the_published_switch_is_step_750_000(pair):
    assert torch.equal(PCCThenMSE()(*pair, at(749_999)), PCC()(*pair, at(0)))
    assert torch.equal(PCCThenMSE()(*pair, at(750_000)), MSE()(*pair, at(0)))


# -- classes -------------------------------------------------------------------------------------


def classes(dtype=torch.float64, spread=3.0):
    """Logits and classes, of which the first is sometimes far from any other."""
    generator = torch.Generator().manual_seed(1)
    logits = spread * torch.randn(MODELS, SAMPLES, 6, generator=generator, dtype=dtype)
    return logits, torch.randint(0, 6, (MODELS, SAMPLES), generator=generator)


def one_hot(labels, dtype=torch.float64):
    return torch.nn.functional.one_hot(labels, 6).to(dtype)


@pytest.mark.parametrize("spread", [0.1, 3.0, 1000.0])
def test_cross_entropy_is_that_of_torch(spread):
    logits, labels = classes(spread=spread)
    value = CrossEntropy()(logits, one_hot(labels), at(0))
    expected = [torch.nn.functional.cross_entropy(each, own) for each, own in zip(logits, labels)]
    assert value.shape == (MODELS,)
    torch.testing.assert_close(value, torch.stack(expected), rtol=1e-12, atol=0)


def test_gradients_of_cross_entropy_are_those_of_torch():
    logits, labels = classes()
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    CrossEntropy()(ours, one_hot(labels), at(0)).sum().backward()
    sum(torch.nn.functional.cross_entropy(each, own) for each, own in zip(theirs, labels)).backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-12, atol=1e-15)


def test_cross_entropy_keeps_the_precision_and_no_model_sees_the_others():
    logits, labels = classes(torch.float32)
    value = CrossEntropy()(logits, one_hot(labels, torch.float32), at(0))
    assert value.dtype == torch.float32
    alone = [
        CrossEntropy()(logits[k : k + 1], one_hot(labels[k : k + 1], torch.float32), at(0, 1))
        for k in range(MODELS)
    ]
    assert torch.equal(value, torch.cat(alone))


def test_equal_logits_have_the_entropy_of_all_classes_and_certain_ones_none():
    _, labels = classes()
    equal = CrossEntropy()(torch.zeros(MODELS, SAMPLES, 6), one_hot(labels, torch.float32), at(0))
    assert equal.tolist() == pytest.approx([np.log(6)] * MODELS)
    assert (CrossEntropy()(1e4 * one_hot(labels), one_hot(labels), at(0)) == 0).all()
