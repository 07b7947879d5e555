"""The engine: what a run is, whatever runs beside it, compiled or not."""

import warnings
from dataclasses import replace

import pytest
import torch
from torch import nn

import nalm
from nalm.engine import compiler, program
from nalm.engine.batch import Batch, Settings
from nalm.engine.many_runs import compile_program
from nalm.errors import ArgumentError
from nalm.models import ModelSpec
from nalm.models.many import Models
from nalm.recipes import SGD, Adam, Centred, GradientNoise, Recipe, Reinitialise
from nalm.tasks import OPERATIONS, ArithmeticDataset, Reciprocal, SingleModule, Split, Table
from nalm.trained import RunGroup
from nalm.training.trainers import train_runs
from nalm.units import UNITS

# The tests of one model share its compiled programs: they go to one worker.
EVERY_MODEL = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in (*UNITS, "nau+nmu")]

# The NRU's gradient has the factor 1 - tanh(1000 W)^2, which cancels: where it is 1e-4, one last bit of tanh,
# in which processors differ, is 1e-3 of it.
GRADIENT_RTOL = {"nru": 2e-3}


def runs(name, count, *, steps=40, recipe=None, seeds=None, **options):
    """Train `count` seeds of a model on the task that suits it."""
    spec = ModelSpec.parse(name)
    task = task_of(spec)
    seeds = list(range(count)) if seeds is None else seeds
    recipe = recipe if recipe is not None else spec.make_recipe(spec.units[-1].ops[0], 2)
    recipes = recipe if isinstance(recipe, list) else [recipe] * len(seeds)
    model = spec.build(task.in_features, 1)
    return train_runs(
        model, [task] * len(seeds), recipes, seeds, iterations=steps, log_interval=steps // 2, **options
    )


def task_of(spec):
    """The task that suits a model: its first operation, or sums, as mere data, for units of logic."""
    op = spec.units[-1].ops[0]
    op = op if op in OPERATIONS else "add"
    return ArithmeticDataset(op, inputs=20) if len(spec.units) > 1 else SingleModule(op, "1:2")


def same(first, second, pick=slice(None)):
    """Whether two results hold the same bits, for the picked runs of the first."""
    pairs = [(first.validation, second.validation), (first.test, second.test), (first.chosen, second.chosen)]
    pairs += [(p, second.final_parameters[name]) for name, p in first.final_parameters.items()]
    return all(torch.equal(a[pick], b) for a, b in pairs)


@pytest.mark.parametrize("name", EVERY_MODEL)
def test_a_run_has_the_same_bits_in_any_company(name):
    together = runs(name, 37)
    assert together.compiled
    for few in (1, 2, 5, 16):
        assert same(together, runs(name, few), slice(0, few)), f"{few} runs differ from 37"
    assert same(together, runs(name, 0, seeds=[36, 3]), [36, 3])


@pytest.mark.parametrize("name", EVERY_MODEL)
def test_the_compiled_gradient_is_the_eager_gradient(name):
    compiled, eager = (first_gradients(name, compiled) for compiled in (True, False))
    assert compiled
    for parameter, value in compiled.items():
        torch.testing.assert_close(value, eager[parameter], rtol=GRADIENT_RTOL.get(name, 1e-4), atol=1e-5)


@pytest.mark.xdist_group("realnpu")
def test_so_it_is_with_a_single_input():
    compiled, eager = (first_gradients("realnpu", compiled, Reciprocal()) for compiled in (True, False))
    assert len(compiled) == 2
    for parameter, value in compiled.items():
        assert (value != 0).any()
        torch.testing.assert_close(value, eager[parameter], rtol=1e-4, atol=1e-5)


def first_gradients(name, compiled, task=None):
    """The gradients of three runs at the first step, times 0.1: Adam's mean of gradients after it."""
    spec = ModelSpec.parse(name)
    task, recipe = task or task_of(spec), spec.make_recipe(spec.units[-1].ops[0], 2)
    recipe = replace(recipe, reinitialise=None)  # which looks at errors that are not measured here
    settings = Settings(1, 1, torch.float32, torch.device("cpu"), compiled)
    models = Models(spec.build(task.in_features, 1), torch.float32, settings.device)
    batch = Batch(models, RunGroup(models.skeleton, [task] * 3, [recipe] * 3, [0, 1, 2]), settings)
    batch.advance(0, 1)
    assert batch.log.compiled == compiled
    return {k: value for k, value in batch.state.items() if k.startswith("optimiser/mean:")}


