"""The experiments of the iNALU's authors: their layers, their training, their tasks."""

import math

import numpy as np
import pytest
import torch
from in_process import computed

from nalm.errors import ArgumentError
from nalm.experiment.run import Run
from nalm.papers.entries import ENTRIES
from nalm.papers.scale import Scale
from nalm.papers.schloer2020.programs import runs
from nalm.papers.schloer2020.programs import training as inalu_training
from nalm.papers.schloer2020.programs.layers import KINDS, sign
from nalm.papers.schloer2020.programs.rules import RULES
from nalm.papers.schloer2020.programs.tasks import (
    FUNCTIONS,
    MINIMAL,
    SIMPLE_FUNCTION,
    FourOperations,
    InputDistribution,
)
from nalm.papers.schloer2020.programs.training import (
    ADAM,
    BEST,
    RMSPROP,
    Data,
    EpochPlan,
    Past,
    Start,
    errors,
    initial_state,
    penalty_slope,
    train,
)
from nalm.papers.shared.networks import final_model
from nalm.streams import Purpose

BY_NAME = {kind.name: kind for kind in KINDS}
KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
DATASETS, TASKS, SAMPLES = 2, 3, 5


def variables(kind, sizes):
    torch.manual_seed(0)
    shapes = kind.shapes(sizes)
    return {name: torch.randn(DATASETS, TASKS, *shape, dtype=torch.float64) for name, shape in shapes.items()}


def by_hand(name, values, x):
    """One layer of one model on one sample, with loops, as the equations stand in the paper."""
    weights = [np.tanh(w) / (1 + np.exp(-m)) for w, m in zip(values["w"], values["m"])]
    total, product = weights[0] @ x, []
    for row in weights[-1]:
        exponent = sum(
            w * math.log(abs(v) + 1e-7 if name[0] == "N" else max(abs(v), 1e-7)) for w, v in zip(row, x)
        )
        factors = [math.copysign(1, v) * abs(w) + 1 - abs(w) for w, v in zip(row, x)]
        product.append(
            math.exp(exponent) if name[0] == "N" else math.exp(min(exponent, 20)) * math.prod(factors)
        )
    gate = values["g"] @ x if name[0] == "N" else values["g"][:, 0]
    g = 1 / (1 + np.exp(-gate))
    return g * total + (1 - g) * np.array(product)


@KIND
@pytest.mark.parametrize("n_in", [2, 6], ids=["few inputs", "many inputs"])
def test_layers_are_the_equations_of_the_paper(kind, n_in):
    made = variables(kind, (n_in, 2))
    x = 3 * torch.randn(DATASETS, 1, n_in, SAMPLES, dtype=torch.float64)
    y = kind.forward(made, x)
    assert y.shape == (DATASETS, TASKS, 2, SAMPLES)
    for d, t, s in np.ndindex(DATASETS, TASKS, SAMPLES):
        values = {
            "w": [made[f"w0{k}"][d, t].numpy() for k in range(kind.pairs)],
            "m": [made[f"m0{k}"][d, t].numpy() for k in range(kind.pairs)],
            "g": made["g0"][d, t].numpy(),
        }
        expected = by_hand(kind.name, values, x[d, 0, :, s].numpy())
        np.testing.assert_allclose(y[d, t, :, s], expected, rtol=1e-9)


def test_the_vector_gate_has_one_gate_for_all_outputs_and_the_matrix_gate_one_each():
    assert BY_NAME["NALU(vector gate)"].shapes((100, 2, 1))["g0"] == (1, 100)
    assert BY_NAME["NALU(matrix gate)"].shapes((100, 2, 1))["g0"] == (2, 100)
    assert BY_NAME["iNALU(shared W)"].shapes((100, 2, 1))["g0"] == (2, 1)


