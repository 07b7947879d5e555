import math
import warnings

import pytest
import torch

from nalm.errors import ArgumentError
from nalm.recipes import Recipe
from nalm.recipes.centred import Centred
from nalm.recipes.optimisers import SGD, Adam, Falling, LevenbergMarquardt, RMSProp
from nalm.recipes.steps import timing_of, with_steps

RATES = (1e-3, 0.02, 0.1)
MODELS = len(RATES)
STEPS = 40


def column(*values):
    return torch.tensor(values, dtype=torch.float64)


def start():
    generator = torch.Generator().manual_seed(2)
    shapes = {"weight": (2, 3), "gate": (3,)}
    return {
        name: torch.randn(MODELS, *shape, generator=generator, dtype=torch.float64)
        for name, shape in shapes.items()
    }


def loss(parameters):
    """One value per model, neither convex nor separable, with gradients from tiny to large."""
    coupled = parameters["weight"] * parameters["gate"].unsqueeze(-2)
    rest = (torch.sin(3 * parameters["gate"]) + 1e-4 * parameters["gate"] ** 4).sum(-1)
    return (coupled - 0.7).square().sum((-2, -1)) + rest


def path(optimiser):
    """Every parameter after every step, all models side by side."""
    parameters = start()
    state, visited = optimiser.start(parameters), []
    for _ in range(STEPS):
        leaves = {name: p.detach().requires_grad_() for name, p in parameters.items()}
        found = torch.autograd.grad(loss(leaves).sum(), list(leaves.values()))
        detached = {name: p.detach() for name, p in leaves.items()}
        parameters, state = optimiser.step(detached, dict(zip(leaves, found)), state)
        visited.append({name: p.clone() for name, p in parameters.items()})
    return visited


def path_by_torch(k, make):
    """Every parameter after every step of model k trained on its own by torch."""
    leaves = {name: p[k].clone().requires_grad_() for name, p in start().items()}
    optimiser, visited = make(list(leaves.values())), []
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss(leaves).backward()
        optimiser.step()
        visited.append({name: p.detach().clone() for name, p in leaves.items()})
    return visited


def assert_follows(optimiser, makes):
    together = path(optimiser)
    for k, make in enumerate(makes):
        for ours, theirs in zip(together, path_by_torch(k, make), strict=True):
            for name in theirs:
                assert torch.allclose(ours[name][k], theirs[name], rtol=1e-9, atol=1e-12)


def test_adam_follows_torch_with_a_rate_for_each_model():
    makes = [lambda p, r=r: torch.optim.Adam(p, lr=r) for r in RATES]
    assert_follows(Adam(column(*RATES)), makes)


def test_adam_follows_torch_with_all_numbers_for_each_model():
    betas, epsilons = ((0.9, 0.999), (0.5, 0.9), (0.0, 0.99)), (1e-8, 1e-3, 0.1)
    makes = [
        lambda p, r=r, b=b, e=e: torch.optim.Adam(p, lr=r, betas=b, eps=e)
        for r, b, e in zip(RATES, betas, epsilons)
    ]
    beta1, beta2 = zip(*betas)
    assert_follows(Adam(column(*RATES), column(*beta1), column(*beta2), column(*epsilons)), makes)


@pytest.mark.parametrize("optimiser", [Adam(0.01), Adam(learning_rate=0.1, beta1=0.5)])
def test_adam_follows_torch_with_one_rate_for_all(optimiser):
    betas = (optimiser.beta1, optimiser.beta2)
    makes = [lambda p: torch.optim.Adam(p, lr=optimiser.learning_rate, betas=betas)] * MODELS
    assert_follows(optimiser, makes)


def test_sgd_follows_torch():
    rates = (1e-3, 0.01, 0.05)
    assert_follows(SGD(column(*rates)), [lambda p, r=r: torch.optim.SGD(p, lr=r) for r in rates])


def test_sgd_with_momentum_follows_torch():
    rates, momenta = (1e-3, 0.01, 0.03), (0.9, 0.5, 0.0)
    makes = [lambda p, r=r, m=m: torch.optim.SGD(p, lr=r, momentum=m) for r, m in zip(rates, momenta)]
    assert_follows(SGD(column(*rates), column(*momenta)), makes)