def test_the_eager_gradient_is_that_of_an_ordinary_loop():
    task = SingleModule("mul")
    result = train_runs(
        nalm.NMU(2, 1), [task], [Recipe(optimiser=SGD(0.01))], [5],
        iterations=1, log_interval=1, dtype=torch.float64, compiled=False,
    )  # fmt: skip
    start = train_runs(
        nalm.NMU(2, 1), [task], [Recipe(optimiser=SGD(0.0))], [5],
        iterations=1, log_interval=1, dtype=torch.float64, compiled=False,
    ).final_parameters["weight"][0]  # fmt: skip
    from nalm.streams import Purpose, counters, key, uniform

    x = (
        1
        + uniform(
            key(torch.tensor([5], dtype=torch.int32), Purpose.DATA, 0), counters(2, 128), torch.float64
        )[0].T
    )
    unit = nalm.NMU(2, 1, dtype=torch.float64)
    unit.load_state_dict({"weight": start})
    nn.functional.mse_loss(unit(x), x.prod(-1, keepdim=True)).backward()
    expected = start - 0.01 * unit.weight.grad
    torch.testing.assert_close(result.final_parameters["weight"][0], expected, rtol=1e-12, atol=0)


def test_float64_is_compiled_too():
    compiled = runs("nmu", 3, dtype=torch.float64)
    eager = runs("nmu", 3, dtype=torch.float64, compiled=False)
    assert compiled.final_parameters["weight"].dtype == torch.float64
    torch.testing.assert_close(compiled.validation, eager.validation, rtol=1e-9, atol=1e-15)


def test_batches_wider_than_the_engine_trains_at_once_are_split():
    wide = runs("nau", 1100, steps=10)
    assert same(wide, runs("nau", 0, steps=10, seeds=[1050, 2]), [1050, 2])


def test_each_run_has_its_own_numbers_in_the_recipe():
    recipes = [Recipe(optimiser=Adam(rate)) for rate in (1e-3, 1e-2)]
    both = runs("nmu", 2, recipe=recipes, compiled=False)
    for run, recipe in enumerate(recipes):
        alone = runs("nmu", 0, seeds=[run], recipe=recipe, compiled=False)
        torch.testing.assert_close(both.validation[run : run + 1], alone.validation)
    assert not torch.equal(*both.validation)


def test_operations_and_ranges_share_a_program():
    tasks = [SingleModule(op, r) for op in ("add", "sub") for r in ("1:2", "-2:2", "10:20")]
    recipe = nalm.NAU.recipe("add")
    before = len(_programs())
    result = train_runs(nalm.NAU(2, 1), tasks, [recipe] * 6, [0] * 6, iterations=20, log_interval=20)
    again = train_runs(nalm.NAU(2, 1), tasks[3:4], [recipe], [0], iterations=20, log_interval=20)
    assert len(_programs()) <= before + 2
    assert same(result, again, slice(3, 4))


@pytest.mark.xdist_group("nmu")
def test_a_program_compiled_ahead_is_the_one_that_is_used():
    task, recipe = SingleModule("mul"), nalm.NMU.recipe("mul")
    for evaluate in (True, False):
        compile_program(nalm.NMU(2, 1), task, recipe, evaluate=evaluate)
    ahead = set(_programs())
    train_runs(nalm.NMU(2, 1), [task], [recipe], [0], iterations=1, log_interval=1)
    assert set(_programs()) == ahead


def _programs():
    from nalm.engine import batch

    return batch._PROGRAMS


def test_a_diverged_run_is_marked_and_leaves_the_others_alone():
    calm, wild = Recipe(optimiser=SGD(1e-3)), Recipe(optimiser=SGD(1e30))
    mixed = runs("realnpu", 3, recipe=[calm, wild, calm], compiled=False)
    assert mixed.diverged_at.tolist() == [-1, 20, -1]
    others = runs("realnpu", 0, seeds=[0, 2], recipe=calm, compiled=False)
    torch.testing.assert_close(mixed.test[[0, 2]], others.test)
    assert mixed.outcomes()[1] == "diverged"