def test_the_inalu_caps_its_exponent_at_20():
    kind = BY_NAME["iNALU(shared W)"]
    made = {name: torch.full((1, 1, *shape), 20.0) for name, shape in kind.shapes((2, 1)).items()}
    made["g0"] = -made["g0"]
    y = kind.forward(made, torch.tensor([1e10, 1e10]).reshape(1, 1, 2, 1))
    assert float(y) == pytest.approx(math.exp(20), rel=1e-3)


def test_the_sign_of_many_inputs_has_the_gradient_of_the_product_even_where_a_factor_is_zero():
    torch.manual_seed(1)
    weight = torch.rand(1, 1, 1, 6, dtype=torch.float64)
    weight[..., 2] = 0.5  # this factor, 1 - 2|W|, is exactly 0
    x = -torch.ones(1, 1, 6, 1, dtype=torch.float64)
    found, expected = weight.clone().requires_grad_(), weight.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(sign(x, found).sum(), found)
    (reference,) = torch.autograd.grad((1 - 2 * expected.abs()).prod(), expected)
    torch.testing.assert_close(gradient, reference)


@pytest.mark.parametrize("kind", KINDS[2:], ids=lambda kind: kind.name)
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
def test_the_inalu_solves_every_operation_with_saturated_variables(kind, operation):
    task = list(FUNCTIONS).index(operation)
    made = {name: torch.full((7, 4, *shape), 20.0) for name, shape in kind.shapes((2, 1)).items()}
    if operation in ("sub", "div"):
        for k in range(kind.pairs):
            made[f"w0{k}"][..., 1] = -20
    if operation in ("mul", "div"):
        made["g0"] = -made["g0"]
    for purpose in (Purpose.VALIDATION, Purpose.TEST):
        data = MINIMAL.data(purpose, MINIMAL.datasets(1), EpochPlan(samples=640))
        relative = errors(kind, made, data)[:, task] / data.y[:, :, task].double().square().mean((0, 2))
        assert (relative < 1e-10).all()


class ByHand:
    """The optimisers of TensorFlow for one model: one object takes all its steps."""

    def __init__(self, rule, names):
        self.rule, self.time = rule, 0
        self.means = dict.fromkeys(names, 0.0)
        self.squares = dict.fromkeys(names, 1.0 if rule == "RMSProp" else 0.0)

    def step(self, values, slopes):
        """Move the variables that have a slope. Adam's powers of beta advance once per call."""
        self.time += 1
        for name, slope in slopes.items():
            slope = slope.clamp(-0.1, 0.1)
            if self.rule == "RMSProp":
                self.squares[name] = 0.9 * self.squares[name] + 0.1 * slope**2
                values[name] = values[name] - 0.01 * slope / (self.squares[name] + 1e-10).sqrt()
                continue
            self.means[name] = 0.9 * self.means[name] + 0.1 * slope
            self.squares[name] = 0.999 * self.squares[name] + 0.001 * slope**2
            rate = 0.001 * math.sqrt(1 - 0.999**self.time) / (1 - 0.9**self.time)
            values[name] = values[name] - rate * self.means[name] / (self.squares[name].sqrt() + 1e-8)


def reference(kind, sizes, data, plan, rule):
    """Training as the paper and its program tell it: one model, plain loops. No reinitialisation."""
    shapes = kind.shapes(sizes)
    state = {name: initial_state(shapes, data, RULES[rule])[name][0, 0] for name in shapes}
    optimiser = ByHand(rule, shapes)

    def step(loss_of, names):
        leaves = {name: value.clone().requires_grad_() for name, value in state.items()}
        loss = loss_of(leaves)
        slopes = torch.autograd.grad(loss, [leaves[n] for n in names])
        optimiser.step(state, dict(zip(names, slopes)))
        return loss.item()

    def error(x, y):
        return lambda v: (
            (kind.forward({n: t[None, None] for n, t in v.items()}, x)[0, 0, 0] - y).square().mean()
        )

    def penalty(v):
        return 0.05 * sum((20 - value.abs()).clamp(min=0).mean() for value in v.values())

    weights = [name for name in shapes if name[0] in "wm"]
    gates = [name for name in shapes if name[0] == "g"]
    for epoch in range(plan.epochs):
        for batch in range(plan.steps):
            loss = error(data.x[batch, :1], data.y[batch, 0, 0])
            before = step(loss, weights if batch % 10 < 8 else gates)
            if epoch > 10 and before < 1:
                step(penalty, weights)
                step(penalty, gates)
    return state


