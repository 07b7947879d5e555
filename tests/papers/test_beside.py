"""The papers' numbers for a task, to put beside runs of any unit."""

import dataclasses

import pytest

from nalm.papers.beside import published_for
from nalm.tasks import ArithmeticDataset, SingleModule, TenParameters


def _by_model(task, iterations=None):
    return {rate.model: rate for rate in published_for(task, iterations)}


def test_a_printed_rate_has_seeds_interval_steps_threshold_and_source():
    rate = _by_model(SingleModule("div", "tn-1"))["realnpu@modified"]
    assert (rate.success.value, rate.n, rate.iterations) == (0.64, 25, 50_000)
    assert rate.success.low == pytest.approx(0.445, abs=1e-3)
    assert rate.threshold == "epsilon-perfect model, epsilon 1e-5"
    assert rate.source == "mistry2023, section 5.7, text"
    assert (rate.entry, rate.label, rate.kind) == ("mistry2023:fig5.10", "Real NPU (mod)", "number")


def test_each_unit_of_a_paper_stands_once_although_several_figures_have_it():
    models = [rate.model for rate in published_for(SingleModule("div", "1:2"))]
    assert models == list(dict.fromkeys(models))
    assert {"nru", "npu"} <= set(models)


def test_a_range_is_the_same_however_it_is_written():
    named, written = (published_for(SingleModule("mul", text)) for text in ("1:2", "1:2=>2:6"))
    assert named == written != []


@pytest.mark.parametrize(
    "task",
    [SingleModule("div", "1:2=>2:7"), SingleModule("div", "1:2", 3)],
)
def test_other_data_have_no_published_numbers(task):
    assert published_for(task) == []


def test_only_rates_of_as_many_steps():
    task = SingleModule("sub", "1:2", 10)
    assert [rate.iterations for rate in published_for(task)] == [100_000]
    assert published_for(task, 50_000) == []


def test_settings_that_a_paper_sweeps_are_left_out():
    """Madsen & Johansen's figure 12 sweeps penalties of the NMU, the thesis's figure 6.2 losses."""
    rates = [rate for rate in published_for(ArithmeticDataset("mul")) if rate.model.startswith("nau+nmu")]
    assert [(rate.entry, rate.success.value, rate.n) for rate in rates] == [("madsen2020:table2", 0.98, 100)]


def test_a_task_with_one_recipe_of_its_own_has_numbers_too():
    assert {rate.iterations for rate in published_for(TenParameters())} == {200_000}


def test_the_subset_of_the_arithmetic_dataset_is_part_of_the_task():
    usual = ArithmeticDataset("mul")
    other = dataclasses.replace(usual, subset_ratio=0.05)
    assert _by_model(usual)["nac+nac-mul"].entry == "madsen2020:table2"
    assert published_for(other) == []


def test_a_row_is_plain_data():
    row = published_for(SingleModule("mul", "1:2"))[0].row()
    assert set(row) == {
        *("model", "label", "success", "n", "iterations", "threshold", "source", "entry", "kind"),
    }
    assert set(row["success"]) == {"rate", "low", "high"}
