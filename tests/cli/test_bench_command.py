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


def test_a_file_of_numbers_is_benchmarked_by_its_errors(run, tmp_path):
    path, store = tmp_path / "areas.csv", str(tmp_path / "runs.sqlite")
    path.write_text("width;height;area\n" + "".join(f"{k},5;2;{2 * k + 1}\n" for k in range(1, 30)))
    arguments = ("bench", str(path), "--units", "nmu", "--seeds", "2", "--iterations", "50", "--jobs", "1")
    code, output, talk = run(*arguments, "--store", store)
    assert code == 0
    assert "areas.csv: area" in output
    assert "2 runs computed" in talk
    code, output, talk = run(*arguments, "--store", store, "--threshold", "1e9")
    assert "1.00 [" in output
    assert "computed" not in talk


WRONG = {
    (
        "--target",
        "hight",
    ): "Argument `target` must be one of width, height, area, but got 'hight'. Did you mean",
    ("--op", "mul"): "Argument `op` must be left out for a file of numbers",
    ("--inputs", "2"): "Argument `inputs` must be left out for a file of numbers",
    ("--test", "gone.csv"): "gone.csv does not exist.",
}


@pytest.mark.parametrize("options", WRONG)
def test_what_a_file_cannot_be_asked_is_said(options, run, tmp_path):
    path = tmp_path / "areas.csv"
    path.write_text("width,height,area\n1,2,2\n2,2,4\n3,2,6\n")
    code, _, talk = run("bench", str(path), *options)
    assert code == 2
    assert WRONG[options] in talk


def test_a_task_has_no_target(run):
    code, _, talk = run("bench", "single-module", "--target", "y")
    assert code == 2
    assert "Argument `target` must be left out for a task by its name" in talk
