"""What a page says: sections, labels, headline, settings."""

from dataclasses import replace

import pytest
from made_runs import fill, made_record

from nalm.experiment.bench import make_experiment
from nalm.experiment.run import Run
from nalm.experiment.store import Store
from nalm.experiment.stored import stored_cells
from nalm.report.page_data import Page, seeds_text, when
from nalm.tasks import SingleModule
from nalm.training.recipe import Adam


def page_of(*experiments, path, **changes):
    for experiment in experiments:
        fill(path, experiment, **changes)
    with Store(path) as store:
        return Page(stored_cells(store.records()))


@pytest.fixture
def page(store_path):
    with Store(store_path) as store:
        return Page(stored_cells(store.records()))


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
    assert data["labels"] == ["nac", "nau", "nmu"]
    assert data["sections"][0]["ops"] == ["add", "sub", "mul"]
    assert data["sections"][0]["ranges"] == ["-2:2", "1:2", "10:20"]


def test_the_headline_pools_all_ranges_and_marks_the_best(page):
    headline = page.text_data()["sections"][0]["headline"]
    by_unit = {line["label"]: line["cells"] for line in headline}
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
    nac, nau = page.text_data()["sections"][0]["headline"]
    assert nau["cells"][0]["partial"] == "1 of 2 ranges"
    assert not nau["cells"][0]["best"]
    assert nac["cells"][0]["best"]


def test_another_recipe_has_a_label_of_its_own_and_second_rank():
    (cell,) = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1).cells
    slow = replace(cell, other_recipe=replace(cell.recipe, optimiser=Adam(0.25)))
    page = Page(stored_cells([made_record(Run(each, 0), solved=True) for each in (cell, slow)]))
    assert [(line.label, line.second_rank) for line in page.lines] == [
        ("nmu", False),
        ("nmu · optimiser.learning_rate=0.25", True),
    ]
    assert [line["label"] for line in page.text_data()["sections"][0]["headline"]] == ["nmu"]


def test_a_variant_is_of_second_rank_only_where_the_plain_model_is(tmp_path):
    page = page_of(
        make_experiment("single-module", ["nau"], ["add"], ["1:2"], seeds=1),
        make_experiment("single-module", ["nau"], ["add", "sub"], ["1:2"], seeds=1, iterations=7),
        path=tmp_path / "s.sqlite",
    )
    headline = page.text_data()["sections"][0]["headline"]
    shown = {line["label"]: [cell and cell["rate"] for cell in line["cells"]] for line in headline}
    assert shown == {"nau": ["1.000", None], "nau · iterations=7": [None, "1.000"]}


def test_a_range_is_one_however_it_was_written_and_hidden_variants_do_not_count(tmp_path):
    page = page_of(
        make_experiment("single-module", ["nau", "nac"], ["add"], ["1:2"], seeds=1),
        make_experiment("single-module", ["nau"], ["add"], ["1:2=>2:6", "10:20"], seeds=1, iterations=7),
        path=tmp_path / "s.sqlite",
    )
    assert page.program_data([1] * 4)["sections"][0]["ranges"] == ["1:2", "10:20"]
    assert [line["cells"][0]["partial"] for line in page.text_data()["sections"][0]["headline"]] == ["", ""]


def test_what_nobody_solves_has_no_best(tmp_path):
    wanted = make_experiment("single-module", ["nau", "nac"], ["add"], ["1:2"], seeds=2)
    page = page_of(wanted, path=tmp_path / "s.sqlite", solved=lambda run: False)
    assert [line["cells"][0]["best"] for line in page.text_data()["sections"][0]["headline"]] == [
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
    assert data["machines"] == ["nalm 0.5.0, numerics version 2, torch 2, cpu capability AVX2, compiled True"]
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
