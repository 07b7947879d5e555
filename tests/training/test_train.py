"""`nalm.train`: from Python, one model or many."""

import pytest
import torch
from torch import nn

import nalm
from nalm.errors import ArgumentError
from nalm.recipes import Adam, Recipe
from nalm.tasks import ArithmeticDataset, SingleModule, Split


def test_a_module_is_trained_in_place_from_the_weights_it_has():
    unit = nalm.NAU(2, 1)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[0.9, 0.8]]))
    result = nalm.train(
        unit, SingleModule("add"), Recipe(optimiser=Adam(1e-2)), iterations=1000, compiled=False
    )
    assert unit.weight.detach().round().tolist() == [[1.0, 1.0]]
    assert torch.equal(unit.weight.detach(), result.chosen_parameters["weight"][0])


def test_a_name_and_seeds_train_many_and_keep_the_best():
    result = nalm.train("nmu", SingleModule("mul", "1:2"), seeds=4, iterations=2000)
    assert len(result) == 4
    best = result.chosen_parameters["weight"][result.best]
    assert torch.equal(result.model.weight.detach(), best)
    assert result.model_of(2).weight.shape == (1, 2)


def test_a_stack_by_name_gets_the_recipe_of_the_arithmetic_dataset():
    result = nalm.train(
        "nau+nmu",
        ArithmeticDataset("mul", inputs=10),
        seeds=2,
        iterations=50,
        log_interval=25,
        compiled=False,
    )
    assert isinstance(result.model, nn.Sequential)
    assert result.validation.shape == (2, 3)
    assert result.outcomes() == ["not_converged"] * 2


def test_float64_models_train_in_float64():
    unit = nalm.NMU(2, 1, dtype=torch.float64)
    result = nalm.train(unit, SingleModule("mul"), iterations=20, log_interval=10, compiled=False)
    assert result.final_parameters["weight"].dtype == torch.float64


def test_a_table_needs_a_threshold_to_be_judged():
    x = torch.rand(50, 2)
    result = nalm.train(nalm.NAU(2, 1), (x, x.sum(-1)), iterations=10, log_interval=5, compiled=False)
    with pytest.raises(ArgumentError, match="threshold"):
        result.outcomes()
    assert result.outcomes(1e9) == ["solved"]
    assert torch.equal(result.chosen_error(Split.TEST), result.chosen_error(Split.VALIDATION))


def test_wrong_arguments_are_named():
    with pytest.raises(ArgumentError, match="Did you mean 'nmu'"):
        nalm.train("nmuu", SingleModule("mul"))
    with pytest.raises(ArgumentError, match="`op` must be one that nau can express"):
        nalm.train("nau", SingleModule("mul"))
    with pytest.raises(ArgumentError, match="`data`"):
        nalm.train("nau", torch.rand(3, 2))
    with pytest.raises(ArgumentError, match="`seeds`"):
        nalm.train("nau", SingleModule("add"), seeds=0)
    with pytest.raises(ArgumentError, match="`x`"):
        nalm.train(nalm.NAU(2, 1), (torch.ones(5, 2, dtype=torch.complex64), torch.rand(5)))
    with pytest.raises(ArgumentError, match="`model`"):
        nalm.train(3, SingleModule("add"), Recipe())
    with pytest.raises(ArgumentError, match="`op` must be one that nmu can express"):
        nalm.train("nmu", SingleModule("add"), Recipe())
    with pytest.raises(ArgumentError, match="`recipe`"):
        nalm.train("nau", SingleModule("add"), "published")
    with pytest.raises(ArgumentError, match="batch_shape"):
        nalm.train(nalm.NAU(2, 1, batch_shape=(4,)), SingleModule("add"))
    with pytest.raises(ArgumentError, match="finite everywhere, but got nan in row 0"):
        nalm.train(nalm.NAU(2, 1), (torch.tensor([[1.0, torch.nan], [1.0, 2.0]]), torch.rand(2)))
    with pytest.raises(ArgumentError, match=r"float32 like the model, but got torch\.float64"):
        nalm.train(nalm.NAU(2, 1), (torch.rand(5, 2).double(), torch.rand(5).double()))
    with pytest.raises(ArgumentError, match="fit each other"):
        nalm.train(nn.Sequential(nalm.NAU(2, 3), nalm.NMU(2, 1)), SingleModule("mul"))
    with pytest.raises(ArgumentError, match="2 inputs"):
        nalm.train(nalm.NAU(3, 1), SingleModule("add"))


def test_frozen_parameters_stay_as_they_are():
    model = nn.Sequential(nalm.NAU(2, 2), nalm.NMU(2, 1))
    model[0].requires_grad_(False)
    before = model[0].weight.clone()
    result = nalm.train(model, SingleModule("mul"), seeds=2, iterations=20, log_interval=10, compiled=False)
    assert torch.equal(model[0].weight, before)
    assert torch.equal(result.final_parameters["0.weight"], before.expand(2, 2, 2))


def test_a_stack_on_a_table_does_not_take_the_millions_of_steps_of_the_arithmetic_dataset():
    x = torch.rand(20, 2) + 1
    seen = []

    def stop(report):
        seen.append(report.total)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nalm.train("nau+nmu", (x, x.prod(-1)), compiled=False, on_progress=stop)
    assert seen == [50_000]


@pytest.mark.parametrize("by", ["engine", "loop"])
def test_errors_and_weights_are_reported_at_every_evaluation(by):
    seen = []

    def on_logged(logged):
        seen.append(logged._replace(parameters={k: p.detach().clone() for k, p in logged.parameters.items()}))

    recipe = Recipe(iterations=20, by=by)
    result = nalm.train(
        "nau", SingleModule("add"), recipe, seeds=2, log_interval=10, compiled=False, on_logged=on_logged
    )
    for run in range(2):
        own = [(each, run - each.first) for each in seen if 0 <= run - each.first < len(each.test)]
        assert [each.step for each, _ in own] == result.steps.tolist() == [0, 10, 20]
        assert torch.equal(torch.stack([each.validation[k] for each, k in own]), result.validation[run])
        assert torch.equal(torch.stack([each.test[k] for each, k in own]), result.test[run])
        weights = torch.stack([each.parameters["weight"][k] for each, k in own])
        assert torch.equal(weights, result.history["weight"][run])


def test_second_order_training_reports_the_steps_of_a_run_once_it_is_solved():
    seen = []
    result = nalm.train("nmu@second-order", SingleModule("mul"), seeds=2, on_logged=seen.append)
    logs = len(result.steps)
    assert [(each.first, each.step) for each in seen] == [
        (k, s) for k in (0, 1) for s in result.steps.tolist()
    ]
    assert torch.equal(torch.cat([each.test for each in seen]).reshape(2, logs), result.test)


def test_a_callback_that_cannot_be_called_is_refused():
    with pytest.raises(ArgumentError, match="on_logged"):
        nalm.train("nau", SingleModule("add"), seeds=1, on_logged=7)