@KIND
@pytest.mark.parametrize("optimiser", [RMSPROP, ADAM], ids=["RMSProp", "Adam"])
def test_training_is_what_plain_loops_over_one_model_give(kind, optimiser):
    plan = EpochPlan(epochs=14, samples=10 * 8, batch=8)
    task = FourOperations((2, 1), (InputDistribution("uniform", (-1, 1), (2, 3)),))
    data = task.data(Purpose.DATA, task.datasets(1), plan)
    expected = reference(kind, task.sizes, data, plan, optimiser.rule)
    found = train(kind, task.sizes, data, plan, optimiser, compiled=False)
    for name, value in expected.items():
        torch.testing.assert_close(found[name][0, 0], value, rtol=1e-4, atol=1e-5)


@KIND
def test_eight_of_ten_batches_leave_the_gates_alone(kind):
    plan = EpochPlan(epochs=1, samples=8 * 64)
    data = MINIMAL.data(Purpose.DATA, MINIMAL.datasets(1), plan)
    before = initial_state(kind.shapes(MINIMAL.sizes), data, RULES["RMSProp"])
    after = train(kind, MINIMAL.sizes, data, plan, compiled=False)
    changed = {name for name in after if not torch.equal(after[name], before[name])}
    assert changed == {name for name in after if name[0] != "g"}


@pytest.mark.parametrize(
    ("rule", "moved"),
    [("RMSProp", 0.1 / math.sqrt(0.901)), ("Adam", 1.0)],  # Adam's first step has the length of its rate
    ids=["RMSProp", "Adam"],
)
def test_a_first_step_clips_its_gradient_and_is_taken_only_where_it_is_due(rule, moved):
    chosen, zero, slope = RULES[rule], torch.zeros(2), torch.full((2,), 5.0)
    slots = tuple(torch.full((2,), start) for start in chosen.starts)
    where = torch.tensor([True, False])
    value, after = chosen.step(zero, slots, slope, 0.01, torch.tensor(1.0), where)
    assert value.tolist() == pytest.approx([-0.01 * moved, 0.0], rel=1e-5)
    assert [float(slot[1]) for slot in after] == list(chosen.starts)
    assert all(float(new[0]) != old for new, old in zip(after, chosen.starts))


def test_adam_counts_the_steps_of_weights_gates_and_the_regulariser_together():
    kind, data = BY_NAME["iNALU(shared W)"], MINIMAL.data(Purpose.DATA, [(0, 0)], EpochPlan(samples=64))
    shapes = kind.shapes(MINIMAL.sizes)
    step = inalu_training.make_step(kind, shapes, ADAM)
    state = initial_state(shapes, data, RULES["Adam"])
    inputs = {"x": data.x[0], "y": torch.zeros_like(data.y[0]), "weights": torch.tensor(True)}
    easy = step(state, inputs | {"late": torch.tensor(True)})
    early = step(state, inputs | {"late": torch.tensor(False)})
    assert easy["error"].max() < 1
    assert easy["time"].unique().tolist() == [3.0]
    assert early["time"].unique().tolist() == [1.0]


