"""What became of a run, from its curves alone."""

import math

import pytest
import torch

import nalm
from nalm.evaluate.outcome import Outcome, classify
from nalm.tasks import SingleModule, Split
from nalm.training.result import TrainResult

TASK = SingleModule("add", "1:2")
NO_TEST_THRESHOLD = SingleModule("div", "1:2=>-2:2")
NO_VALIDATION_THRESHOLD = SingleModule("div", "-2:2")
OK, BAD = 0.0, 1.0


def result(validation, test, *, chosen=None, diverged_at=None, tasks=None):
    """A result with these curves, one list a run, logged at the steps 0, 1000, 2000, …."""
    validation, test = (torch.tensor(curve, dtype=torch.float64) for curve in (validation, test))
    runs, logs = validation.shape
    return TrainResult(
        model=nalm.NAU(2, 1),
        tasks=tasks or [TASK] * runs,
        seeds=list(range(runs)),
        steps=1000 * torch.arange(logs),
        validation=validation,
        test=test,
        chosen=torch.tensor(chosen or [logs - 1] * runs),
        chosen_parameters={},
        final_parameters={},
        history_steps=torch.tensor([]),
        history={},
        diverged_at=torch.tensor(diverged_at or [-1] * runs),
        reinitialised=torch.zeros(runs, dtype=torch.long),
        compiled=False,
        seconds=0.0,
    )


def outcome(validation, test, **options):
    (found,) = result([[validation]], [[test]], **options).outcomes()
    return found


# -- the rules -----------------------------------------------------------------------------------


def test_a_test_error_below_the_threshold_is_solved():
    assert outcome(OK, OK) is Outcome.SOLVED


def test_a_fit_of_the_training_range_alone_is_not_extrapolating():
    assert outcome(OK, BAD) is Outcome.NOT_EXTRAPOLATING


def test_no_fit_is_not_converged():
    assert outcome(BAD, BAD) is Outcome.NOT_CONVERGED


@pytest.mark.parametrize("step", [0, 2000])
def test_a_run_with_a_number_that_is_not_finite_is_diverged(step):
    assert outcome(math.nan, math.nan, diverged_at=[step]) is Outcome.DIVERGED


def test_diverged_takes_precedence_over_a_fit_of_the_training_range():
    assert outcome(OK, BAD, diverged_at=[1000]) is Outcome.DIVERGED


def test_solved_takes_precedence_over_diverged():
    assert outcome(OK, OK, diverged_at=[1000]) is Outcome.SOLVED


def test_solved_does_not_ask_for_the_validation_error():
    assert outcome(BAD, OK) is Outcome.SOLVED


@pytest.mark.parametrize("error", [math.nan, math.inf])
def test_an_error_that_is_not_finite_is_never_solved(error):
    assert outcome(OK, error) is Outcome.NOT_EXTRAPOLATING
    assert outcome(error, error) is Outcome.NOT_CONVERGED


def test_an_error_at_the_threshold_is_not_below_it():
    limit, inner = TASK.threshold(Split.TEST), TASK.threshold(Split.VALIDATION)
    assert outcome(BAD, limit) is Outcome.NOT_CONVERGED
    assert outcome(inner, BAD) is Outcome.NOT_CONVERGED
    assert outcome(BAD, math.nextafter(limit, 0)) is Outcome.SOLVED
    assert outcome(math.nextafter(inner, 0), BAD) is Outcome.NOT_EXTRAPOLATING


def test_only_the_chosen_step_counts():
    curves = [[OK, BAD]], [[OK, BAD]]
    assert result(*curves, chosen=[0]).outcomes() == [Outcome.SOLVED]
    assert result(*curves, chosen=[1]).outcomes() == [Outcome.NOT_CONVERGED]


def test_each_run_is_judged_by_its_own_task():
    tasks = [SingleModule("add", "10:20"), SingleModule("add", "0.1:0.2")]
    between = math.sqrt(tasks[0].threshold() * tasks[1].threshold())
    found = result([[BAD], [BAD]], [[between], [between]], tasks=tasks).outcomes()
    assert found == [Outcome.SOLVED, Outcome.NOT_CONVERGED]


def test_outcomes_are_those_of_classify():
    made = result([[OK], [OK], [BAD]], [[OK], [BAD], [BAD]])
    assert classify(made) == made.outcomes()
    assert classify(made, 2.0) == made.outcomes(2.0)


# -- thresholds ----------------------------------------------------------------------------------


