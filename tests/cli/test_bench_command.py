"""`nalm bench`: what it prints."""

import pytest

from nalm.report import tables

ROW = {
    "model": "./mine.py:MyOwnMultiplicationUnit",
    "op": "mul",
    "inputs": 2,
    "range": "-0.2:-0.1=>-6:-2|2:6",
    "success": {"rate": 0.52, "low": 0.34, "high": 0.7},
    "solved_at": {"mean": 24000.0, "low": 23000.0, "high": 25000.0},
    "sparsity": {"mean": 1e-7, "low": 1e-8, "high": 1e-6},
    "outcomes": {"solved": 13, "not_extrapolating": 5, "not_converged": 4, "diverged": 3},
    "published": None,
}


@pytest.mark.parametrize("columns", [80, 100, 120, None])
def test_a_benchmark_shows_unit_operation_range_and_intervals_at_any_width(columns):
    text = tables.bench_table({"task": "single-module", "rows": [ROW]}).text(columns)
    shown = (
        ROW["model"],
        ROW["range"],
        "0.52 [0.34, 0.70]",
        "24000 [23000, 25000]",
        "1.0e-07 [1.0e-08, 1.0e-06]",
    )
    assert all(each in text for each in (*shown, "mul", "3 diverged"))
    if columns:
        assert max(map(len, text.splitlines())) <= columns


def test_second_order_runs_say_what_they_found_and_took(run, tmp_path):
    store = str(tmp_path / "runs.sqlite")
    arguments = ("--units", "nru", "--op", "div", "--ranges", "-2:2", "--inputs", "4", "--seeds", "2")
    code, output, _ = run(
        "bench", "single-module", *arguments, "--recipe", "second-order", "--jobs", "1", "--store", store
    )
    assert code == 0
    assert "nru@second-order" in output
    assert "Second-order runs: 2 exact, 0 discrete, 0 approximate, 0 failed; on average" in output


def test_a_model_too_large_for_second_order_is_wrong_usage(run):
    code, _, talk = run("bench", "single-module", "--units", "nau@second-order", "--inputs", "5000")
    assert code == 2
    assert "at most 4,096 parameters" in talk
    assert len(talk.strip().splitlines()) == 1