def test_sgd_without_momentum_keeps_no_state():
    assert SGD(0.1).start(start()) == {}


def test_rmsprop_follows_torch():
    decays, epsilons = (0.99, 0.9, 0.5), (1e-8, 1e-3, 0.1)
    makes = [
        lambda p, r=r, d=d, e=e: torch.optim.RMSprop(p, lr=r, alpha=d, eps=e)
        for r, d, e in zip(RATES, decays, epsilons)
    ]
    assert_follows(RMSProp(column(*RATES), column(*decays), column(*epsilons)), makes)


OPTIMISERS = [Adam(), SGD(), SGD(momentum=0.9), RMSProp(), Falling(Adam(), 0.0, 10.0)]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_a_step_does_not_change_what_it_is_given(optimiser):
    parameters, gradients = start(), start()
    state = optimiser.start(parameters)
    given = {**parameters, **state}
    before = {name: tensor.clone() for name, tensor in given.items()}
    optimiser.step(parameters, gradients, state)
    assert all(torch.equal(given[name], before[name]) for name in given)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_a_zero_gradient_from_the_start_moves_nothing(optimiser):
    parameters = start()
    zeros = {name: torch.zeros_like(p) for name, p in parameters.items()}
    after, _ = optimiser.step(parameters, zeros, optimiser.start(parameters))
    assert all(torch.equal(after[name], parameters[name]) for name in parameters)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_parameters_keep_their_precision_and_the_state_its_names(optimiser):
    parameters = {name: p.float() for name, p in start().items()}
    state = optimiser.start(parameters)
    after, new = optimiser.step(parameters, parameters, state)
    assert all(p.dtype == torch.float32 for p in after.values())
    assert {name: t.dtype for name, t in new.items()} == {name: t.dtype for name, t in state.items()}


def test_adam_in_float32_stays_close_to_float64_over_many_steps():
    narrow = {"w": torch.ones(1, 1)}
    wide = {"w": torch.ones(1, 1, dtype=torch.float64)}
    optimiser = Adam(1e-3)
    states = [optimiser.start(narrow), optimiser.start(wide)]
    for step in range(2000):
        gradient = 1.0 + step % 7
        narrow, states[0] = optimiser.step(narrow, {"w": torch.full_like(narrow["w"], gradient)}, states[0])
        wide, states[1] = optimiser.step(wide, {"w": torch.full_like(wide["w"], gradient)}, states[1])
    assert narrow["w"].item() == pytest.approx(wide["w"].item(), abs=1e-4)


@pytest.mark.parametrize(
    "optimiser", [Adam(0.01), Adam(0.1, 0.5, 0.9, 1e-3), Falling(Adam(0.1), 2.0, 8.0), SGD(0.1)]
)
def test_a_step_of_one_model_is_the_same_step(optimiser):
    parameters = {name: p[:1] for name, p in start().items()}
    states = [optimiser.start(parameters)] * 2
    ours = theirs = parameters
    for step in range(10):
        gradients = {name: torch.sin(p + step) for name, p in theirs.items()}
        ours, states[0] = optimiser.step_one(ours, gradients, states[0])
        theirs, states[1] = optimiser.step(theirs, gradients, states[1])
        torch.testing.assert_close({**ours, **states[0]}, {**theirs, **states[1]}, rtol=1e-9, atol=1e-12)


def test_a_step_of_one_model_takes_gradients_of_any_layout_and_changes_nothing_it_is_given():
    p = {"w": torch.rand(1, 3, 4)}
    plain = {"w": torch.rand(1, 3, 4)}
    turned = {"w": plain["w"].mT.contiguous().mT}
    state = Adam().start(p)
    before = {name: value.clone() for name, value in {**p, **plain, **state}.items()}
    assert torch.equal(Adam().step_one(p, turned, state)[0]["w"], Adam().step_one(p, plain, state)[0]["w"])
    assert all(torch.equal(value, before[name]) for name, value in {**p, **plain, **state}.items())


