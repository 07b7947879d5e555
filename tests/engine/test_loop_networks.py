"""Networks around a unit in the ordinary loop: noise, errors that are tables, history, several inputs."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from interrupted_runs import Interrupted, assert_same, stop_after
from torch import Tensor, nn

import nalm
from nalm.recipes import Adam, Recipe, Reinitialise, UnitPenalty
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import MeanSquaredError, Measure, MnistSequential, SingleModule, Task
from nalm.tasks.sampling import sample
from nalm.training.trainers import train_runs

STEPS, INTERVAL = 25, 10


@dataclass(frozen=True)
class Quantiles(Measure):
    """The sum of the predictions below and above each of three values: three by two numbers."""

    name: str = "quantiles"
    shape = (3, 2)

    def total(self, prediction, target):
        values = torch.tensor([2.0, 6.0, 12.0])
        below = prediction.flatten(1)[:, :, None] < values
        sums = [(prediction.flatten(1)[:, :, None] * side).sum(1) for side in (below, ~below)]
        return torch.stack(sums, -1)


@dataclass(frozen=True)
class Product(SingleModule):
    """A small task with an error that is a table."""

    measures = (MeanSquaredError(), Quantiles())

    def samples(self, split):
        return 800


def recipe(**changes):
    settings = {"batch_size": 16, "iterations": STEPS, **changes}
    return Recipe(optimiser=Adam(1e-2), penalties=(UnitPenalty(0.1),), by="loop", **settings)


def trained(model, seeds=(0, 3), *, task=Product("mul", "1:2"), recipe=recipe(), stop=None, **options):  # noqa: B008
    return train_runs(
        model,
        [task] * len(seeds),
        [recipe] * len(seeds),
        list(seeds),
        log_interval=INTERVAL,
        on_progress=stop_after(stop),
        **options,
    )


def assert_resumes(model, folder, stop=INTERVAL, **options):
    """Interrupted and begun again, the runs of a model are the same, bit by bit."""
    whole = trained(model, **options)
    with pytest.raises(Interrupted):
        trained(model, stop=stop, checkpoints=folder, **options)
    assert list(folder.iterdir())
    assert_same(trained(model, checkpoints=folder, **options), whole)


# -- noise ---------------------------------------------------------------------------------------


class Twice(nn.Module):
    """A unit with noise that is applied twice per step, like a recurrent cell."""

    def __init__(self, kind=nalm.SNMU):
        super().__init__()
        self.read, self.unit = nn.Linear(2, 3), kind(3, 3)

    def forward(self, x):
        return self.unit(self.unit(self.read(x)))[..., :1]


class Recorded(nalm.SNMU):
    """Keeps the noise that it draws, in all copies together."""

    drawn: ClassVar[list[Tensor]] = []

    def draw_noise(self, x):
        noise = super().draw_noise(x)
        self.drawn.append(noise.detach().clone())
        return noise


def noise_of(seed):
    """The noise of a run of three steps, for each time that the unit is applied."""
    Recorded.drawn.clear()
    trained(Twice(Recorded), [seed], iterations=3)
    return list(Recorded.drawn)


def test_a_unit_draws_other_noise_each_time_that_it_is_applied():
    drawn = noise_of(0)
    assert [noise.shape for noise in drawn] == [(16, 3)] * 6  # twice in each of three steps
    flat = torch.stack(drawn).flatten()
    assert len(flat.unique()) == len(flat)
    assert 1 <= flat.min() < flat.max() <= 5


def test_noise_is_that_of_the_seed():
    first, again, other = noise_of(0), noise_of(0), noise_of(1)
    assert all(map(torch.equal, first, again))
    assert not any(map(torch.equal, first, other))


@pytest.mark.parametrize("stop", [INTERVAL, 2 * INTERVAL, STEPS + INTERVAL])
def test_a_unit_that_is_applied_twice_resumes_to_the_same_bits(stop, tmp_path):
    assert_resumes(Twice(), tmp_path, stop)


# -- errors that are tables ----------------------------------------------------------------------


def test_an_error_that_is_a_table_is_logged_at_every_step():
    result = trained(nalm.NMU(2, 1))
    assert result.validation.shape == result.test.shape == (2, 4)
    for name in ("validation/quantiles", "test/quantiles"):
        assert result.errors[name].shape == (2, 3, 2, 4)
        assert result.errors[name].dtype == torch.float64
    whole = result.errors["test/quantiles"].sum(2)  # below and above together are all predictions
    assert torch.allclose(whole, whole[:, :1].expand_as(whole))
    assert not torch.equal(whole[..., 0], whole[..., -1])


def test_a_table_of_errors_is_that_of_the_model():
    result = trained(nalm.NMU(2, 1))
    task, model = Product("mul", "1:2"), result.model_of(1)
    total = torch.zeros(3, 2, dtype=torch.float64)
    for block in range(2):
        x, y = sample(task, 3, "test", 400, block, torch.float32)
        with torch.no_grad():
            total += Quantiles().total(model(x)[None], y[None])[0]
    found = result.errors["test/quantiles"][1, ..., int(result.chosen[1])]
    torch.testing.assert_close(found, total / 800)


def test_tables_are_those_of_the_engine():
    theirs = trained(nalm.NMU(2, 1), recipe=Recipe(**{**vars(recipe()), "by": None}), compiled=False)
    ours = trained(nalm.NMU(2, 1))
    assert ours.errors.keys() == theirs.errors.keys()
    for name, errors in theirs.errors.items():
        torch.testing.assert_close(ours.errors[name], errors)  # the same steps up to rounding


@pytest.mark.parametrize("stop", [INTERVAL, STEPS + INTERVAL])
def test_an_error_that_is_a_table_survives_a_checkpoint(stop, tmp_path):
    assert_resumes(nalm.NMU(2, 1), tmp_path, stop)


# -- history -------------------------------------------------------------------------------------


class Large(nn.Module):
    """A network that is too large to be followed, with a unit in it."""

    def __init__(self, unit):
        super().__init__()
        self.read, self.unit = nn.Linear(2, 600), unit

    def forward(self, x):
        return self.unit(self.read(x)[..., : self.unit.in_features])


def test_of_a_large_network_the_unit_alone_is_followed():
    result = trained(Large(nalm.NAU(3, 1)))
    assert set(result.history) == {"unit.weight"}
    assert result.history["unit.weight"].shape == (2, 4, 1, 3)
    assert result.history_steps.tolist() == result.steps.tolist() == [0, 10, 20, 25]
    assert torch.equal(result.history["unit.weight"][:, -1], result.final_parameters["unit.weight"])
    assert set(result.final_parameters) == {"read.weight", "read.bias", "unit.weight"}


def test_of_a_small_network_everything_is_followed_and_of_a_large_unit_nothing():
    small = trained(Twice())
    assert set(small.history) == set(small.final_parameters) == {"read.weight", "read.bias", "unit.weight"}
    large = trained(Large(nalm.NAU(600, 1)))
    assert large.history == {}
    assert large.history_steps.tolist() == []


def test_what_is_followed_survives_a_checkpoint(tmp_path):
    assert_resumes(Large(nalm.NAU(3, 1)), tmp_path)


# -- several inputs ------------------------------------------------------------------------------


class Picks(nn.Module):
    """Reads rows once each, and adds those that an index names."""

    def __init__(self):
        super().__init__()
        self.read, self.unit = nn.Linear(4, 1), nalm.NAU(2, 1)

    def forward(self, rows, index=None):
        read = self.read(rows)[..., 0]
        return self.unit(read if index is None else read[index])


@dataclass(frozen=True)
class Picked(Task):
    """The sum of the means of two rows; in evaluation there are few rows, which an index names."""

    name = "picked"
    in_features = 2
    input_shape = (2, 4)
    draws = 8

    def shape(self):
        return (type(self),)

    def numbers(self, seed, split):
        return {}

    def samples(self, split):
        return 40

    def block(self, split):
        return 20

    def batch(self, u, numbers):
        rows = u.transpose(1, 2).unflatten(-1, (2, 4))
        if "block" not in numbers:
            return rows, rows.mean(-1).sum(-1, keepdim=True)
        few = rows[:, :, 0]
        index = (u[:, 4:6] * few.shape[1]).long().transpose(1, 2)
        means = few.mean(-1)
        targets = torch.stack([own[at] for own, at in zip(means, index)]).sum(-1, keepdim=True)
        return (few, index), targets

    def identity(self):
        return {"name": self.name}

    def labels(self):
        return {"rows": "two"}


def test_a_network_may_take_two_inputs():
    result = trained(Picks(), [2], task=Picked())
    model, errors = result.model_of(0), []
    for block in range(2):
        stream = key(torch.tensor([2], dtype=torch.int32), Purpose.TEST, block)
        inputs, targets = Picked().batch(uniform(stream, counters(8, 20)), {"block": torch.tensor([block])})
        with torch.no_grad():
            errors.append((model(*(each[0] for each in inputs)) - targets[0]).square())
    torch.testing.assert_close(result.chosen_error()[0], torch.cat(errors).mean().double())
    assert result.validation[0, -1] < result.validation[0, 0]


def test_a_network_with_two_inputs_resumes_to_the_same_bits(tmp_path):
    assert_resumes(Picks(), tmp_path, seeds=[2], task=Picked())


# -- new weights ---------------------------------------------------------------------------------


def test_a_stuck_run_of_a_network_that_tells_what_it_sees_is_given_new_weights():
    """New weights are drawn in a copy of the network, in the middle of training."""
    task = MnistSequential("mul", digits="drawn")
    network = task.network(nalm.NMU(2, 1))
    initial = {name: p.detach()[None] for name, p in network.named_parameters()}
    made = recipe(reinitialise=Reinitialise(stored=1, floor=0.0, every=1), batch_size=4, iterations=4)
    result = trained(network, [0], task=task, recipe=made, initial=initial)
    assert result.reinitialised.tolist() == [1]
