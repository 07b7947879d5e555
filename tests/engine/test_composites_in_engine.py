"""Composites in the engine: many models side by side, in one loop, like any other unit."""

from dataclasses import replace

import pytest
import torch

from nalm.engine.batch import Batch, Settings
from nalm.models import ModelSpec
from nalm.models.many import Models, is_native
from nalm.recipes import Adam
from nalm.tasks import SingleModule
from nalm.trained import RunGroup
from nalm.training.trainers import train_runs

NAMES = (
    "gated(units=nau|nmu)+gated(units=nau|nmu)",
    "gated(units=nau|realnpu)",
    "selector(units=nau|nau|nmu;steps=2)",
    "selector(units=nau|realnpu;gradient=both)",
    "frozen-selector(steps=2)",
    "hybrid",
)
EVERY = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in NAMES]
TASK = SingleModule("add", "1:2", inputs=4)


def recipe_of(spec):
    """The model's recipe with Adam, whose state shows the gradients, and without reinitialisation."""
    return replace(spec.make_recipe("add", 4), optimiser=Adam(), reinitialise=None)


def batch_of(name, compiled, runs=3):
    spec = ModelSpec.parse(name)
    settings = Settings(1, 1, torch.float32, torch.device("cpu"), compiled)
    models = Models(spec.build(4, 1, hidden=3), torch.float32, settings.device)
    models.check_fit((4,), (1,))
    group = RunGroup(models.skeleton, [TASK] * runs, [recipe_of(spec)] * runs, list(range(runs)))
    return Batch(models, group, settings)


@pytest.mark.parametrize("name", EVERY)
def test_it_runs_in_the_loop_with_the_eager_gradient(name):
    found = []
    for compiled in (True, False):
        batch = batch_of(name, compiled)
        batch.advance(0, 1)
        assert batch._step_program()[0].way == ("loop" if compiled else "eager")
        found.append({k: v for k, v in batch.state.items() if k.startswith("optimiser/mean:")})
    for parameter, value in found[0].items():
        torch.testing.assert_close(value, found[1][parameter], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", EVERY)
def test_a_run_has_the_same_bits_in_any_company(name):
    spec = ModelSpec.parse(name)

    def trained(seeds):
        model, recipe = spec.build(4, 1, hidden=3), recipe_of(spec)
        assert is_native(model)
        return train_runs(
            model, [TASK] * len(seeds), [recipe] * len(seeds), seeds, iterations=40, log_interval=20
        )

    together, alone = trained(list(range(19))), trained([7])
    assert together.compiled
    assert torch.equal(together.validation[7:8], alone.validation)
    for name_, value in alone.final_parameters.items():
        assert torch.equal(together.final_parameters[name_][7:8], value)


def test_parts_start_from_numbers_of_their_own():
    models = batch_of("selector(units=nau|nau|nmu;steps=2)", False).parameters
    assert not torch.equal(models["m1.weight"], models["m2.weight"])
    assert (models["logits"] == 0).all()


def test_every_run_draws_its_own_noise_and_evaluates_without():
    batch = batch_of("frozen-selector(steps=2)", True, runs=40)
    batch.advance(0, 3)
    assert len({tuple(row.flatten().tolist()) for row in batch.parameters["logits"]}) > 1
    first, second = (batch.errors()["validation"]["mse"] for _ in range(2))
    assert torch.equal(first, second)


class Untested(SingleModule):
    """A task whose evaluation is not worth compiling."""

    compiles_tests = False


def test_a_task_may_leave_its_evaluation_to_torch_and_train_compiled():
    spec = ModelSpec.parse("nau")
    settings = Settings(1, 1, torch.float32, torch.device("cpu"), compiled=True)
    models = Models(spec.build(4, 1, hidden=3), torch.float32, settings.device)
    recipes, ways, errors = [recipe_of(spec)] * 2, [], []
    for kind in (SingleModule, Untested):
        group = RunGroup(models.skeleton, [kind("add", "1:2", inputs=4)] * 2, recipes, [0, 1])
        batch = Batch(models, group, settings)
        errors.append(batch.errors()["test"]["mse"])
        ways.append((batch._step_program()[0].way, batch._error_program("test")[0].way))
    assert ways == [("loop", "loop"), ("loop", "eager")]
    torch.testing.assert_close(*errors)