def test_a_given_threshold_is_for_both_splits():
    made = result([[0.4], [0.4], [0.6]], [[0.4], [0.6], [0.6]])
    assert made.outcomes(0.5) == [Outcome.SOLVED, Outcome.NOT_EXTRAPOLATING, Outcome.NOT_CONVERGED]


def test_a_task_without_a_threshold_asks_for_one():
    made = result([[OK]], [[OK]], tasks=[NO_TEST_THRESHOLD])
    for question in (made.outcomes, made.success_rate, made.solved_at):
        with pytest.raises(nalm.ArgumentError, match="`threshold` must be a number"):
            question()


def test_a_task_without_a_threshold_takes_the_given_one():
    made = result([[OK]], [[0.1]], tasks=[NO_TEST_THRESHOLD])
    assert made.outcomes(0.5) == [Outcome.SOLVED]
    assert made.success_rate(0.5) == 1
    assert made.solved_at(0.5) == [0]


def test_without_a_validation_threshold_no_run_is_not_extrapolating():
    assert NO_VALIDATION_THRESHOLD.threshold(Split.VALIDATION) is None
    assert outcome(OK, OK, tasks=[NO_VALIDATION_THRESHOLD]) is Outcome.SOLVED
    assert outcome(OK, BAD, tasks=[NO_VALIDATION_THRESHOLD]) is Outcome.NOT_CONVERGED


# -- what the result says of its runs ------------------------------------------------------------


def test_success_rate_is_the_share_of_solved_runs():
    assert result([[OK]] * 4, [[OK], [BAD], [OK], [OK]]).success_rate() == 0.75


def test_success_rate_follows_the_threshold():
    made = result([[0.4]] * 2, [[0.4], [0.6]])
    assert [made.success_rate(limit) for limit in (0.1, 0.5, 1.0)] == [0, 0.5, 1]


def test_solved_at_is_the_first_logged_step_below_the_threshold():
    made = result([[BAD] * 4] * 2, [[BAD, OK, BAD, OK], [BAD, BAD, BAD, OK]])
    assert made.solved_at() == [1000, 3000]


def test_solved_at_is_none_for_runs_that_are_not_solved():
    made = result([[OK, OK]] * 2, [[OK, BAD], [OK, OK]])
    assert made.solved_at() == [None, 0]


def test_solved_at_follows_the_threshold():
    assert result([[OK] * 3], [[0.9, 0.4, 0.1]]).solved_at(0.5) == [1000]
    assert result([[OK] * 3], [[0.9, 0.4, 0.1]]).solved_at(0.2) == [2000]


def test_best_is_the_run_with_the_lowest_validation_error_at_its_chosen_step():
    made = result([[0.0, 0.3], [0.5, 0.2], [0.1, 0.4]], [[0.0, 0.0]] * 3, chosen=[1, 1, 1])
    assert made.best == 1


def test_best_does_not_look_at_the_test_error():
    assert result([[0.2], [0.1]], [[0.0], [9.0]]).best == 1


def test_best_is_never_a_run_whose_error_is_not_finite():
    assert result([[math.nan], [-math.inf], [5.0]], [[0.0]] * 3).best == 2


def test_the_chosen_error_is_that_of_the_asked_split():
    made = result([[0.1, 0.2], [0.3, 0.4]], [[1.0, 2.0], [3.0, 4.0]], chosen=[0, 1])
    assert made.chosen_error().tolist() == made.chosen_error(Split.TEST).tolist() == [1.0, 4.0]
    assert made.chosen_error(Split.VALIDATION).tolist() == [0.1, 0.4]


def test_the_length_is_the_number_of_runs():
    assert len(result([[OK]] * 3, [[OK]] * 3)) == 3


# -- advice --------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", Outcome)
def test_every_outcome_has_a_sentence_of_advice(which):
    assert which.advice[0].isupper()
    assert which.advice.endswith(".")


def test_every_outcome_has_its_own_advice():
    assert len({which.advice for which in Outcome}) == len(Outcome)


def test_outcomes_are_their_names_in_json():
    assert sorted(map(str, Outcome)) == ["diverged", "not_converged", "not_extrapolating", "solved"]


@pytest.mark.parametrize("which", [Outcome.NOT_EXTRAPOLATING, Outcome.NOT_CONVERGED])
def test_advice_depends_on_what_the_run_shows(which):
    """More steps or a stronger penalty help only where the error still falls, or weights are not discrete."""
    seen, advice = which.advice.split(" If ")
    assert "steps" not in seen
    assert "penalty" not in seen
    assert "if not" in advice or "if they are" in advice