def test_the_chosen_step_has_the_lowest_validation_error_and_its_weights():
    result = runs("nmu", 6, recipe=Recipe(optimiser=Adam(0.3)), compiled=False)
    assert torch.equal(result.chosen, result.validation.argmin(-1))
    for run in range(6):
        chosen = result.chosen_parameters["weight"][run]
        if result.chosen[run] == len(result.steps) - 1:
            assert torch.equal(chosen, result.final_parameters["weight"][run])
    assert result.steps.tolist() == [0, 20, 40]


def test_the_last_step_is_logged_even_if_the_interval_does_not_divide():
    task, recipe = SingleModule("add"), Recipe()
    result = train_runs(nalm.NAU(2, 1), [task], [recipe], [0], iterations=25, log_interval=10, compiled=False)
    assert result.steps.tolist() == [0, 10, 20, 25]


def test_ideal_weights_have_the_error_of_a_solution():
    unit = nalm.NAU(2, 1)
    unit.ideal_("add", 0, 1)
    initial = {"weight": unit.weight.detach()[None]}
    task = SingleModule("add")
    result = train_runs(
        unit, [task], [Recipe()], [0], iterations=1, log_interval=1, initial=initial, compiled=False
    )
    assert result.test[0, 0] < task.threshold(Split.TEST)
    assert result.validation[0, 0] < task.threshold(Split.VALIDATION)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_it_trains_in_whatever_gradient_mode_the_caller_is(mode):
    expected = runs("nau", 2, compiled=False)
    with mode():
        assert same(runs("nau", 2, compiled=False), expected)


def test_progress_is_reported_up_to_the_end():
    reports = []
    runs("nau", 3, on_progress=reports.append, compiled=False)
    assert [report.done for report in reports] == sorted(report.done for report in reports)
    assert reports[-1].done == reports[-1].total == 3 * 40


