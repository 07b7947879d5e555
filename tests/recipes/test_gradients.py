import numpy as np
import pytest
import torch

from nalm.recipes.gradients import ClipNorm, ClipValue, GradientNoise, per_model
from nalm.recipes.schedules import StepState

SHAPES = {"weight": (4, 3), "gate": (3,)}
SIZES = torch.tensor([1e-6, 0.05, 1.0, 1e4], dtype=torch.float64)
MODELS = len(SIZES)


@pytest.fixture
def gradients():
    """Gradients of very different sizes from model to model."""
    generator = torch.Generator().manual_seed(1)
    return {
        name: per_model(SIZES, torch.empty(MODELS, *shape))
        * torch.randn(MODELS, *shape, generator=generator, dtype=torch.float64)
        for name, shape in SHAPES.items()
    }


def by_torch(gradients, clip, *bounds):
    """The gradients of each model on its own, treated by one of torch's functions."""
    clipped = []
    for k in range(MODELS):
        parameters = {name: torch.zeros_like(g[k]).requires_grad_() for name, g in gradients.items()}
        for name, parameter in parameters.items():
            parameter.grad = gradients[name][k].clone()
        clip(list(parameters.values()), bounds[k])
        clipped.append({name: parameter.grad for name, parameter in parameters.items()})
    return {name: torch.stack([model[name] for model in clipped]) for name in gradients}


def assert_same(got, expected):
    assert got.keys() == expected.keys()
    for name in got:
        assert torch.allclose(got[name], expected[name], rtol=1e-12, atol=0)


@pytest.mark.parametrize("norm", [0.01, 1.0, 100.0])
def test_clip_norm_is_torchs_for_each_model(gradients, norm):
    assert_same(ClipNorm(norm)(gradients), by_torch(gradients, torch.nn.utils.clip_grad_norm_, *[norm] * 4))


def test_the_norm_may_differ_from_model_to_model(gradients):
    norms = (1e-7, 0.01, 100.0, 3.0)
    clipped = ClipNorm(torch.tensor(norms, dtype=torch.float64))(gradients)
    assert_same(clipped, by_torch(gradients, torch.nn.utils.clip_grad_norm_, *norms))


def test_clip_norm_leaves_small_gradients_alone(gradients):
    clipped = ClipNorm(1.0)(gradients)
    for name in SHAPES:
        assert torch.equal(clipped[name][0], gradients[name][0])


def test_clip_norm_counts_parameters_that_are_single_numbers():
    gradients = {"scale": torch.tensor([3.0, 0.3]), "weight": torch.tensor([[4.0], [0.4]])}
    clipped = ClipNorm(1.0)(gradients)
    assert torch.allclose(clipped["scale"], torch.tensor([0.6, 0.3]))
    assert torch.allclose(clipped["weight"], torch.tensor([[0.8], [0.4]]))


def test_clip_norm_of_a_zero_gradient_is_zero():
    zeros = {"weight": torch.zeros(2, 3)}
    assert torch.equal(ClipNorm(1.0)(zeros)["weight"], zeros["weight"])


def test_a_model_without_finite_gradients_does_not_spoil_the_others(gradients):
    spoiled = {name: g.clone() for name, g in gradients.items()}
    spoiled["gate"][2, 0] = torch.nan
    usual, other = ClipNorm(1.0)(gradients), ClipNorm(1.0)(spoiled)
    for name in SHAPES:
        assert torch.equal(usual[name][[0, 1, 3]], other[name][[0, 1, 3]])


@pytest.mark.parametrize("bound", [0.1, 2.0])
def test_clip_value_is_torchs_for_each_model(gradients, bound):
    clipped = ClipValue(bound)(gradients)
    assert_same(clipped, by_torch(gradients, torch.nn.utils.clip_grad_value_, *[bound] * 4))


def test_the_bound_may_differ_from_model_to_model(gradients):
    bounds = (1e-7, 0.1, 2.0, 50.0)
    clipped = ClipValue(torch.tensor(bounds, dtype=torch.float64))(gradients)
    assert_same(clipped, by_torch(gradients, torch.nn.utils.clip_grad_value_, *bounds))


@pytest.mark.parametrize("treat", [ClipNorm(1.0), ClipValue(0.1)])
def test_clips_do_not_change_the_gradients_in_place(gradients, treat):
    before = {name: g.clone() for name, g in gradients.items()}
    treat(gradients)
    for name in SHAPES:
        assert torch.equal(gradients[name], before[name])


@pytest.mark.parametrize("treat", [ClipNorm, ClipValue])
def test_clips_keep_the_precision_of_the_gradients(gradients, treat):
    numbers = torch.ones(MODELS, dtype=torch.float64)
    clipped = treat(numbers)({name: g.float() for name, g in gradients.items()})
    assert all(g.dtype == torch.float32 for g in clipped.values())


def disturbance(noise, steps, gradients):
    """What gradient noise adds when every standard normal number is one."""
    now = StepState(torch.as_tensor(steps, dtype=torch.int32), torch.zeros(MODELS, dtype=torch.float64))
    ones = {name: torch.ones_like(g) for name, g in gradients.items()}
    zeros = {name: torch.zeros_like(g) for name, g in gradients.items()}
    return noise(zeros, ones, now)


def test_the_variance_of_gradient_noise_decays_with_the_step(gradients):
    steps = np.array([0, 1, 99, 50_000])
    expected = np.sqrt(1.0 / (1 + steps) ** 0.55)
    for added in disturbance(GradientNoise(), steps, gradients).values():
        assert np.allclose(added.reshape(MODELS, -1).numpy(), expected[:, None], rtol=1e-12)


def test_the_numbers_of_gradient_noise_may_differ_from_model_to_model(gradients):
    eta, decay = np.array([1.0, 0.3, 0.01, 0.0]), np.array([0.55, 0.0, 1.0, 0.5])
    noise = GradientNoise(torch.tensor(eta), torch.tensor(decay))
    expected = np.sqrt(eta / 10.0**decay)
    for added in disturbance(noise, [9] * MODELS, gradients).values():
        assert np.allclose(added.reshape(MODELS, -1).numpy(), expected[:, None], rtol=1e-12)


def test_gradient_noise_is_added_number_by_number(gradients):
    now = StepState(torch.zeros(MODELS, dtype=torch.int32), torch.zeros(MODELS, dtype=torch.float64))
    noise = {name: torch.arange(g.numel(), dtype=g.dtype).reshape(g.shape) for name, g in gradients.items()}
    disturbed = GradientNoise(eta=4.0)(gradients, noise, now)
    for name, g in gradients.items():
        assert torch.allclose(disturbed[name], g + 2 * noise[name], rtol=1e-12)


def test_one_number_broadcasts_over_all_models():
    assert torch.equal(per_model(2.0, torch.ones(3, 4)), torch.full((1, 1), 2.0))


def test_one_number_keeps_its_precision():
    assert per_model(0.1, torch.ones(1, dtype=torch.float64)).item() == 0.1


def test_one_number_per_model_broadcasts_over_the_rest():
    got = per_model(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64), torch.ones(3, 4, 5))
    assert got.shape == (3, 1, 1)
    assert got.dtype == torch.float32
