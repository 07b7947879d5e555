"""What a page says: sections, labels, headline, settings."""

from dataclasses import replace

import pytest
from made_runs import fill, made_record

from nalm import NUMERICS_VERSION
from nalm.experiment.bench import make_experiment
from nalm.experiment.run import Run
from nalm.experiment.store import Store
from nalm.experiment.stored_cases import stored_cases
from nalm.recipes import Adam
from nalm.report.page_data import Page, seeds_text, when
from nalm.tasks import SingleModule


def page_of(*experiments, path, **changes):
    for experiment in experiments:
        fill(path, experiment, **changes)
    with Store(path) as store:
        return Page(stored_cases(store.records()))


@pytest.fixture
def page(store_path):
    with Store(store_path) as store:
        return Page(stored_cases(store.records()))


def test_one_section_a_task_number_of_inputs_and_set_of_ranges(tmp_path):
    page = page_of(
        make_experiment("single-module", ["nmu"], None, ["1:2", "mixed-1"], seeds=1),
        make_experiment("single-module", ["nmu"], None, ["1:2", "3:4=>5:6"], seeds=1, inputs=10),
        path=tmp_path / "s.sqlite",
    )
    titles = [section["title"] for section in page.text_data()["sections"]]
    assert titles == [
        "single-module, 2 inputs, uniform ranges",
        "single-module, 2 inputs, mixed-sign ranges",
        "single-module, 10 inputs, uniform ranges",
        "single-module, 10 inputs, other ranges",
    ]


def test_units_operations_and_ranges_come_in_the_order_of_the_catalogue(page):
    data = page.program_data([0] * 15)
    assert list(dict.fromkeys(row["label"] for row in data["rows"])) == ["nac", "nau", "nmu"]
    assert data["sections"][0]["ops"] == ["add", "sub", "mul"]
    assert data["sections"][0]["ranges"] == ["-2:2", "1:2", "10:20"]


def units_of(page, part=0, section=0):
    """The units of a part of the summary."""
    return page.text_data()["sections"][section]["parts"][part]["units"]


def test_the_headline_pools_all_ranges_and_marks_the_best(page):
    headline = units_of(page)
    by_unit = {row["label"]: row["cells"] for row in headline}
    assert by_unit["nac"][0]["rate"] == "0.500"
    assert by_unit["nau"][0]["best"]
    assert not by_unit["nac"][0]["best"]
    assert by_unit["nau"][2] is None
    assert not by_unit["nmu"][2]["best"]  # with nothing beside it


def test_a_unit_on_some_of_the_ranges_is_said_so_and_is_not_best(tmp_path):
    page = page_of(
        make_experiment("single-module", ["nau"], ["add"], ["1:2"], seeds=2),
        make_experiment("single-module", ["nac"], ["add"], ["1:2", "10:20"], seeds=2),
        path=tmp_path / "s.sqlite",
    )
    nac, nau = units_of(page)
    assert nau["cells"][0]["partial"] == "1 of 2 ranges"
    assert not nau["cells"][0]["best"]
    assert nac["cells"][0]["best"]


def test_another_recipe_has_a_label_of_its_own_and_second_rank():
    (case,) = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1).cases
    slow = replace(case, other_recipe=replace(case.recipe, optimiser=Adam(0.25)))
    page = Page(stored_cases([made_record(Run(each, 0), solved=True) for each in (case, slow)]))
    assert [(row.label, row.second_rank) for row in page.rows] == [
        ("nmu", False),
        ("nmu · optimiser.learning_rate=0.25", True),
    ]
    assert [row["label"] for row in units_of(page)] == ["nmu"]


def test_a_variant_is_of_second_rank_only_where_the_plain_model_is():
    plain, other = make_experiment("single-module", ["nau"], ["add", "sub"], ["1:2"], seeds=1).cases
    records = [made_record(Run(plain, 0), solved=True)]
    for case in (plain, other):
        slow = replace(case, other_recipe=replace(case.recipe, optimiser=Adam(0.25)))
        records.append(made_record(Run(slow, 0), solved=True))
    page = Page(stored_cases(records))
    assert [(row.label, row.op, row.second_rank) for row in page.rows] == [
        ("nau", "add", False),
        ("nau · optimiser.learning_rate=0.25", "add", True),
        ("nau · optimiser.learning_rate=0.25", "sub", False),
    ]


