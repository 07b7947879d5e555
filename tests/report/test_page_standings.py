"""The answers of a page: which unit is best, whether the difference is real, what papers publish."""

import pytest
from made_runs import fill

from nalm.experiment.bench import make_experiment
from nalm.experiment.store import Store
from nalm.experiment.stored_cases import stored_cases
from nalm.report.page_data import Page

SEEDS = 20
EASY = {"nmu": 20, "snmu": 20, "nmru": 17, "nru": 2}
"""How many seeds of each unit are solved."""


def page_of(path, *experiments, solved=EASY):
    for experiment in experiments:
        fill(path, experiment, lambda run: run.seed < solved[run.case.model.name])
    with Store(path) as store:
        return Page(stored_cases(store.records()))


def on(ranges, units=tuple(EASY), seeds=SEEDS):
    return make_experiment("single-module", list(units), ["mul"], ranges, seeds=seeds)


def answer_of(page):
    (section,) = page.text_data()["sections"]
    (answer,) = section["parts"][0]["answers"]
    return answer


def standings_of(page):
    (standing,) = page.program_data([1] * len(page.rows))["standings"]
    return standing["units"]


@pytest.fixture
def page(tmp_path):
    return page_of(tmp_path / "s.sqlite", on(["1:2"]))


def test_all_of_the_best_are_named_and_those_that_no_test_tells_apart(page):
    answer = answer_of(page)
    assert [(unit["label"], unit["rate"], unit["runs"]) for unit in answer["best"]] == [
        ("nmu", "1.000", 20),
        ("snmu", "1.000", 20),
    ]
    assert answer["like"] == "nmru 0.85"
    assert answer["worse"] == "nru 0.10"


def test_the_more_units_are_compared_the_larger_a_difference_must_be(tmp_path):
    """6 of 20 fewer: a chance of 2 % that both are equal, which is little for two units and not for four."""
    few = page_of(tmp_path / "few.sqlite", on(["1:2"], ["nmu", "nmru"]), solved={"nmu": 20, "nmru": 14})
    many = page_of(tmp_path / "many.sqlite", on(["1:2"]), solved={**EASY, "nmru": 14})
    assert (answer_of(few)["like"], answer_of(few)["worse"]) == ("", "nmru 0.70")
    assert answer_of(many)["like"] == "nmru 0.70"


def test_units_are_in_the_order_of_their_success_with_those_on_some_ranges_last(tmp_path):
    page = page_of(tmp_path / "s.sqlite", on(["1:2", "10:20"], ["nmru", "nru"]), on(["1:2"], ["nmu"]))
    units = standings_of(page)
    assert [(unit["label"], unit["partial"], unit["leads"]) for unit in units] == [
        ("nmru", "", True),
        ("nru", "", False),
        ("nmu", "1 of 2 ranges", False),
    ]
    assert units[0]["success"]["rate"] == 0.85
    assert units[0]["runs"] == 2 * SEEDS


def test_a_unit_alone_is_the_best_and_is_compared_with_nothing(tmp_path):
    page = page_of(tmp_path / "s.sqlite", on(["1:2"], ["nmru"]))
    answer = answer_of(page)
    assert [unit["label"] for unit in answer["best"]] == ["nmru"]
    assert answer["alone"]
    assert not any(unit["leads"] for unit in standings_of(page))


def test_no_unit_is_best_where_none_solves_or_none_was_run_on_all_ranges(tmp_path):
    none = page_of(tmp_path / "a.sqlite", on(["1:2"]), solved=dict.fromkeys(EASY, 0))
    assert (answer_of(none)["best"], answer_of(none)["none"]) == ([], "no unit solves it")
    apart = page_of(tmp_path / "b.sqlite", on(["1:2"], ["nmu"]), on(["10:20"], ["nmru"]))
    assert (answer_of(apart)["best"], answer_of(apart)["none"]) == ([], "no unit was run on all ranges")


def test_the_best_are_compared_with_what_papers_publish_range_by_range(tmp_path):
    page = page_of(
        tmp_path / "s.sqlite", on(["1:2", "10:20"], ["snmu", "nru"]), solved={"snmu": 20, "nru": 1}
    )
    assert answer_of(page)["papers"] == ["snmu, mistry2023: agrees on 2 of 2 ranges"]


def test_where_ours_is_lower_than_published_is_said(tmp_path):
    page = page_of(tmp_path / "s.sqlite", on(["1:2"], ["nmu"]), solved={"nmu": 10})
    assert answer_of(page)["papers"] == ["nmu, mistry2023: lower on 1:2"]


def test_other_steps_are_not_compared_with_papers(tmp_path):
    short = make_experiment("single-module", ["nmu"], ["mul"], ["1:2"], seeds=3, iterations=1000)
    assert answer_of(page_of(tmp_path / "s.sqlite", short))["papers"] == []