def test_starts_differ_in_their_means_and_share_their_noise():
    data = MINIMAL.data(Purpose.DATA, [(0, 0)], EpochPlan(samples=64))
    kind, starts = BY_NAME["iNALU(independent W)"], (BEST, Start(-1.0, 0.0, 1.0))
    state = initial_state(kind.shapes(MINIMAL.sizes), data, RULES["RMSProp"], starts)
    for name, change in (("w00", -2.0), ("m01", 1.0), ("g0", 1.0)):
        first, second = state[name].split(len(FUNCTIONS), dim=1)
        torch.testing.assert_close(second - first, torch.full_like(first, change))
    trained = train(kind, MINIMAL.sizes, data, EpochPlan(1, 64), starts=starts, compiled=False)
    alone = train(kind, MINIMAL.sizes, data, EpochPlan(1, 64), starts=starts[1:], compiled=False)
    torch.testing.assert_close(trained["w00"][:, len(FUNCTIONS) :], alone["w00"])
    torch.testing.assert_close(errors(kind, trained, data)[:, len(FUNCTIONS) :], errors(kind, alone, data))


def test_the_regulariser_pushes_away_from_zero_until_twenty():
    value = torch.tensor([[-30.0, -3.0, 2.0, 30.0]], requires_grad=True)
    penalty = 0.05 * (20 - value.abs()).clamp(min=0).mean()
    (expected,) = torch.autograd.grad(penalty, value)
    torch.testing.assert_close(penalty_slope(value.detach()), expected)


def stuck_by_hand(losses, least):
    half = len(losses) // 2
    first, second = losses[:half], losses[half:]
    return len(losses) > least and np.mean(first) <= np.mean(second) + np.std(second) and np.mean(second) > 1


def test_reinitialisation_follows_the_rule_on_all_errors_since_the_last():
    plan, generator = EpochPlan(epochs=40, samples=4, batch=2), np.random.default_rng(0)
    past, lists = Past(plan, torch.Size([3, 2])), [[] for _ in range(6)]
    level = np.array([0.5, 2.0, 1.05, 5.0, 0.9, 3.0])
    seen = set()
    for step in range(plan.epochs * plan.steps):
        falling = 1 + np.array([0, 20, 0, 0.2, 0, 1]) / (1 + step)
        losses = level * falling * generator.uniform(0.8, 1.2, 6)
        past.note(torch.tensor(losses).reshape(3, 2))
        for kept, loss in zip(lists, losses):
            kept.append(loss)
        stuck = past.stuck()
        expected = [stuck_by_hand(kept, 10 * plan.steps) for kept in lists]
        assert stuck.flatten().tolist() == expected
        seen |= set(expected)
        past.forget(stuck)
        lists = [[] if again else kept for kept, again in zip(lists, expected)]
    assert seen == {False, True}


def test_a_model_that_does_not_improve_is_drawn_anew_between_minus_two_and_two():
    plan = EpochPlan(epochs=11, samples=8, batch=4)
    made = MINIMAL.data(Purpose.DATA, MINIMAL.datasets(2), plan)
    # Errors that go up and down: the halves differ by less than their standard deviation.
    targets = torch.tensor([1e3, 2e3]).reshape(2, 1, 1, 1).expand_as(made.y)
    hopeless = Data(made.x, targets, made.seed, made.place)
    easy = Data(made.x, torch.zeros_like(made.y), made.seed, made.place)
    kind = BY_NAME["iNALU(independent W)"]
    drawn = train(kind, MINIMAL.sizes, hopeless, plan, compiled=False)["w00"].flatten()
    kept = train(kind, MINIMAL.sizes, easy, plan, compiled=False)["w00"]
    assert drawn.abs().max() <= 2.01  # one step was made since
    assert drawn.min() < -1.5
    assert drawn.max() > 1.5
    assert kept.min() > 0.3  # still near its mean of 1