def test_a_range_is_one_however_it_was_written_and_hidden_variants_do_not_count(tmp_path):
    page = page_of(
        make_experiment("single-module", ["nau", "nac"], ["add"], ["1:2"], seeds=1),
        make_experiment("single-module", ["nau"], ["add"], ["1:2=>2:6", "10:20"], seeds=1, iterations=7),
        path=tmp_path / "s.sqlite",
    )
    assert page.program_data([1] * 4)["sections"][0]["ranges"] == ["1:2", "10:20"]
    assert [row["cells"][0]["partial"] for row in units_of(page)] == ["", ""]


def test_only_units_of_as_many_steps_are_compared_and_none_is_hidden(tmp_path):
    """A unit of a user's own with 10,000 steps: beside it the NMU with as many, not the one with 50,000."""
    path, mine = tmp_path / "s.sqlite", "mine.py:Mine"
    short = make_experiment("single-module", ["nmu"], ["mul"], ["1:2"], seeds=4, iterations=10_000)
    fill(path, short, lambda run: run.seed < 1)
    with Store(path) as store:
        copies = [made_record(run, solved=run.seed < 2, model=mine) for run in short.runs()]
        store.add([replace(record, id=f"{record.seed:032}") for record in copies])
    page = page_of(make_experiment("single-module", ["nmu", "snmu"], ["mul"], ["1:2"], seeds=25), path=path)
    (section,) = page.text_data()["sections"]
    assert [part["budget"] for part in section["parts"]] == ["50,000 steps", "10,000 steps"]
    shown = [
        [(unit["label"], unit["seeds"], unit["cells"][0]["best"]) for unit in part["units"]]
        for part in section["parts"]
    ]
    assert shown == [
        [("nmu", "25", True), ("snmu", "25", True)],
        [
            ("nmu · iterations=10000; schedules scaled", "4", False),
            (f"{mine} · iterations=10000 · variant 1", "4", True),
        ],
    ]
    assert not any(row["hidden"] for row in page.program_data([1] * 4)["rows"])


def test_a_variant_of_another_budget_is_not_hidden_behind_the_plain_one(tmp_path):
    page = page_of(
        make_experiment("single-module", ["nau"], ["add"], ["1:2"], seeds=1),
        make_experiment("single-module", ["nau"], ["add"], ["1:2"], seeds=1, iterations=7),
        path=tmp_path / "s.sqlite",
    )
    assert [units_of(page, part)[0]["label"] for part in range(2)] == [
        "nau",
        "nau · iterations=7; schedules scaled",
    ]
    assert not units_of(page)[0]["cells"][0]["best"]  # with nothing beside it


def test_second_order_runs_stand_in_a_part_of_their_own(tmp_path):
    cost = {"found": "exact", "start": "grown", "starts": 1, "steps": 3, "seconds": 0.1}
    page = page_of(
        make_experiment("single-module", ["nau@second-order"], ["add"], ["1:2"], seeds=2),
        path=tmp_path / "s.sqlite",
        cost=cost,
    )
    page = page_of(
        make_experiment("single-module", ["nau"], ["add"], ["1:2"], seeds=2), path=tmp_path / "s.sqlite"
    )
    parts = page.text_data()["sections"][0]["parts"]
    assert [part["budget"] for part in parts] == ["50,000 steps", "second-order, up to 100 steps"]


def test_seeds_of_lines_with_more_and_fewer_are_told(tmp_path):
    page = page_of(
        make_experiment("single-module", ["nau"], ["add"], ["1:2"], seeds=2),
        make_experiment("single-module", ["nau"], ["add"], ["10:20"], seeds=3),
        path=tmp_path / "s.sqlite",
    )
    assert [unit["seeds"] for unit in units_of(page)] == ["2 to 3"]


