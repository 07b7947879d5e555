"""Loss surfaces: the marked minimum is the lowest point, and runs of units that succeed end there."""

import pytest
import torch

from nalm.report.gallery import loss_surfaces
from nalm.report.gallery.descent import descents, loss, minima, problems
from nalm.report.gallery.planes import PLANES, drawable
from nalm.tasks import SingleModule
from nalm.units import UNITS, unit_class

EVERY = [(unit, task) for unit in PLANES for task in problems(unit_class(unit))]
NAMED = [f"{unit}-{task.op}-{task.range}" for unit, task in EVERY]


def test_every_unit_that_can_multiply_or_divide_has_a_plane_and_a_picture():
    able = [name for name, kind in UNITS.items() if {"mul", "div"} & set(kind.ops)]
    assert drawable() == able
    assert set(PLANES) == set(able)
    assert list(loss_surfaces.KIND.makers) == [f"loss-surface-{name}" for name in able]


@pytest.mark.parametrize(("unit", "task"), EVERY, ids=NAMED)
def test_the_marked_minimum_is_below_all_of_the_surface(unit, task):
    plane = PLANES[unit]
    axis = torch.linspace(*plane.shown, 24, dtype=torch.float64)
    surface = loss(unit, task, torch.cartesian_prod(axis, axis))
    marked = minima(unit, task)
    assert [1.0, -1.0 if task.op == "div" and plane.low < 0 else 1.0] in marked.tolist()
    assert surface.isfinite().all()
    assert loss(unit, task, marked).max() <= surface.min()


@pytest.mark.parametrize("unit", PLANES)
def test_weights_that_are_set_are_read_again(unit):
    plane, (task, *_) = PLANES[unit], problems(unit_class(unit))
    wanted = torch.tensor([[0.25, 0.5], [0.75, 0.9]], dtype=torch.float64)
    made = unit_class(unit)(2, 1, batch_shape=(2,), dtype=torch.float64)
    plane.place_(made, task.op, wanted)
    torch.testing.assert_close(plane.read(made, task.op), wanted)


def test_units_that_are_right_for_positive_inputs_only_have_no_negative_range():
    assert {task.range for task in problems(unit_class("nalu"))} == {"1:2"}
    assert {task.range for task in problems(unit_class("nmu"))} == {"1:2", "-2:-1"}


@pytest.fixture(scope="module")
def nmu():
    """The NMU on both ranges, with few points."""
    return descents("nmu", seeds=10, side=5)


def test_runs_of_a_unit_that_succeeds_end_at_the_minimum(nmu):
    easy, _ = nmu
    assert easy.task == SingleModule("mul", "1:2")
    assert easy.arrived == easy.solved == [True] * 10
    assert (easy.paths[:, -1] - 1).abs().max() < 1e-3


def test_a_run_that_fails_ends_elsewhere(nmu):
    _, hard = nmu
    assert hard.arrived == hard.solved
    failed = [path for path, solved in zip(hard.paths, hard.solved) if not solved]
    assert failed
    assert all((path[-1] == 0).all() for path in failed)


def test_paths_are_those_of_the_recipe_from_the_unit_s_own_weights(nmu):
    easy, hard = nmu
    start = easy.paths[:, 0]
    assert ((start > 0.25) & (start < 0.75)).all()
    assert torch.equal(start, hard.paths[:, 0])
    steps = easy.paths.diff(dim=1).abs()
    assert steps[:, :30].max() < 0.01  # the beginning is followed in fine steps of Adam at 0.001
    assert steps.max() > 0  # and something moves


def test_the_sentence_counts_arrivals_and_solutions(nmu):
    said = loss_surfaces.sentence(nmu, PLANES["nmu"])
    solved = sum(nmu[1].solved)
    assert "x1 x2 on U[1, 2): 10 of 10 runs end at a minimum, solved by 10" in said
    assert f"x1 x2 on U[-2, -1): {solved} of 10 runs end at a minimum, solved by {solved}" in said
