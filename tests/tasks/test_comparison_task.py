"""Comparisons and piecewise functions: data at every size, ideal weights, what is learnt."""

import operator

import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.models.branch import Branch
from nalm.tasks import Comparison, Piecewise, Split
from nalm.tasks.comparison import LARGEST, LEAST, TIMES
from nalm.tasks.sampling import sample
from nalm.training.trainers import train_runs

MEANINGS = {name: getattr(operator, name) for name in Comparison.ops}
PIECES = {
    "abs": lambda a, b: abs(a - b),
    "max": max,
    "jump": lambda a, b: a + b if a > b else a - b,
    "swap": lambda a, b: -b if a > b else a,
}


@pytest.mark.parametrize("kind", LEAST)
@pytest.mark.parametrize("op", Comparison.ops)
def test_answers_are_those_of_python(op, kind):
    x, y = sample(Comparison(op, kind), 0, Split.TEST, 300)
    assert y[:, 0].tolist() == [float(MEANINGS[op](a, b)) for a, b in x.tolist()]


@pytest.mark.parametrize("split", [Split.TRAIN, *TIMES])
@pytest.mark.parametrize("kind", LEAST)
def test_pairs_are_equal_close_or_far_apart(kind, split):
    x, _ = sample(Comparison("eq", kind), 0, split, 3000, dtype=torch.float32)
    apart = (x[:, 0] - x[:, 1]).abs()
    equal, close = (apart == 0).float().mean(), ((apart > 0) & (apart <= LARGEST)).float().mean()
    assert float(equal) == pytest.approx(1 / 3, abs=0.05)
    assert float(close) > 0.28
    assert float(apart[apart > 0].min()) >= 0.9 * LEAST[kind]
    assert float(x[:, 0].abs().max()) == pytest.approx(LARGEST * TIMES.get(split, 1), rel=0.1)
    assert (kind == "integers") == bool((x == x.round()).all())


@pytest.mark.parametrize("op", Comparison.ops)
def test_ideal_weights_answer_whole_numbers_of_every_size(op):
    unit = nalm.NSR(3, 1)
    unit.ideal_(op)
    for split in TIMES:
        x, y = sample(Comparison(op, inputs=3), 0, split, 1000, dtype=torch.float32)
        assert torch.equal(unit(x).round(), y)


def test_all_comparisons_share_a_program_and_succeed_without_a_wrong_answer():
    tasks = Comparison.variants()
    assert len(tasks) == 12
    assert len({task.shape() for task in tasks}) == 1
    (first, *_) = tasks[0].facets()
    assert first.labels == {"times": 10}
    assert first.below == pytest.approx(0.5 / tasks[0].samples(first.curve.partition("/")[0]))


def test_redundancy_learns_equality_far_outside_the_training_range():
    case = Case(ModelSpec.parse("nsr(redundancy=10)"), Comparison("lt"))
    runs = train_runs(
        case.build(),
        [case.task] * 2,
        [case.recipe] * 2,
        [0, 1],
        iterations=600,
        log_interval=300,
        compiled=False,
    )
    assert (runs.errors["100000 times/wrong_number"][:, -1] == 0).all()


def test_second_order_runs_are_measured_on_every_set():
    case = Case(ModelSpec.parse("nsr@second-order"), Comparison("lt"))
    runs = train_runs(
        case.build(), [case.task], [case.recipe], [0], iterations=5, log_interval=5, dtype=torch.float64
    )
    logs = len(runs.steps)
    names = {f"{split}/{name}" for split in ("validation", *TIMES) for name in ("mse", "wrong_number")}
    assert set(runs.errors) == names - {"validation/mse", "test/mse"}
    assert {tuple(curve.shape) for curve in runs.errors.values()} == {(1, logs)}
    assert runs.errors["1000 times/wrong_number"][0, -1] <= runs.errors["1000 times/wrong_number"][0, 0]


@pytest.mark.parametrize("op", Piecewise.ops)
def test_pieces_are_what_they_mean(op):
    x, y = sample(Piecewise(op), 0, Split.VALIDATION, 300)
    assert y[:, 0].tolist() == [PIECES[op](a, b) for a, b in x.tolist()]


def test_a_comparison_and_two_sums_can_express_every_piece():
    for op, (above, elsewhere) in {"abs": ((1, -1), (-1, 1)), "jump": ((1, 1), (1, -1))}.items():
        unit = nalm.NSR(2, 1)
        unit.ideal_("gt")
        branch = Branch(unit, 2)
        branch.sums.weight.data = torch.tensor([above, elsewhere], dtype=torch.float32)
        x, y = sample(Piecewise(op), 0, "1000 times", 500, dtype=torch.float32)
        assert torch.equal(branch(x).round(), y)


def test_a_stored_task_is_rebuilt():
    for task in (Comparison("eq", "floats", inputs=4), Piecewise("abs")):
        assert type(task).rebuild(task.labels(), task.identity()) == task


@pytest.mark.parametrize(
    "wrong", [{"op": "spaceship"}, {"op": "eq", "numbers_are": "reals"}, {"op": "eq", "inputs": 1}]
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ArgumentError, match=list(wrong)[-1]):
        Comparison(**wrong)
