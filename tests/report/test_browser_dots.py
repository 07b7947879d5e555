"""Success by unit and range as dots, in a real browser: one row per unit, the best on top."""

from dataclasses import replace
from itertools import pairwise

import pytest
from made_runs import fill, made_record

from nalm.experiment.bench import make_experiment
from nalm.experiment.run import Run
from nalm.experiment.store import Store
from nalm.recipes import Adam
from nalm.report.page import write_page

pytest.importorskip("selenium", reason="selenium is not installed")

from browser import IN_BROWSER, Reader

pytestmark = IN_BROWSER
UNITS = "nac-mul nalu gnalu inalu nmu snmu npu realnpu realnpu@modified nru nmru"
MANY = UNITS.split()


@pytest.fixture(scope="module")
def many_units(tmp_path_factory):
    """Eleven units on nine ranges: the NMU and the sNMU always solve, all others one of three seeds."""
    folder = tmp_path_factory.mktemp("many")
    wanted = make_experiment("single-module", MANY, ["mul"], None, seeds=3)
    fill(folder / "s.sqlite", wanted, lambda run: run.case.model.name in ("nmu", "snmu") or not run.seed)
    write_page(folder / "s.sqlite", folder / "report.html")
    return folder / "report.html"


def units(reader):
    """The units of the chart from top to bottom, without those that only papers have."""
    return reader.texts("#task-1 .dots tbody:not(.published) th")


def boxes(reader, selector):
    """Left, top, right and bottom of every element, row by row."""
    rows = "return [...document.querySelectorAll('#task-1 .dots tbody tr')].map((row) => "
    box = "((b) => [b.left, b.top, b.right, b.bottom])(mark.getBoundingClientRect())"
    return reader.script(f"{rows}[...row.querySelectorAll(arguments[0])].map((mark) => {box}))", selector)


def test_the_first_section_answers_which_unit_is_best(reader):
    assert reader.find("main > section").get_attribute("id") == "summary"
    assert reader.texts(".answers thead th") == [
        "operation",
        "best",
        "not told apart from it",
        "worse",
        "compared with the papers",
    ]
    add = reader.texts(".answers tbody tr:first-child > *")
    assert add[:4] == ["add", "nau 1.000 [0.758, 1.000] of 12 runs", "–", "nac 0.50"]
    assert add[4] == "nau, mistry2023: agrees on 3 of 3 ranges"


@pytest.mark.parametrize("width", [390, 1200])
def test_rows_and_marks_of_eleven_units_do_not_overlap(chrome, many_units, width):
    reader = Reader(chrome)
    reader.emulates(
        "setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 400
    )
    try:
        reader.opens(many_units)
        rows = boxes(reader, "td")
        assert len(rows) >= len(MANY)
        assert all(above[0][3] <= below[0][1] + 0.5 for above, below in pairwise(rows))
        for cells, marks in zip(rows, boxes(reader, ".dot, .paper, .bar")):
            assert all(cells[0][1] <= top and bottom <= cells[0][3] for _, top, _, bottom in marks)
        for dots, papers in zip(boxes(reader, ".dot"), boxes(reader, ".paper")):
            assert max((dot[3] for dot in dots), default=0) <= min((each[1] for each in papers), default=9e9)
        assert reader.script("return document.documentElement.scrollWidth") <= width
    finally:
        reader.emulates("clearDeviceMetricsOverride")


def test_the_best_units_are_on_top_and_stand_out(chrome, many_units):
    reader = Reader(chrome).opens(many_units)
    assert set(units(reader)[:2]) == set(reader.texts("#task-1 .dots .leads th")) == {"nmu", "snmu"}
    colours = {cell.value_of_css_property("font-weight") for cell in reader.all("#task-1 .leads th")}
    assert colours == {"700"}
    assert sorted(units(reader)) == sorted(MANY)


def test_many_units_are_cut_to_the_best_and_all_are_shown_when_asked(chrome, tmp_path):
    more = [*MANY, "inac-mul", "stgnmu", "quadratic"]
    page_of(tmp_path, make_experiment("single-module", more, ["mul"], ["1:2"], seeds=1))
    reader = Reader(chrome).opens(tmp_path / "report.html")
    assert len(units(reader)) == 12
    reader.clicks("#task-1", "Show all 14 units")
    assert sorted(units(reader)) == sorted(more)
    assert reader.script("return document.activeElement.textContent") == "Show the best 12 units"


def page_of(folder, *experiments, **options):
    for experiment in experiments:
        fill(folder / "s.sqlite", experiment, **options)
    write_page(folder / "s.sqlite", folder / "report.html")


