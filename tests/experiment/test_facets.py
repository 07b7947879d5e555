"""Rows of tasks on digits: one per length, judged by the runs of a model whose arithmetic is solved."""

import math

import numpy as np
import pytest
from made_runs import bare_record
from scipy import stats

from nalm.evaluate.ranking import rank
from nalm.evaluate.reference import upper_bound
from nalm.experiment.bench import Experiment, make_experiment, make_work
from nalm.experiment.facets import is_reference
from nalm.experiment.rows import evaluate
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Store
from nalm.models import ModelSpec
from nalm.recipes import UnitPenalty
from nalm.tasks import MnistIsolated

SEEDS, LOGS, CHOSEN = 4, 3, 1


# -- what is compared ----------------------------------------------------------------------------


@pytest.mark.parametrize(("scale", "seeds"), [("quick", 3), ("paper", 10)])
def test_the_reference_is_added_and_images_have_fewer_seeds(scale, seeds):
    made = make_experiment("mnist-sequential", ["nmu"], ["mul"], scale=scale)
    assert [str(case.model) for case in made.cases] == ["nmu", "mul"]
    assert made.seeds == seeds
    assert [is_reference(case) for case in made.cases] == [False, True]
    assert {case.task.protocol for case in made.cases} == {scale}


@pytest.mark.parametrize(("scale", "seeds"), [("quick", 5), ("paper", 25)])
def test_other_tasks_have_the_seeds_that_they_had_and_no_reference(scale, seeds):
    made = make_experiment("single-module", ["nmu"], ["mul"], ["1:2"], scale=scale)
    assert made.seeds == seeds
    assert [str(case.model) for case in made.cases] == ["nmu"]


def test_a_reference_that_is_asked_for_is_not_there_twice():
    made = make_experiment("mnist-sequential", ["mul", "nmu"], ["mul"])
    assert sorted(str(case.model) for case in made.cases) == ["mul", "nmu"]


def test_each_operation_has_its_own_reference():
    made = make_experiment("mnist-sequential", ["nmu", "nau"])
    found = {(case.task.op, str(case.model)) for case in made.cases}
    assert found == {("mul", "nmu"), ("mul", "mul"), ("add", "nau"), ("add", "add")}


def test_a_model_that_is_only_named_as_a_reference_is_offered_its_own_operation():
    made = make_experiment("mnist-sequential", ["mul"])
    assert [case.task.op for case in made.cases] == ["mul"]


def test_seeds_that_are_asked_for_are_taken():
    assert make_experiment("mnist-sequential", ["nmu"], ["mul"], seeds=2, scale="quick").seeds == 2


def test_fewer_steps_shorten_the_schedules_of_the_task():
    (case, _) = make_experiment("mnist-sequential", ["nmu"], ["mul"], iterations=42_900).cases
    (own,) = (part for part in case.recipe.penalties if isinstance(part, UnitPenalty))
    assert (own.schedule.start, own.schedule.end) == pytest.approx((1e3, 10e3))
    assert case.timing.kind == "scaled"


# -- thresholds ----------------------------------------------------------------------------------


def by_the_book(errors):
    """Mean + t(0.99, n - 1) * standard error."""
    return np.mean(errors) + stats.t.ppf(0.99, len(errors) - 1) * stats.sem(errors)


@pytest.mark.parametrize("count", [2, 3, 10])
def test_a_bound_is_the_end_of_a_one_sided_t_interval(count):
    errors = np.random.default_rng(count).exponential(1.0, count)
    assert upper_bound(errors) == pytest.approx(by_the_book(errors), rel=1e-9)


def test_equal_errors_are_their_own_bound():
    assert upper_bound([0.5, 0.5, 0.5]) == pytest.approx(0.5)


@pytest.mark.parametrize("errors", [[], [1.0], [1.0, math.nan], [1.0, math.inf]])
def test_there_is_no_bound_of_one_run_or_of_errors_that_are_not_finite(errors):
    assert upper_bound(errors) is None


def errors_of(run, lengths):
    """Errors by length and step that grow with the length: those of the reference, or a multiple of them."""
    stream = np.random.default_rng([run.seed, 7])
    errors = stream.uniform(1, 2, (lengths, LOGS)) * np.arange(1, lengths + 1)[:, None]
    return errors if str(run.case.model) == run.case.task.reference else errors * FACTORS[run.seed]


FACTORS = (0.1, 10.0, 0.1, 10.0)
"""By how much the runs of the model that is judged differ from those of the reference."""


def made_records(experiment):
    for run in experiment.runs():
        lengths = len(run.case.task.lengths)
        yield bare_record(
            run,
            steps=np.array([0, 5, 9]),
            validation=np.array([3.0, 1.0, 2.0]),
            test=np.array([3.0, 1.0, 2.0]),
            chosen=CHOSEN,
            sparsity=0.25,
            ideal_validation=None,
            ideal_test=None,
            errors={"test/mse_by_length": errors_of(run, lengths)},
        )


def rows_of(path, experiment, threshold=None):
    with Store(path) as store:
        store.add(list(made_records(experiment)))
        return list(evaluate(experiment, store, threshold))


@pytest.fixture
def experiment():
    return make_experiment("mnist-sequential", ["nmu"], ["mul"], seeds=SEEDS, scale="quick")