def test_without_a_compiler_it_runs_eagerly_and_says_so_once(monkeypatch):
    compiled = runs("nmu", 2, steps=10)
    monkeypatch.setattr(compiler, "_cpp_compiler", lambda: None)
    monkeypatch.setattr("nalm.engine.kernel.build.cpp_compiler", lambda: None)
    monkeypatch.setattr(program, "_warned", False)
    monkeypatch.setattr("nalm.engine.batch._PROGRAMS", {})
    with pytest.warns(UserWarning, match=r"No C\+\+ compiler"):
        eager = runs("nmu", 2, steps=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runs("nmu", 2, steps=10)
    assert not eager.compiled
    torch.testing.assert_close(eager.validation, compiled.validation, rtol=1e-4, atol=1e-9)


# -- noise and new starts ------------------------------------------------------------------------


class Noisy(nalm.NMU):
    """A unit with noise in training mode: fresh uniform numbers for every model and input."""

    name = "noisy"

    def compute(self, x):
        if self.training:
            x = x * (1 + 0.1 * self.draw(x.shape, x))
        return super().compute(x)


def noisy(seeds, **options):
    task, recipe = SingleModule("mul"), Recipe(optimiser=SGD(1e-3))
    many = len(seeds)
    return train_runs(
        Noisy(2, 1), [task] * many, [recipe] * many, seeds, iterations=20, log_interval=10, **options
    )


def test_noise_comes_from_each_runs_own_stream():
    together = noisy([0, 1, 2, 3], compiled=False)
    torch.testing.assert_close(together.validation[2:3], noisy([2], compiled=False).validation)
    quiet = runs("nmu", 4, steps=20, recipe=Recipe(optimiser=SGD(1e-3)), compiled=False)
    assert torch.equal(together.validation[:, 0], quiet.validation[:, 0]), "evaluation must be without noise"
    assert not torch.equal(together.final_parameters["weight"], quiet.final_parameters["weight"])


def test_gradient_noise_is_per_run_and_reproducible():
    recipe = Recipe(optimiser=SGD(1e-3), gradient_noise=GradientNoise(eta=0.1))
    together = runs("nmu", 4, recipe=recipe, compiled=False)
    alone = runs("nmu", 0, seeds=[2], recipe=recipe, compiled=False)
    torch.testing.assert_close(together.validation[2:3], alone.validation)
    quiet = runs("nmu", 4, recipe=Recipe(optimiser=SGD(1e-3)), compiled=False)
    moved = (together.final_parameters["weight"] - quiet.final_parameters["weight"]).abs()
    assert (moved > 0).all()


def test_stuck_runs_are_given_new_weights_and_the_others_are_not():
    stuck = Recipe(optimiser=SGD(0.0), reinitialise=Reinitialise(stored=15, floor=1.0, every=10))
    tasks = [SingleModule("mul", "10:20"), SingleModule("mul", "0.1:0.2")]
    result = train_runs(
        nalm.NMU(2, 1), tasks, [stuck] * 2, [0, 0], iterations=40, log_interval=10, compiled=False
    )
    assert result.reinitialised[0] > 0
    assert result.reinitialised[1] == 0
    weight = result.final_parameters["weight"]
    assert not torch.equal(weight[0], weight[1])


class Shaped(nalm.NAU):
    """A unit with a function among its options."""

    name = "shaped"

    def __init__(self, *args, shape, **options):
        super().__init__(*args, **options)
        self.shape = shape

    def compute(self, x):
        return self.shape(super().compute(x))


def test_units_that_differ_in_more_than_numbers_do_not_share_a_program():
    task, recipe = SingleModule("add"), Recipe(optimiser=SGD(1e-3))
    first, second = (
        train_runs(
            Shaped(2, 1, shape=shape), [task], [recipe], [0], iterations=1, log_interval=1, compiled=False
        )
        for shape in (torch.tanh, torch.sin)
    )
    assert not torch.equal(first.validation, second.validation)


# -- other models and data -----------------------------------------------------------------------


def test_a_plain_module_trains_through_vmap():
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    result = train_runs(
        model, [SingleModule("add")] * 3, [Recipe(optimiser=Adam(1e-2))] * 3, [0, 1, 2],
        iterations=300, log_interval=100,
    )  # fmt: skip
    assert result.compiled
    assert (result.validation[:, -1] < result.validation[:, 0] / 10).all()
    alone = train_runs(
        model, [SingleModule("add")], [Recipe(optimiser=Adam(1e-2))], [1], iterations=300, log_interval=100
    )
    torch.testing.assert_close(result.validation[1:2], alone.validation, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("module", [nn.BatchNorm1d(2), nn.Dropout(0.5)])
def test_modules_that_mix_models_or_draw_by_themselves_are_refused(module):
    model = nn.Sequential(module, nn.Linear(2, 1))
    with pytest.raises(ArgumentError, match=type(module).__name__):
        train_runs(model, [SingleModule("add")], [Recipe()], [0])


def test_a_table_is_learnt():
    torch.manual_seed(0)
    x = torch.rand(200, 3) + 1
    recipe = Recipe(optimiser=Adam(1e-2))
    result = nalm.train(nalm.NAU(3, 1), (x, x[:, :1] - x[:, 2:]), recipe, iterations=2000, compiled=False)
    assert result.chosen_error(Split.VALIDATION)[0] < 1e-6
    assert str(nalm.explain(result.model, ["a", "b", "c"])) == "a - c"


def test_bad_arguments_are_refused_before_any_work():
    task, recipe = SingleModule("add"), Recipe()
    unit = nalm.NAU(2, 1)
    for arguments, options in (
        (([task], [recipe], []), {}),
        (([task], [recipe, recipe], [0]), {}),
        (([task], [recipe], [-1]), {}),
        (([task], [recipe], [0]), {"iterations": 0}),
        (([task], [recipe], [0]), {"log_interval": -5}),
        (([task], [recipe], [0]), {"dtype": torch.float16}),
        (([task, SingleModule("add", inputs=3)], [recipe, recipe], [0, 1]), {}),
        (([task, task], [recipe, Recipe(optimiser=SGD())], [0, 1]), {}),
        (([Table(torch.rand(5, 2), torch.rand(5))] * 2, [recipe], [0, 1]), {}),
    ):
        with pytest.raises(ArgumentError):
            train_runs(unit, *arguments, **options)


def test_centred_training_learns_a_sum_of_inputs_far_from_zero_sooner():
    task, seeds = SingleModule("add", "1.1:1.2", 10), [0, 1, 2]
    errors = []
    for optimiser in (Adam(1e-3), Centred(Adam(1e-3))):
        recipe = Recipe(optimiser=optimiser, iterations=5000)
        result = train_runs(
            nalm.NAU(10, 1), [task] * 3, [recipe] * 3, seeds, log_interval=1000, compiled=False
        )
        errors.append(result.validation[:, -1].max())
    assert errors[1] < errors[0] / 100
