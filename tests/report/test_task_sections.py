"""The sections of tasks with networks of their own: language, programs, agents, logic, epidemics."""

import numpy as np
import pytest
from made_runs import fill
from made_tasks import every_kind, sections_of, task_record, task_run

from nalm.experiment.bench import make_experiment
from nalm.experiment.store import Store
from nalm.report.page import write_page
from nalm.tasks import Comparison, Epidemic, GridWorld, Language, Lists, Logic, Programs
from nalm.tasks.grid_world.task import TESTED

ORDER = ["logic", "lists", "shortest-paths", "language", "programs", "grid-world", "epidemic"]


def _cells(section, k=0):
    return {
        heading: (cell.estimate, cell.interval, cell.below)
        for heading, cell in zip(section["headings"], section["rows"][k]["cells"])
    }


def test_every_task_has_a_section_in_the_order_of_the_catalogue():
    assert [*sections_of(every_kind())] == ORDER


def test_language_has_its_error_on_each_set_with_quartiles():
    runs = [task_record(task_run("nalu", Language(), k), 1.0 + k, {"seen/mae": 0.5}) for k in range(3)]
    section = sections_of(runs)["language"]
    assert _cells(section) == {
        "validation": ("2", "[1, 3]", ""),
        "test": ("2", "[1, 3]", ""),
        "seen": ("0.5", "[0.5, 0.5]", ""),
    }
    assert "mean absolute error" in section["meaning"]
    assert section["figures"] == []


def test_programs_have_matching_digits_by_their_number_as_in_the_paper():
    errors = {"validation/wrong_digits": 0.0, "three-digits/wrong_digits": 0.25, "test/wrong_digits": 0.5}
    section = sections_of([task_record(task_run("lstm", Programs("sum")), 0.0, errors)])["programs"]
    assert _cells(section) == {
        "digits 2": ("100.0", "", ""),
        "digits 3": ("75.0", "", ""),
        "digits 4": ("50.0", "", ""),
    }
    (drawn,) = section["figures"]
    assert drawn["figure"].title == "sum: matching digits, % by digits"
    assert "lstm, digits 4: 50" in drawn["figure"].drawing


def test_an_agent_is_in_time_by_instruction_and_its_figure_has_them_all():
    missed = np.linspace(0, 1, len(TESTED))
    run = task_record(task_run("nac", GridWorld("instruct")), 0.0, {"test/missed_by_time": missed})
    section = sections_of([run])["grid-world"]
    shown = _cells(section)
    assert len(shown) <= 12
    assert shown["T 5"][0] == "100.0"
    assert shown["T 25"][0] == "0.0"
    drawing = section["figures"][0]["figure"].drawing
    assert all(f"nac, T {time}: " in drawing for time in TESTED)


def test_success_has_its_interval_and_the_median_below():
    lengths = {"test/wrong_number": 0.0, "length 100/wrong_number": 0.0, "length 1000/wrong_number": 0.5}
    runs = [task_record(task_run("nsr", Lists("min"), k), 0.0, lengths) for k in range(2)]
    section = sections_of(runs)["lists"]
    assert _cells(section)["length 100"] == ("1.00", "[0.34, 1.00]", "100.0")
    assert _cells(section)["length 1,000"] == ("0.00", "[0.00, 0.66]", "50.0")
    assert "share of runs that succeed" in section["meaning"]


def test_logic_is_judged_by_its_threshold_and_units_are_told_apart():
    runs = [task_record(task_run("nlrl+nlrl", Logic("xor"), hidden=units), 0.001) for units in (2, 16, 8)]
    section = sections_of(runs)["logic"]
    rows = section["rows"]
    assert ["".join(row["name"]) for row in rows] == [
        *("nlrl+nlrl", "nlrl+nlrl · hidden=8", "nlrl+nlrl · hidden=16")
    ]
    assert [row["cells"][1].estimate for row in rows] == ["1.00"] * 3
    assert "the first two of 2 truth values" in section["about"]


def test_an_epidemic_has_a_point_per_run_by_the_number_of_parameters():
    run = task_run("realnpu+nau", Epidemic("sir"), hidden=4)
    weights = {"a": np.array([1.0, 1e-4, 2.0])}
    section = sections_of([task_record(run, 1e-6, chosen_parameters=weights)])["epidemic"]
    (drawn,) = section["figures"]
    assert "2 parameters, 1e-06" in drawn["figure"].drawing
    assert not section["lines"]


def test_many_figures_are_folded():
    runs = [
        task_record(task_run("nsr", Comparison(op, kind)), 0.0)
        for op in Comparison.ops
        for kind in ("integers", "floats")
    ]
    section = sections_of(runs)["comparison"]
    assert section["folded"]
    assert len(section["figures"]) == len(Comparison.ops)
    assert section["labels"] == ["numbers"]


@pytest.mark.parametrize("error", [np.nan, np.inf])
def test_an_error_that_is_not_finite_is_said(error):
    runs = [task_record(task_run("nalu", Language(), k), error) for k in range(2)]
    assert _cells(sections_of(runs)["language"])["test"][0] == "not finite"
    programs = [task_record(task_run("lstm", Programs("sum")), error)]
    assert _cells(sections_of(programs)["programs"])["digits 4"][0] == "0.0"
    epidemic = task_run("realnpu+nau", Epidemic("sir"), hidden=4)
    assert sections_of([task_record(epidemic, error)])["epidemic"]["figures"] == []


def test_the_page_has_the_sections_and_counts_their_runs(tmp_path):
    path, output = tmp_path / "s.sqlite", tmp_path / "report.html"
    fill(path, make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1))
    records = every_kind()
    with Store(path) as store:
        store.add(records)
    write_page(path, output)
    page = output.read_text()
    for task in ORDER:
        assert f'<section id="of-{task}"' in page
        assert f'<li><a href="#of-{task}">{task}</a></li>' in page
    assert f" {len(records)} more under " in page
    assert 'id="others"' not in page


def test_a_page_without_such_runs_has_no_such_section(tmp_path):
    path, output = tmp_path / "s.sqlite", tmp_path / "report.html"
    fill(path, make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1))
    write_page(path, output)
    assert 'class="own"' not in output.read_text()
