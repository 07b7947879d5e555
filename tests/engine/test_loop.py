"""The ordinary loop: the same step as the engine's, one run after the other, resumed bit by bit."""

import pytest
import torch
from interrupted_runs import Interrupted, assert_same
from torch import nn

import nalm
from nalm.engine.checkpoint import discard
from nalm.recipes import Adam, Recipe, UnitPenalty
from nalm.tasks import SingleModule
from nalm.training.trainers import train_runs

STEPS, INTERVAL = 50, 20


class Noisy(nn.Module):
    """A network with dropout in front of a unit with noise of its own."""

    def __init__(self):
        super().__init__()
        self.read, self.drop, self.unit = nn.Linear(2, 4), nn.Dropout(0.3), nalm.SNMU(4, 1)

    def forward(self, x):
        return self.unit(self.drop(self.read(x)))


def recipe(**changes):
    return Recipe(optimiser=Adam(1e-2), penalties=(UnitPenalty(0.1),), iterations=STEPS, by="loop", **changes)


def trained(model, seeds=(0, 3), *, stop_after=None, recipe=recipe(), **options):  # noqa: B008
    def on_progress(report):
        if stop_after is not None and report.done > stop_after:
            raise Interrupted

    tasks, recipes = [SingleModule("mul", "1:2")] * len(seeds), [recipe] * len(seeds)
    return train_runs(
        model, tasks, recipes, list(seeds), log_interval=INTERVAL, on_progress=on_progress, **options
    )


def test_a_unit_trains_as_in_the_engine():
    ours = trained(nalm.NMU(2, 1))
    theirs = trained(nalm.NMU(2, 1), recipe=Recipe(**{**vars(recipe()), "by": None}), compiled=False)
    assert torch.equal(ours.chosen, theirs.chosen)
    assert torch.allclose(ours.validation, theirs.validation, rtol=1e-4)  # the same steps up to rounding
    for name, p in theirs.final_parameters.items():
        torch.testing.assert_close(ours.final_parameters[name], p)


def test_a_network_is_applied_as_it_is():
    network = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    ours = trained(network)
    theirs = trained(network, recipe=Recipe(**{**vars(recipe()), "by": None}), compiled=False)
    assert torch.allclose(ours.validation, theirs.validation, rtol=1e-3)
    with torch.no_grad():
        x = torch.rand(5, 2)
        assert ours.model_of(1)(x).shape == (5, 1)


@pytest.mark.parametrize("make", [lambda: nalm.NMU(2, 1), Noisy])
@pytest.mark.parametrize("stop_after", [0, INTERVAL, 2 * INTERVAL, STEPS, STEPS + INTERVAL])
def test_an_interrupted_run_resumes_to_the_same_bits(make, stop_after, tmp_path):
    torch.manual_seed(0)
    model = make()
    whole = trained(model)
    with pytest.raises(Interrupted):
        trained(model, stop_after=stop_after, checkpoints=tmp_path)
    torch.manual_seed(1)  # what else draws from torch's generator is of no importance
    assert_same(trained(model, checkpoints=tmp_path), whole)


def test_a_finished_run_keeps_its_checkpoint_until_it_is_discarded(tmp_path):
    first = trained(nalm.NMU(2, 1), checkpoints=tmp_path)
    again = trained(nalm.NMU(2, 1), checkpoints=tmp_path)
    assert_same(first, again)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["seed-0.safetensors", "seed-3.safetensors"]


def test_checkpoints_leave_the_callers_random_numbers_alone(tmp_path):
    model = Noisy()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    trained(model, checkpoints=tmp_path)
    assert torch.equal(torch.rand(3), expected)


def test_a_checkpoint_of_another_run_is_not_used(tmp_path):
    trained(nalm.NMU(2, 1), checkpoints=tmp_path)
    with pytest.warns(UserWarning, match="it is of another run"):
        ours = trained(nalm.NAU(2, 1), checkpoints=tmp_path)
    assert_same(ours, trained(nalm.NAU(2, 1)))


@pytest.mark.parametrize("length", [0, 7, 100, -1])
def test_a_damaged_checkpoint_is_not_used(length, tmp_path):
    with pytest.raises(Interrupted):
        trained(nalm.NMU(2, 1), stop_after=2 * INTERVAL, checkpoints=tmp_path)
    path = tmp_path / "seed-0.safetensors"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.warns(UserWarning, match="is not used"):
        ours = trained(nalm.NMU(2, 1), checkpoints=tmp_path)
    assert_same(ours, trained(nalm.NMU(2, 1)))


def test_checkpoints_of_finished_runs_are_discarded(tmp_path):
    trained(nalm.NMU(2, 1), checkpoints=tmp_path / "kept")
    discard(tmp_path / "kept", ["seed-0"])
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["seed-3.safetensors"]
    discard(tmp_path / "kept", ["seed-3", "seed-9"])
    assert not (tmp_path / "kept").exists()
    discard(tmp_path / "kept", ["seed-3"])


def test_running_statistics_are_refused():
    with pytest.raises(nalm.ArgumentError, match="BatchNorm1d"):
        trained(nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1)))
