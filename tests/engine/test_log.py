"""Parameters over time: at most so many steps, the first and the last among them, small models only."""

import pytest
import torch

import nalm
from nalm.engine import log
from nalm.tasks import SingleModule, Table


def trained(model="nmu", **options):
    return nalm.train(model, SingleModule("mul"), seeds=2, compiled=False, **options)


def test_the_history_goes_from_the_first_to_the_last_step():
    result = trained(iterations=25, log_interval=10)
    assert result.history_steps.tolist() == [0, 10, 20, 25]
    assert result.history["weight"].shape == (2, 4, 1, 2)
    torch.testing.assert_close(result.history["weight"][:, -1], result.final_parameters["weight"])
    assert not torch.equal(result.history["weight"][:, 0], result.history["weight"][:, 1])


def test_the_history_holds_the_chosen_parameters():
    result = trained(iterations=30, log_interval=10)
    for run in range(2):
        chosen = result.history["weight"][run, result.chosen[run]]
        assert torch.equal(chosen, result.chosen_parameters["weight"][run])


def test_of_many_logs_every_so_many_are_kept(monkeypatch):
    monkeypatch.setattr(log, "HISTORY_POINTS", 5)
    assert trained(iterations=10, log_interval=1).history_steps.tolist() == [0, 3, 6, 9, 10]


@pytest.mark.parametrize(("inputs", "kept"), [(512, 2), (513, 0)])
def test_large_models_keep_none(inputs, kept):
    data = Table(torch.rand(20, inputs), torch.rand(20, 1))
    result = nalm.train("nau", data, seeds=1, iterations=1, compiled=False)
    assert len(result.history_steps) == kept
    assert bool(result.history) == bool(kept)