def test_there_is_a_row_for_every_length_of_every_model(experiment, tmp_path):
    rows = rows_of(tmp_path / "runs.sqlite", experiment)
    found = [(row["model"], row["labels"]["length"]) for row in rows]
    assert found == [(model, length) for model in ("nmu", "mul") for length in range(1, 21)]
    assert all(row["labels"]["op"] == row["op"] == "mul" for row in rows)
    assert all(row["labels"]["protocol"] == "quick" for row in rows)
    assert all(row["runs"] == SEEDS for row in rows)


def test_the_runs_of_the_reference_set_the_threshold_of_each_length(experiment, tmp_path):
    rows = rows_of(tmp_path / "runs.sqlite", experiment)
    reference = next(case for case in experiment.cases if is_reference(case))
    held = np.array([errors_of(Run(reference, seed), 20)[:, CHOSEN] for seed in range(SEEDS)])
    for row in rows:
        expected = by_the_book(held[:, row["labels"]["length"] - 1])
        assert row["threshold"] == pytest.approx(expected, rel=1e-9)


def test_runs_are_judged_at_their_chosen_step_by_the_error_of_that_length(experiment, tmp_path):
    rows = {
        (row["model"], row["labels"]["length"]): row for row in rows_of(tmp_path / "r.sqlite", experiment)
    }
    case = experiment.cases[0]
    for length in (1, 2, 20):
        row = rows["nmu", length]
        errors = [errors_of(Run(case, seed), 20)[length - 1] for seed in range(SEEDS)]
        solved = [error[CHOSEN] < row["threshold"] for error in errors]
        assert solved == [True, False, True, False]
        assert row["success"]["rate"] == 0.5
        assert row["outcomes"]["solved"] == 2
        assert row["errors"]["test"] == pytest.approx(np.median([error[CHOSEN] for error in errors]))
        first = [next(s for s, e in zip((0, 5, 9), error) if e < row["threshold"]) for error in errors[::2]]
        assert row["solved_at"]["median"] == np.median(first)
        assert row["sparsity"]["mean"] == pytest.approx(0.25)


def test_the_validation_errors_of_the_reference_say_whether_a_run_fits(experiment, tmp_path):
    """All validation errors are 1 here, and the bound of equal errors is not below itself."""
    row = rows_of(tmp_path / "runs.sqlite", experiment)[0]
    assert row["outcomes"]["not_extrapolating"] == 0
    assert row["outcomes"]["not_converged"] == 2


def test_a_run_counts_once_however_many_rows_it_has(experiment, tmp_path):
    """Three seeds at twenty lengths are not sixty runs: an interval of sixty would be far too narrow."""
    rows = rows_of(tmp_path / "runs.sqlite", experiment)
    assert all(unit["runs"] <= SEEDS for entry in rank(rows) for unit in entry["units"])


@pytest.mark.parametrize("seeds", [1, 2])
def test_one_run_of_the_reference_sets_no_threshold(seeds, tmp_path):
    made = make_experiment("mnist-sequential", ["nmu"], ["mul"], seeds=seeds)
    for row in rows_of(tmp_path / "runs.sqlite", made):
        if seeds == 1:
            assert row["threshold"] is None
            assert row["success"] == {"rate": None, "low": None, "high": None}
            assert row["errors"]["test"] > 0
        else:
            assert row["threshold"] > 0


def test_a_threshold_that_is_given_counts_at_every_length(experiment, tmp_path):
    rows = rows_of(tmp_path / "runs.sqlite", experiment, threshold=1e9)
    assert {row["threshold"] for row in rows} == {1e9}
    assert {row["success"]["rate"] for row in rows} == {1.0}


def test_a_reference_of_another_task_sets_nothing(tmp_path):
    quick = make_experiment("mnist-sequential", ["nmu"], ["mul"], seeds=SEEDS, scale="quick")
    paper = make_experiment("mnist-sequential", ["mul"], ["mul"], seeds=SEEDS, scale="paper")
    mixed = Experiment("mnist-sequential", (quick.cases[0], *paper.cases), SEEDS)
    rows = rows_of(tmp_path / "runs.sqlite", mixed)
    assert {row["threshold"] for row in rows if row["model"] == "nmu"} == {None}
    assert all(row["threshold"] > 0 for row in rows if row["model"] == "mul")


def test_without_a_reference_there_is_a_row_for_each_way_to_count(tmp_path):
    made = make_experiment("mnist-isolated", ["nmu"], ["mul"], seeds=2, scale="quick")
    names = [facet.curve for facet in made.cases[0].task.facets()]
    with Store(tmp_path / "runs.sqlite") as store:
        for run in made.runs():
            errors = {name: np.array([1.0, 0.1 * (k + run.seed), 1.0]) for k, name in enumerate(names)}
            curves = {"steps": np.array([0, 5, 9]), "validation": np.ones(3), "test": np.ones(3)}
            store.add([bare_record(run, chosen=CHOSEN, errors=errors, **curves)])
        rows = list(evaluate(made, store))
    assert [row["labels"]["accuracy"] for row in rows][:3] == ["exact", "5 decimals", "rounded"]
    assert [row["errors"]["test"] for row in rows][:3] == pytest.approx([0.05, 0.15, 0.25])
    assert {row["threshold"] for row in rows} == {None}


def test_every_run_on_digits_is_a_chunk_of_its_own():
    experiment = Experiment("mnist-isolated", (Case(ModelSpec.parse("nmu"), MnistIsolated()),), 3)
    assert [len(chunk.runs) for chunk in make_work(experiment, None, 2).chunks] == [1, 1, 1]