def test_published_rates_stand_beside_lines_of_the_same_data_and_steps(tmp_path):
    page = page_of(
        make_experiment("single-module", ["nmu"], ["mul"], ["1:2=>2:6", "3:4=>5:6"], seeds=1),
        make_experiment("single-module", ["nmu"], ["mul"], ["1:2"], seeds=1, iterations=10_000),
        path=tmp_path / "s.sqlite",
    )
    data = page.program_data([1] * 3)
    rates = data["published"]
    assert {(rate["range"], rate["budget"], rate["op"]) for rate in rates} == {("1:2", "50,000 steps", "mul")}
    titles = {data["sections"][rate["section"]]["title"] for rate in rates}
    assert titles == {"single-module, 2 inputs, uniform ranges"}
    (nmu,) = [rate for rate in rates if rate["model"] == "nmu"]
    assert nmu["success"] == {"rate": 1.0, "low": pytest.approx(0.867, abs=1e-3), "high": 1.0}
    assert (nmu["n"], nmu["source"]) == (25, "mistry2023, section 3.3.2, text")


def test_what_nobody_solves_has_no_best(tmp_path):
    wanted = make_experiment("single-module", ["nau", "nac"], ["add"], ["1:2"], seeds=2)
    page = page_of(wanted, path=tmp_path / "s.sqlite", solved=lambda run: False)
    assert [row["cells"][0]["best"] for row in units_of(page)] == [
        False,
        False,
    ]


def test_times_that_are_not_known_are_said(tmp_path):
    wanted = make_experiment("single-module", ["nau"], ["add"], ["1:2"], seeds=1)
    page = page_of(wanted, path=tmp_path / "s.sqlite", computed_at="")
    assert page.text_data()["when"] == "before times were noted"
    page = page_of(
        make_experiment("single-module", ["nau"], ["sub"], ["1:2"], seeds=1), path=tmp_path / "s.sqlite"
    )
    assert page.text_data()["when"] == "on 2026-01-02, 03:04 UTC, some before times were noted"


def test_every_row_has_the_settings_behind_it(page):
    data = page.program_data([4] * 15)
    row = next(row for row in data["rows"] if row["label"] == "nmu" and row["range"] == "1:2")
    measured = SingleModule("mul", "1:2").threshold()
    assert row["seeds"] == "0 to 3"
    assert (row["train"], row["test"]) == ("1:2", "2:6")
    assert row["threshold"] == pytest.approx(measured, rel=1e-2)
    assert row["iterations"] == 50_000
    assert "Adam(learning_rate=0.001" in data["recipes"][row["recipe_text"]]
    assert "None" not in data["recipes"][row["recipe_text"]]
    assert data["machines"] == [
        f"nalm 0.5.0, numerics version {NUMERICS_VERSION}, torch 2, cpu capability AVX2, compiled True"
    ]
    assert row["when"] == "on 2026-01-02, 03:04 UTC"


def test_when_and_seeds_in_words():
    assert when([]) == "before times were noted"
    assert (
        when(["2026-01-02T03:04:05+00:00", "2026-01-02T04:00:00+00:00"])
        == "on 2026-01-02, 03:04 to 04:00 UTC"
    )
    assert when(["2026-01-02T03:04:05+00:00", "2026-02-01T00:00:00+00:00"]) == "from 2026-01-02 to 2026-02-01"
    assert seeds_text([2, 0, 1]) == "0 to 2"
    assert seeds_text([5, 1]) == "1, 5"
    assert seeds_text([]) == ""


def test_seeds_with_gaps_are_told_by_stretches_and_never_at_length():
    assert seeds_text([0, 1, 2, 3, 7, 9, 10, 20, 21, 22]) == "0 to 3, 7, 9, 10, 20 to 22"
    assert seeds_text(range(0, 20_000, 2)) == "0, 2, 4, 6, 8, 10, 12, 14, … (10,000 seeds)"
