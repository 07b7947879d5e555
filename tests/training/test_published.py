"""Published results hold, on fewer seeds than the papers' 25 (the full figures are in the changelog)."""

import pytest

import nalm
from nalm.tasks import TEST_RANGES, SingleModule
from nalm.training.trainers import train_runs

HARD = ["-2:-1", "-1.2:-1.1"]


def success(unit, op, ranges, seeds=5, recipe="published"):
    """Success rate by range with a published recipe."""
    tasks = [SingleModule(op, name) for name in ranges for _ in range(seeds)]
    recipes = [unit.recipe(op, recipe)] * len(tasks)
    result = train_runs(unit(2, 1), tasks, recipes, [*range(seeds)] * len(ranges), iterations=50_000)
    solved = [outcome == "solved" for outcome in result.outcomes()]
    return {name: sum(solved[k * seeds : (k + 1) * seeds]) / seeds for k, name in enumerate(ranges)}


@pytest.mark.xdist_group("nau")
@pytest.mark.parametrize("op", ["add", "sub"])
def test_the_nau_solves_sums_and_differences_on_all_ranges(op):
    assert set(success(nalm.NAU, op, list(TEST_RANGES)).values()) == {1.0}


@pytest.mark.xdist_group("nmu")
def test_the_nmu_solves_products_but_not_on_all_negative_ranges():
    easy = [name for name in TEST_RANGES if name not in HARD]
    assert set(success(nalm.NMU, "mul", easy).values()) == {1.0}
    assert max(success(nalm.NMU, "mul", HARD, seeds=25).values()) < 1.0


@pytest.mark.xdist_group("realnpu")
@pytest.mark.parametrize("op", ["mul", "div"])
def test_the_real_npu_solves_products_and_quotients_on_1_to_2(op):
    assert success(nalm.RealNPU, op, ["1:2"]) == {"1:2": 1.0}


@pytest.mark.xdist_group("snmu")
def test_the_stochastic_nmu_solves_the_ranges_that_the_nmu_does_not():
    assert success(nalm.SNMU, "mul", HARD) == {"-2:-1": 1.0, "-1.2:-1.1": 1.0}


@pytest.mark.xdist_group("realnpu")
def test_the_modified_real_npu_divides_on_negative_ranges_too():
    assert set(success(nalm.RealNPU, "div", [*HARD, "10:20"], recipe="modified").values()) == {1.0}


@pytest.mark.xdist_group("nru")
def test_the_nru_divides_where_signs_mix():
    assert success(nalm.NRU, "div", ["-2:2", "1:2"]) == {"-2:2": 1.0, "1:2": 1.0}


@pytest.mark.xdist_group("inalu")
def test_the_inalu_adds_with_reinitialisation_and_clipped_gradients():
    assert success(nalm.INALU, "add", ["-20:-10", "1:2"]) == {"-20:-10": 1.0, "1:2": 1.0}