def test_centred_is_the_other_optimiser_until_inputs_are_seen():
    for name, p in path(Centred(Adam(1e-2)))[-1].items():
        torch.testing.assert_close(p, path(Adam(1e-2))[-1][name])


def test_centred_makes_a_sum_of_inputs_far_from_zero_equally_steep_in_all_directions():
    generator = torch.Generator().manual_seed(0)
    x = 1.1 + 0.1 * torch.rand(1, 4000, 5, generator=generator, dtype=torch.float64)
    optimiser = Centred(SGD(1.0))
    state = optimiser.look(optimiser.start({"w": torch.zeros(1, 1, 5)}), ["w"], x)
    direction = state["direction:w"][0]
    coordinates = torch.eye(5, dtype=torch.float64) - torch.outer(direction, direction)
    curvature = torch.linalg.eigvalsh(coordinates @ (x[0].T @ x[0] / 4000) @ coordinates)
    assert curvature[-1] / curvature[0] < 1.2
    assert torch.linalg.cond(x[0].T @ x[0]) > 5000


def test_centred_moves_only_the_weights_that_meet_the_inputs_in_other_coordinates():
    p = {"w": torch.zeros(1, 1, 2), "v": torch.zeros(1, 1, 2)}
    optimiser = Centred(SGD(1.0), warm=0.0)
    state = optimiser.look(optimiser.start(p), ["w"], torch.tensor([[[3.001, 4.0], [3.0, 4.001]]]))
    along = {"w": torch.tensor([[[3.0, 4.0]]]), "v": torch.tensor([[[3.0, 4.0]]])}
    after, _ = optimiser.step(p, along, state)
    torch.testing.assert_close(after["w"], torch.zeros(1, 1, 2), atol=1e-2, rtol=0)
    torch.testing.assert_close(after["v"], torch.tensor([[[-3.0, -4.0]]]))


def test_centred_starts_the_other_optimiser_afresh_when_its_coordinates_begin():
    p = {"w": torch.zeros(1, 1, 2, dtype=torch.float64)}
    optimiser = Centred(Adam(1e-2), warm=3.0)
    state = optimiser.start(p)
    for gradient, step in ((1e6, 1e-2), (1e6, 1e-2), (1e6, 1e-2), (1.0, 1e-2)):
        after, state = optimiser.step(p, {"w": torch.full_like(p["w"], gradient)}, state)
        torch.testing.assert_close((p["w"] - after["w"]).flatten(), column(step, step))
        p = after


def test_levenberg_marquardt_has_starts():
    with pytest.raises(ArgumentError, match="starts"):
        LevenbergMarquardt(starts=0, grow=False)
    assert LevenbergMarquardt(starts=0).grow


def test_centred_leaves_inputs_without_a_deviation_or_a_mean_alone():
    p = {"w": torch.zeros(2, 1, 2)}
    optimiser = Centred(SGD(1.0), warm=0.0)
    x = torch.tensor([[[0.0, 0.0], [0.0, 0.0]], [[3.0, 4.0], [3.0, 4.0]]])
    state = optimiser.look(optimiser.start(p), ["w"], x)
    after, _ = optimiser.step(p, {"w": torch.ones(2, 1, 2)}, state)
    assert after["w"].tolist() == [[[-1, -1]], [[-1, -1]]]


def test_centred_refuses_what_it_cannot_wrap():
    for wrong in ({"optimiser": Centred()}, {"optimiser": LevenbergMarquardt()}, {"warm": -1}, {"warm": "x"}):
        with pytest.raises(ArgumentError):
            Centred(**wrong)


# -- a learning rate that falls ------------------------------------------------------------------


def rates(optimiser, steps):
    """The learning rate of each step: how far a parameter moves whose gradient never changes.

    With betas of zero, Adam moves every parameter by its learning rate.
    """
    p = {"w": torch.zeros(1, 1, dtype=torch.float64)}
    state, found = optimiser.start(p), []
    for _ in range(steps):
        after, state = optimiser.step(p, {"w": torch.ones_like(p["w"])}, state)
        found.append(float(p["w"] - after["w"]))
        p = after
    return found


