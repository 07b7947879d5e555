"""The causes of what differs from Trask et al. 2018, and the trials behind them."""

import importlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nalm.papers.causes import cause_of
from nalm.papers.ledger import kept_result
from nalm.papers.trask2018.causes import CAUSES
from nalm.papers.trask2018.programs import identity, recurrent, recurrent_runs
from nalm.tasks import ArithmeticDataset

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TABLES = [f"trask2018:table{number}" for number in (1, 5, 6, 7, 8, 9)]


@pytest.fixture
def trials(monkeypatch):
    """Import a module of the trials."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.mark.parametrize("entry", TABLES)
def test_all_that_differs_has_a_cause(entry):
    apart = [(c["row"], c["column"]) for c in kept_result(entry)["cells"] if c["verdict"] == "differs"]
    assert [place for place in apart if cause_of(entry, *place) is None] == []


def test_no_cause_is_about_a_row_that_its_table_does_not_have():
    for entry, row, _ in CAUSES:
        assert row in {"*", *(cell["row"] for cell in kept_result(entry)["cells"])}, (entry, row)


def test_every_trial_that_was_run_is_one_that_can_be_run(trials):
    held = json.loads((BENCHMARKS / "results-causes.json").read_text())
    run = {name: trial for name, trial in held.items() if trial["entry"].startswith("trask2018:")}
    known = trials("trask_trials").TRIALS
    assert run
    for name, trial in run.items():
        assert (trial["entry"], trial["change"]) == (known[name].entry, known[name].change)
        assert all(sides["before"]["n"] >= 10 for sides in trial["columns"].values())


def test_the_best_seed_is_chosen_by_interpolation(trials):
    inside, beyond = trials("trask_errors").best(([3.0, 1.0, 2.0], [0.0, 7.0, 5.0]))
    assert (inside.value, beyond.value) == (1.0, 7.0)


def test_a_linear_map_has_no_error_on_sums_and_a_larger_one_on_products_of_shorter_sums(trials):
    limit = trials("trask_static").linear_limit
    long, short = (ArithmeticDataset("mul", "0:1=>1:2", inputs=20, subset_ratio=r) for r in (0.5, 0.1))
    assert limit(replace(long, op="add"))[0].value < 1e-20
    assert 0 < limit(long)[0].value < limit(short)[0].value < limit(short)[1].value


def test_raw_weights_of_a_recurrent_model_can_start_by_the_scheme_of_xavier(trials):
    case = trials("trask_recurrent").with_xavier(recurrent_runs.case("NAC", "a + b", 10))
    kind = case.build().kind
    _, scheme = kind.declared["cell.w_hat"]
    assert scheme.high == pytest.approx((6 / (recurrent.INPUTS + 2 * recurrent.SIZE)) ** 0.5)
    assert case.model.given_name.endswith("NAC, xavier")


@pytest.mark.parametrize("rate", [0.01, 0.001])
def test_own_loops_train_with_the_rate_of_the_recipe(rate):
    seeds = torch.arange(2, dtype=torch.int32)
    before = identity.initial("none", seeds)
    after = identity.trained("none", seeds, 1, optimiser=identity.SideBySide(rate))
    assert _moved(before, after) == pytest.approx(rate, rel=0.01)
    kind = recurrent.KINDS["GRU"]
    lanes = recurrent.Lanes(range(2))
    trained, _ = recurrent.train(kind, range(2), 1, rate=rate)
    assert _moved(kind.initial(lanes.all_seeds()), trained) == pytest.approx(rate, rel=0.01)


def test_plain_descent_moves_weights_by_rate_times_gradient(trials):
    seeds = torch.arange(2, dtype=torch.int32)
    descent = trials("trask_identity").Descent
    start = identity.initial("none", seeds)
    near, far = (
        _moved(start, identity.trained("none", seeds, 1, optimiser=descent(rate))) for rate in (1e-4, 1e-3)
    )
    assert far == pytest.approx(10 * near, rel=0.01)


def _moved(before, after):
    """The furthest that any parameter was moved: the rate, in the first step of Adam."""
    return max(float((after[name] - p).abs().max()) for name, p in before.items())