def test_a_run_depends_on_its_own_seed_alone():
    plan = EpochPlan(epochs=1, samples=640)
    kind, seeds = BY_NAME["iNALU(shared W)"], 3
    many, one = (MINIMAL.data(Purpose.DATA, MINIMAL.datasets(n), plan) for n in (seeds, 1))
    torch.testing.assert_close(many.x[:, ::seeds], one.x, rtol=0, atol=0)
    a = train(kind, MINIMAL.sizes, many, plan, compiled=False)
    b = train(kind, MINIMAL.sizes, one, plan, compiled=False)
    for name in b:
        torch.testing.assert_close(a[name][::seeds], b[name], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("found", "mean", "deviation"),
    [
        (InputDistribution("uniform", (-5, 5), (-10, -5)), 0.0, 10 / math.sqrt(12)),
        (InputDistribution("exponential", (0.2,), (0.5,)), 0.2, 0.2),
        (InputDistribution("normal", (-2, 4), (8, 10)), 1.0, 0.98658),  # cut at three deviations of 1
    ],
    ids=lambda value: value.family if isinstance(value, InputDistribution) else "",
)
def test_distributions_have_the_moments_of_the_authors(found, mean, deviation):
    one = FourOperations((2, 1), (found,))
    x = one.data(Purpose.DATA, one.datasets(1), EpochPlan(samples=64_000)).x.double()
    assert float(x.mean()) == pytest.approx(mean, abs=5 * deviation / math.sqrt(x.numel()))
    assert float(x.std()) == pytest.approx(deviation, rel=0.02)
    if len(found.train) == 2:
        assert found.train[0] <= float(x.min())
        assert float(x.max()) <= found.train[1]


def test_targets_are_the_operations_on_the_two_inputs():
    data = MINIMAL.data(Purpose.DATA, MINIMAL.datasets(1), EpochPlan(samples=64))
    a, b = data.x[:, :, 0, 0], data.x[:, :, 0, 1]
    for task, expected in enumerate((a + b, a - b, a * b, a / b)):
        torch.testing.assert_close(data.y[:, :, task], expected)


def test_of_many_inputs_half_are_in_a_and_a_quarter_in_b_and_none_in_both():
    one, place = torch.tensor([7], dtype=torch.int32), torch.tensor([0], dtype=torch.int32)
    wide = FourOperations((10_000, 2, 1), SIMPLE_FUNCTION.distributions)
    a, b = wide.terms(one, place, 0)
    assert float(a.mean()) == pytest.approx(0.5, abs=0.03)
    assert float(b.mean()) == pytest.approx(0.25, abs=0.03)
    assert float((a * b).sum()) == 0
    assert not torch.equal(a, wide.terms(one, place, 1)[0])


def test_sums_of_many_inputs_are_the_targets_of_all_three_sets():
    plan = EpochPlan(samples=64)
    for purpose in (Purpose.DATA, Purpose.VALIDATION, Purpose.TEST):
        data = SIMPLE_FUNCTION.data(purpose, SIMPLE_FUNCTION.datasets(1), plan)
        a, b = SIMPLE_FUNCTION.terms(data.seed[1:], data.place[1:], 0)
        chosen = data.x[0, 1, 0][(a + b) > 0]
        torch.testing.assert_close(data.y[0, 1, 0], chosen.sum(0), rtol=1e-4, atol=1e-4)


def test_a_module_computes_what_was_trained():
    task = runs.OneOperation("simple function", "mul", 1)
    case = runs.case("iNALU(shared W)", task, epochs=1, samples=64)
    (record,) = computed([Run(case, 3)]).values()
    data = SIMPLE_FUNCTION.data(Purpose.TEST, [(1, 3)], EpochPlan(samples=64))
    with torch.no_grad():
        y = final_model(case, record)(data.x[0, 0, 0].mT)
    expected = (y[:, 0] - data.y[0, 0, 2]).double().square().mean()
    assert record.test[-1] == pytest.approx(float(expected), rel=1e-5)


def test_the_full_protocol_is_that_of_the_authors():
    assert EpochPlan() == EpochPlan(epochs=100, samples=64_000, batch=64)
    assert EpochPlan().steps * inalu_training._TENTH == 10_000


def test_an_unknown_row_is_refused():
    with pytest.raises(ArgumentError, match="rows"):
        ENTRIES["schloer2020:exp1"].experiments(Scale(rows=("NAC",)))
