"""Recipes in a user's own loop: rates, clips, clamps and penalties of each unit on its own parameters."""

import copy

import pytest
import torch
from torch import nn

import nalm
from nalm.recipes.schedules import StepState
from nalm.training.attach import FASTEST, one_of


def stack(*shape):
    torch.manual_seed(0)
    return nn.Sequential(nalm.NAU(3, 2, batch_shape=shape), nalm.NMRU(2, 1, batch_shape=shape))


def attached(model, kind=torch.optim.Adam, **options):
    optimizer = kind(model.parameters(), lr=0.5)
    return optimizer, nalm.attach(model, optimizer, **{"iterations": 50_000, "op": "div", **options})


def step(model, optimizer, schedule, loss=None):
    loss = model(torch.ones(4, 3)).sum() if loss is None else loss
    optimizer.zero_grad()
    (loss + schedule.penalty(loss)).backward()
    optimizer.step()


def rates(optimizer):
    return {group.get("unit"): group["lr"] for group in optimizer.param_groups}


# -- rates ---------------------------------------------------------------------------------------


def test_every_unit_has_its_published_rate_in_as_many_steps():
    assert rates(attached(stack())[0]) == {"0": 1e-3, "1": 1e-2}


def test_in_fewer_steps_rates_grow_in_proportion_up_to_a_bound():
    optimizer, _ = attached(stack(), iterations=5000)
    assert rates(optimizer) == pytest.approx({"0": 1e-2, "1": FASTEST})


