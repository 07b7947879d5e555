"""What the kept results say about a unit: our success and the published one, per operation and range."""

import pytest

from nalm.papers.agreement import Finding
from nalm.papers.ledger import kept_result
from nalm.papers.unit_results import all_successes, success_by_range
from nalm.units import UNITS


def _row(unit, **wanted):
    found = [row for row in success_by_range(unit) if all(getattr(row, k) == v for k, v in wanted.items())]
    assert len(found) == 1
    return found[0]


def test_a_row_has_our_rate_and_the_papers_with_intervals_seeds_and_entry():
    row = _row("realnpu", model="realnpu@modified", op="div", inputs=2, range="TN(1,3)[-10,5)")
    assert (row.published.value, row.published.n, row.kind) == (0.64, 25, "number")
    assert row.published.low == pytest.approx(0.445, abs=1e-3)
    assert (row.entry, row.task, row.steps) == ("mistry2023:fig5.10", "single-module", 50_000)
    assert row.ours.low < row.ours.value < row.ours.high
    assert row.ours.n == 25


def test_our_rate_is_that_of_the_kept_cell():
    (cell,) = [
        cell
        for cell in kept_result("mistry2023:fig3.4")["cells"]
        if (cell["row"], cell["column"], cell["metric"]) == ("NMU", "U[-2,-1)", "success")
    ]
    row = _row("nmu", op="mul", range="U[-2,-1)")
    assert row.ours == Finding(cell["ours"], cell["low"], cell["high"], cell["n"])


def test_a_rate_that_no_paper_gives_has_none():
    row = _row("nac", op="add", range="U[1,2)")
    assert row.published is None
    assert row.verdict == "unpublished"


def test_every_model_stands_once_per_task_and_range():
    places = [(row.model, row.task, row.op, row.inputs, row.range) for row in all_successes()]
    assert len(places) == len(set(places)) > 300


def test_the_nine_ranges_of_the_standard_benchmark_are_there():
    assert len([row for row in success_by_range("nau") if (row.op, row.inputs) == ("sub", 2)]) == 9


def test_recipes_that_a_figure_changes_are_left_out():
    """Figure 5.4 sweeps the Real NPU's penalty over nine settings, of which one is its own."""
    rows = [row for row in success_by_range("realnpu") if row.range == "U[1,2)" and row.inputs == 2]
    assert [(row.model, row.op) for row in rows] == [
        ("realnpu", "mul"),
        ("realnpu", "div"),
        ("realnpu@modified", "div"),
    ]


def test_the_units_of_rows_are_known_and_a_unit_without_results_has_no_rows():
    assert {row.unit for row in all_successes()} <= set(UNITS)
    assert success_by_range("nsr") == []


def test_a_row_is_plain_data():
    row = _row("snmu", op="mul", range="U[1,2)").row()
    assert set(row["ours"]) == set(row["published"]) == {"rate", "low", "high", "n"}
    assert row["model"] == "snmu"