def test_a_cell_has_its_numbers_its_interval_and_what_papers_publish(reader):
    nau, nac = reader.all("#task-1 .dots tbody:first-of-type tr")
    assert [nau.find_element("css selector", "td:nth-of-type(2)").text, units(reader)] == [
        "1.00\n1.00",
        ["nau", "nac"],
    ]
    cell = nac.find_element("css selector", "td:nth-of-type(2)")
    said = "nac, add, -2:2: success 0.50 [0.15, 0.85] of 4 runs, 50,000 steps"
    assert cell.get_attribute("aria-label") == cell.get_attribute("title")
    assert cell.get_attribute("title").startswith(said)
    width, side = 60, 5
    dot, bar = (cell.find_element("css selector", f".{name}") for name in ("dot", "bar"))
    assert float(dot.get_attribute("cx")) == width / 2
    low, high = map(
        float,
        bar.get_attribute("d").removeprefix("M").split(" ")[0:1] + bar.get_attribute("d").split("H")[1:],
    )
    assert [low, high] == [pytest.approx(side + (width - 2 * side) * end, abs=0.1) for end in (0.15, 0.85)]
    published = nau.find_element("css selector", "td:nth-of-type(2)").get_attribute("title")
    assert published.endswith("published 1.00 [0.87, 1.00] of 25 seeds (mistry2023, section 3.3.2, text)")


def test_all_ranges_together_come_first(reader):
    assert reader.texts("#task-1 .dots thead th")[1].startswith("all ranges")
    cell = reader.find("#task-1 .dots tbody tr:nth-child(2) td")
    assert cell.get_attribute("title") == "nac, all ranges: success 0.50 [0.25, 0.75] of 12 runs"


def test_what_papers_publish_for_units_that_were_not_run_is_below(reader):
    assert reader.texts("#task-1 .dots .published th") == ["iNALU\nmistry2023"]
    assert reader.texts("#task-1 .dots .published td") == ["–", "1.00", "1.00", "1.00"]
    assert "Counted as solved: epsilon-perfect model, epsilon 1e-5." in reader.find("#task-1").text
    reader.find("#filter").send_keys("nac add 1:2")
    reader.clicks("#rows tbody", "nac")
    assert "NAU 1.00 [0.87, 1.00] of 25 seeds (mistry2023" in reader.find("#rows .detail").text


def test_another_operation_and_another_measure_are_shown_when_asked(reader):
    reader.clicks("#task-1 .choice", "mul")
    assert units(reader) == ["nmu"]
    reader.clicks("#task-1 .choice", "add")
    reader.clicks("#task-1 .choice", "Solved at step")
    assert reader.texts("#task-1 .dots tbody tr:first-child td") == ["31k", "31k", "25k"]
    reader.clicks("#task-1 .choice", "Sparsity error")
    assert set(reader.texts("#task-1 .dots tbody td")) == {"≤1e-9"}


def test_a_measure_with_nothing_to_draw_says_why(chrome, tmp_path):
    wanted = make_experiment("single-module", ["nac"], ["add"], ["1:2"], seeds=2)
    page_of(tmp_path, wanted, solved=lambda run: False)
    reader = Reader(chrome).opens(tmp_path / "report.html")
    assert reader.texts("#task-1 .dots tbody:first-of-type td") == ["0.00"]
    for measure in ("Solved at step", "Sparsity error"):
        reader.clicks("#task-1 .choice", measure)
        assert reader.texts("#task-1 .dots tbody td") == ["no run was solved"]
    assert reader.texts(".answers tbody td")[0] == "no unit solves it"


def test_a_section_shows_lines_of_one_budget_and_others_when_asked(chrome, tmp_path):
    page_of(
        tmp_path,
        make_experiment("single-module", ["nac", "nau"], ["add"], ["1:2"], seeds=2),
        make_experiment("single-module", ["nau"], ["add"], ["1:2"], seeds=2, iterations=10_000),
    )
    reader = Reader(chrome).opens(tmp_path / "report.html")
    assert reader.texts("#units caption") == ["50,000 steps", "10,000 steps"]
    assert reader.texts(".answers td[data-title=steps]") == ["50,000 steps", "10,000 steps"]
    assert sorted(units(reader)) == ["nac", "nau"]
    assert len(reader.all("#task-1 .published th")) == 1
    reader.clicks("#task-1 .choice[aria-label=Steps]", "10,000 steps")
    assert units(reader) == ["nau · iterations=10000; schedules scaled"]
    assert reader.all("#task-1 .published th") == []
    assert "Papers publish rates for these data with 50,000 steps" in reader.find("#task-1").text
    reader.clicks("#task-1 .choice[aria-label=Steps]", "all")
    assert sorted(units(reader)) == ["nac", "nau", "nau · iterations=10000; schedules scaled"]
    assert reader.all("#task-1 .leads") == []


def test_variants_are_shown_when_asked(chrome, tmp_path):
    (case,) = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1).cases
    slow = replace(case, other_recipe=replace(case.recipe, optimiser=Adam(0.25)))
    with Store(tmp_path / "s.sqlite") as store:
        store.add([made_record(Run(each, 0), solved=True) for each in (case, slow)])
    write_page(tmp_path / "s.sqlite", tmp_path / "report.html")
    reader = Reader(chrome).opens(tmp_path / "report.html")
    assert units(reader) == ["nmu"]
    reader.clicks("#task-1", "Show 1 variant")
    assert units(reader) == ["nmu", "nmu · optimiser.learning_rate=0.25"]