def test_other_layers_keep_their_own_rate_and_decay():
    model = nn.Sequential(nn.Linear(3, 3), nalm.NAU(3, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.5, weight_decay=0.1)
    nalm.attach(model, optimizer, iterations=50_000)
    decays = {group.get("unit"): group["weight_decay"] for group in optimizer.param_groups}
    assert rates(optimizer) == {None: 0.5, "1": 1e-3}
    assert decays == {None: 0.1, "1": 0.0}
    assert sum(len(group["params"]) for group in optimizer.param_groups) == 3


def test_rates_of_another_kind_of_optimizer_are_left_alone():
    optimizer, schedule = attached(stack(), torch.optim.SGD)
    assert rates(optimizer) == {None: 0.5}
    assert "your own learning rate" in str(schedule)


# -- penalties -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("at", "part"), [(0, 0.0), (20, 0.0), (27, 7 / 15), (35, 1.0), (49, 1.0)])
def test_the_window_shrinks_with_the_steps(at, part):
    model = stack()
    _, schedule = attached(model, iterations=50)
    schedule.step = at
    value = schedule.penalty(torch.tensor(1.0))
    assert value.item() == pytest.approx(10 * part * nalm.penalty(model).item(), abs=1e-6)


def test_the_l1_of_a_real_npu_is_the_published_one():
    unit = nalm.RealNPU(2, 1)
    _, schedule = attached(unit)
    total = sum(p.detach().abs().sum() for p in unit.parameters())
    for at, strength in ((0, 1e-9), (10_000, 1e-8), (20_000, 1e-7), (40_000, 1e-7)):
        schedule.step = at
        assert schedule.penalty(torch.tensor(1.0)).item() == pytest.approx(float(strength * total), rel=1e-4)


def test_strength_multiplies_all_penalties():
    model = stack()
    values = []
    for strength in (1.0, 0.1):
        _, schedule = attached(model, strength=strength)
        schedule.step = 40_000
        values.append(schedule.penalty(torch.tensor(1.0)).item())
    assert values[1] == pytest.approx(0.1 * values[0])


def test_a_penalty_that_waits_for_the_loss_sees_it():
    unit = nalm.INALU(2, 1)
    _, schedule = attached(unit)
    schedule.step = 20_000
    recipe, now = unit.recipe("div"), StepState(torch.tensor([20_000.0]), torch.tensor([0.5]))
    batched = nalm.INALU(2, 1, batch_shape=(1,))
    batched.load_state_dict({name: p[None] for name, p in unit.state_dict().items()})
    expected = sum(penalty(batched, now) for penalty in recipe.penalties)
    assert schedule.penalty(torch.tensor(2.0)).item() == 0
    assert schedule.penalty(torch.tensor(0.5)).item() == pytest.approx(expected.item()) != 0


@pytest.mark.parametrize("shape", [(4,), (2, 3)])
def test_models_side_by_side_have_a_penalty_each(shape):
    model = stack(*shape)
    _, schedule = attached(model)
    schedule.step = 40_000
    assert torch.allclose(schedule.penalty(torch.ones(shape)), 10 * nalm.penalty(model))


def test_the_penalty_reaches_the_units():
    model = stack()
    _, schedule = attached(model)
    schedule.step = 40_000
    schedule.penalty(torch.tensor(1.0)).backward()
    assert all(p.grad.abs().sum() > 0 for p in model.parameters())


# -- the step ------------------------------------------------------------------------------------


def test_gradients_are_clipped_unit_by_unit_and_model_by_model():
    model = stack(2)
    optimizer, schedule = attached(model, torch.optim.SGD)
    for p in model.parameters():
        p.grad = torch.full_like(p, 100.0)
    optimizer.step()
    assert (model[0].weight.grad == 100).all()
    assert torch.allclose(model[1].weight.grad.flatten(1).norm(dim=-1), torch.ones(2))
    assert schedule.step == 1


def test_weights_stay_in_their_bounds_until_it_is_removed():
    model = stack()
    optimizer, schedule = attached(model, torch.optim.SGD)
    step(model, optimizer, schedule, -100 * model[0].weight.sum())
    assert (model[0].weight == 1).all()
    schedule.remove()
    step(model, optimizer, schedule, -100 * model[0].weight.sum())
    assert (model[0].weight > 1).all()
    assert schedule.step == 1


def test_bounds_of_another_recipe_are_kept_too():
    unit = nalm.RealNPU(2, 1)
    optimizer, schedule = attached(unit, torch.optim.SGD, recipe="modified-zero")
    loss = -100 * (unit.weight.sum() + unit.gate.sum())
    step(unit, optimizer, schedule, loss)
    assert unit.weight.tolist() == [[1, 1]]
    assert unit.gate.tolist() == [1, 1]


def test_a_frozen_unit_is_left_alone():
    frozen = nalm.NMU(2, 1).requires_grad_(False)
    model = nn.Sequential(nalm.NAU(3, 2), frozen)
    optimizer = torch.optim.Adam(model[0].parameters())
    schedule = nalm.attach(model, optimizer, iterations=10)
    before = frozen.weight.clone()
    step(model, optimizer, schedule)
    assert torch.equal(frozen.weight, before)
    assert "nmu" not in str(schedule)


# -- the best of many ----------------------------------------------------------------------------


def test_the_best_is_the_one_with_the_lowest_loss_as_a_model_of_its_own():
    model = stack(3)
    optimizer, schedule = attached(model, iterations=1)
    with pytest.raises(nalm.ArgumentError, match=r"one per model held side by side.*none yet"):
        schedule.best()
    x = torch.rand(5, 3)
    schedule.penalty(torch.tensor([2.0, torch.nan, 1.0]))
    best = schedule.best()
    assert torch.equal(best(x), model(x.expand(3, -1, -1))[2])
    assert best[0].batch_shape == ()
    best[0].weight.data.zero_()
    assert (model[0].weight != 0).any()
    assert len(optimizer.param_groups) == 2


def test_the_best_needs_a_loss_for_each_model():
    _, schedule = attached(stack(3), iterations=1)
    schedule.penalty(torch.tensor(1.0))
    with pytest.raises(nalm.ArgumentError, match=r"got \(\) for models of shape \(3,\)"):
        schedule.best()


def test_one_of_many_keeps_what_is_frozen_and_shares_other_layers():
    model = nn.Sequential(nn.Linear(3, 3), nalm.NAU(3, 1, batch_shape=(2, 2)).requires_grad_(False))
    single = one_of(model, (1, 0))
    assert torch.equal(single[1].weight, model[1].weight[1, 0])
    assert not single[1].weight.requires_grad
    assert torch.equal(single[0].weight, model[0].weight)


# -- checkpoints, wrong arguments ----------------------------------------------------------------


def test_a_resumed_loop_goes_on_as_if_it_had_not_ended():
    model = stack()
    optimizer, schedule = attached(model, iterations=8)
    for _ in range(4):
        step(model, optimizer, schedule)
    twin = copy.deepcopy(model)
    again, other = attached(twin, iterations=8)
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    other.load_state_dict(schedule.state_dict())
    for _ in range(4):
        step(model, optimizer, schedule)
        step(twin, again, other)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters()))
    assert other.step == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": 0}, "`iterations` must be a positive whole number"),
        ({"op": "add-up"}, "`op` must be one of add, sub, mul, div"),
        ({"recipe": "second-order"}, "`recipe` must be one of published"),
        ({"recipe": "unclip"}, "Did you mean 'unclipped'"),
        ({"strength": -1}, "`strength` must be a number above 0"),
        ({"iterations": None}, "`iterations` must be the number of steps"),
    ],
)
def test_wrong_options_are_told(options, message):
    with pytest.raises(nalm.ArgumentError, match=message):
        attached(stack(), **options)


def test_an_optimizer_that_cannot_do_is_told():
    model = stack()
    with pytest.raises(nalm.ArgumentError, match=r"LBFGS.*nalm\.solve"):
        nalm.attach(model, torch.optim.LBFGS(model.parameters()), iterations=10)
    with pytest.raises(nalm.ArgumentError, match="has none of them"):
        nalm.attach(model, torch.optim.Adam(nalm.NAU(2, 1).parameters()), iterations=10)


def test_a_loss_must_be_a_tensor():
    _, schedule = attached(stack())
    with pytest.raises(nalm.ArgumentError, match="`loss` must be the loss of this step"):
        schedule.penalty(0.5)


@pytest.mark.parametrize("name", nalm.units.UNITS)
def test_the_recipe_of_every_unit_works_in_a_loop(name):
    torch.manual_seed(0)
    unit = nalm.units.UNITS[name](3, 1)
    optimizer = torch.optim.Adam(unit.parameters())
    schedule = nalm.attach(unit, optimizer, iterations=4)
    for _ in range(4):
        step(unit, optimizer, schedule)
    assert all(p.isfinite().all() for p in unit.parameters())
    assert f"{name} for {unit.ops[0]}" in str(schedule)