PLAIN = Adam(0.1, beta1=0.0, beta2=0.0, epsilon=0.0)


def test_the_rate_is_whole_until_it_begins_to_fall_and_zero_at_the_end():
    found = rates(Falling(PLAIN, 4.0, 12.0), 16)
    expected = [0.1 * min(1, max(0, (12 - step) / 8)) for step in range(16)]
    assert found == pytest.approx(expected, abs=1e-15)
    assert (found[0], found[4], found[12], found[15]) == (pytest.approx(0.1), pytest.approx(0.1), 0, 0)
    assert found[8] == pytest.approx(0.05)  # half way


def test_a_rate_that_never_falls_is_that_of_adam():
    adam = Adam(column(*RATES))  # in a program every model has its own rate
    ours, theirs = path(Falling(adam, 1e6, 2e6)), path(adam)
    for one, other in zip(ours, theirs, strict=True):
        assert all(torch.equal(one[name], other[name]) for name in other)


def test_a_falling_rate_is_that_of_torchs_schedule():
    def make(parameters):
        optimiser = torch.optim.Adam(parameters, lr=0.02)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda t: min(1, max(0, (30 - t) / 20)))
        step = optimiser.step

        def both():
            step()
            schedule.step()

        optimiser.step = both
        return optimiser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch cannot see that the step is taken
        assert_follows(Falling(Adam(0.02), 10.0, 30.0), [make] * MODELS)


def test_rates_and_steps_may_differ_from_model_to_model():
    optimiser = Falling(Adam(column(*RATES)), column(0.0, 10.0, 1e6), column(20.0, 30.0, 2e6))
    together = path(optimiser)
    alone = [path(Falling(Adam(r), a, b)) for r, a, b in zip(RATES, (0.0, 10.0, 1e6), (20.0, 30.0, 2e6))]
    for k in range(MODELS):
        for ours, theirs in zip(together, alone[k], strict=True):
            assert all(torch.allclose(ours[name][k], theirs[name][k], rtol=1e-12) for name in ours)


def test_the_state_knows_how_far_the_rate_has_fallen():
    optimiser, p = Falling(PLAIN, 0.0, 10.0), {"w": torch.zeros(1, 1, dtype=torch.float64)}
    gradient, state = {"w": torch.ones_like(p["w"])}, None
    state = optimiser.start(p)
    for _ in range(5):
        p, state = optimiser.step(p, gradient, state)
    kept = {name: tensor.clone() for name, tensor in state.items()}
    resumed, _ = Falling(PLAIN, 0.0, 10.0).step(p, gradient, kept)
    assert float(p["w"] - resumed["w"]) == pytest.approx(0.05)
    assert {t.shape[0] for t in state.values()} == {1}


def test_a_rate_that_falls_at_once_is_never_undefined():
    found = rates(Falling(PLAIN, 3.0, 3.0), 6)
    assert all(math.isfinite(rate) for rate in found)
    assert found[:3] == pytest.approx([0.1] * 3)
    assert found[4:] == [0, 0]


def test_fewer_steps_let_the_rate_fall_earlier():
    recipe = Recipe(optimiser=Falling(Adam(1e-2), 500.0, 1000.0), iterations=1000)
    short = with_steps(recipe, 100)
    assert short.optimiser == Falling(Adam(1e-2), 50.0, 100.0)
    assert with_steps(recipe, 5000).optimiser == recipe.optimiser
    change = (
        "Falling lets the learning rate fall from step 50 to 100, "
        "where the recipe lets the learning rate fall from step 500 to 1,000"
    )
    assert timing_of(short, recipe).changes == (change,)
    cut = timing_of(with_steps(recipe, 100, "published"), recipe)
    assert cut.kind == "cut"
    assert cut.missed == (
        "Falling does not reach zero: it lets the learning rate fall from step 500 to 1,000",
    )


def test_its_learning_rate_is_that_of_the_first_steps():
    assert Falling(Adam(0.02)).learning_rate == 0.02
    assert Recipe(optimiser=Falling(Adam(0.02), 1.0, 2.0)).trainer == "engine"
