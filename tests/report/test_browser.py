"""The page in a real browser: headless Chromium, driven as a reader would use it."""

import csv

import pytest
from made_runs import EVIL, fill

from nalm.experiment.bench import make_experiment
from nalm.report import packing
from nalm.report.page import write_page

pytest.importorskip("selenium", reason="selenium is not installed")

from browser import IN_BROWSER, Reader
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

pytestmark = IN_BROWSER


@pytest.fixture(scope="module")
def page_file(store_path, tmp_path_factory):
    output = tmp_path_factory.mktemp("page") / "report.html"
    write_page(store_path, output)
    return output


@pytest.fixture
def reader(chrome, page_file):
    return Reader(chrome).opens(page_file)


@pytest.fixture
def phone(reader):
    reader.emulates("setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    yield reader
    reader.emulates("clearDeviceMetricsOverride")


@pytest.fixture
def dark(reader):
    reader.emulates("setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    yield reader
    reader.emulates("setEmulatedMedia", features=[])


def traces(reader, plot=0):
    """Names of the units that a panel draws."""
    return reader.script(f"return document.querySelectorAll('#task-1 .plot')[{plot}].data.map((t) => t.name)")


def test_it_loads_without_a_complaint_and_without_the_network(reader):
    for section in ("#task-1", "#run", "#ledger", "#settings"):
        reader.sees(section)
    assert reader.complaints() == []
    assert reader.script("return performance.getEntriesByType('resource').map((e) => e.name)") == []
    assert "60 runs of 3 models" in reader.find("header").text
    assert not reader.find("#fault").is_displayed()


def test_three_panels_show_the_units_of_an_operation_with_intervals(reader):
    reader.sees("#task-1")
    assert [reader.texts("#task-1 .panel h3"), traces(reader)] == [
        ["Success rate", "Solved at step", "Sparsity error"],
        ["nac", "nau"],
    ]
    assert reader.script("return document.querySelectorAll('#task-1 .plot .errorbar').length") > 0
    bar = reader.script("return document.querySelector('#task-1 .plot').data[0].error_y")
    assert [bar["arrayminus"][0], bar["array"][0]] == [pytest.approx(0.35, abs=0.005)] * 2
    reader.clicks("#task-1 .choice", "mul")
    reader.until(lambda: traces(reader) == ["nmu"])


def test_errors_too_small_to_tell_from_zero_are_drawn_at_the_edge(reader):
    reader.sees("#task-1")
    sparsity = reader.all("#task-1 .plot")[2]
    assert set(reader.script("return arguments[0].data[1].y", sparsity)) == {1e-9}
    assert "≤10" in sparsity.text


def test_a_panel_with_nothing_to_draw_says_why(chrome, tmp_path):
    wanted = make_experiment("single-module", ["nac"], ["add"], ["1:2"], seeds=2)
    fill(tmp_path / "s.sqlite", wanted, lambda run: False)
    write_page(tmp_path / "s.sqlite", tmp_path / "report.html")
    reader = Reader(chrome).opens(tmp_path / "report.html")
    reader.sees("#task-1")
    said = [plot.text.endswith("no run was solved") for plot in reader.all("#task-1 .plot")]
    assert said == [False, True, True]


def test_hovering_over_a_point_shows_its_numbers(reader):
    reader.sees("#task-1")
    ActionChains(reader.chrome).move_to_element(reader.all("#task-1 .plot .point")[0]).perform()
    reader.until(lambda: reader.all("#task-1 .hovertext"))
    shown = reader.find("#task-1 .hoverlayer").text
    assert "nac" in shown
    assert "success 0.50 [0.15, 0.85] of 4 runs, 50,000 steps" in shown


def test_a_unit_is_hidden_and_shown_by_click_and_by_key(reader):
    reader.sees("#task-1")
    reader.clicks("#task-1 .units", "nac")
    reader.until(lambda: [traces(reader, k) for k in range(3)] == [["nau"]] * 3)
    assert reader.texts("#task-1 .heat tbody:first-of-type th") == ["nau"]
    (button,) = [b for b in reader.all("#task-1 .units button") if b.text == "nac"]
    assert button.get_attribute("aria-pressed") == "false"
    reader.script("arguments[0].focus()", button)
    reader.types(Keys.SPACE)
    reader.until(lambda: traces(reader) == ["nac", "nau"])
    reader.clicks("#task-1 .units", "hide all")
    reader.until(lambda: traces(reader) == [])
    assert "all units are hidden" in reader.find("#task-1 .plot").text


def test_the_heat_map_has_a_cell_for_every_unit_and_range(reader):
    reader.sees("#task-1")
    assert reader.texts("#task-1 .heat thead th") == ["unit", "-2:2", "1:2", "10:20"]
    assert reader.texts("#task-1 .heat tbody:first-of-type td") == ["0.50"] * 3 + ["1.00"] * 3
    title = reader.find("#task-1 .heat td").get_attribute("title")
    assert title == "nac, add, -2:2, 4 runs: 0.50 [0.15, 0.85]"


def test_published_rates_stand_below_ours_for_the_same_data_and_steps(reader):
    reader.sees("#task-1")
    assert reader.texts("#task-1 .heat .published th") == ["NAU\nmistry2023", "iNALU\nmistry2023"]
    assert reader.texts("#task-1 .heat .published td") == ["1.00"] * 6
    title = reader.find("#task-1 .heat .published td").get_attribute("title")
    assert title == "NAU as published, mistry2023, section 3.3.2, text, 25 seeds: 1.00 [0.87, 1.00]"
    assert "Counted as solved: epsilon-perfect model, epsilon 1e-5." in reader.find("#task-1").text
    reader.find("#filter").send_keys("nac add 1:2")
    reader.clicks("#rows tbody", "nac")
    assert "NAU 1.00 [0.87, 1.00] of 25 seeds (mistry2023" in reader.find("#rows .detail").text


def test_a_section_shows_lines_of_one_budget_and_others_when_asked(chrome, tmp_path):
    path = tmp_path / "s.sqlite"
    fill(path, make_experiment("single-module", ["nac", "nau"], ["add"], ["1:2"], seeds=2))
    fill(path, make_experiment("single-module", ["nau"], ["add"], ["1:2"], seeds=2, iterations=10_000))
    write_page(path, tmp_path / "report.html")
    reader = Reader(chrome).opens(tmp_path / "report.html")
    assert reader.texts("#summary caption") == ["50,000 steps", "10,000 steps"]
    reader.sees("#task-1")
    assert traces(reader) == ["nac", "nau"]
    assert len(reader.all("#task-1 .published th")) == 2
    reader.clicks("#task-1 .choice[aria-label=Steps]", "10,000 steps")
    reader.until(lambda: traces(reader) == ["nau · iterations=10000; schedules scaled"])
    assert reader.all("#task-1 .published th") == []
    assert "Papers publish rates for these data with 50,000 steps" in reader.find("#task-1").text
    reader.clicks("#task-1 .choice[aria-label=Steps]", "all")
    reader.until(lambda: traces(reader) == ["nac", "nau", "nau · iterations=10000; schedules scaled"])


def test_lines_without_single_runs_are_not_offered(chrome, store_path, tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BUDGET", 1)
    write_page(store_path, tmp_path / "report.html")
    reader = Reader(chrome).opens(tmp_path / "report.html")
    reader.sees("#run")
    reader.until(lambda: reader.find("#run").get_attribute("data-shown") == "0/0")
    assert [len(Select(each).options) for each in reader.all("#run-controls select")] == [1, 1, 1, 1]
    reader.find("#filter").send_keys("nmu 1:2")
    reader.clicks("#rows tbody", "nmu")
    assert reader.all("#rows .detail button") == []
    assert reader.complaints() == []


def test_the_table_filters(reader):
    assert reader.find("#count").text == "15 of 15 rows"
    reader.find("#filter").send_keys("NAC 1:2")
    assert reader.find("#count").text == "2 of 15 rows"
    assert set(reader.texts("#rows tbody th")) == {"nac"}
    reader.find("#filter").send_keys(" nothing")
    assert reader.find("#count").text == "0 of 15 rows"
    assert reader.find("#rows tbody").text == "No row matches."


def test_the_table_sorts_both_ways(reader):
    reader.clicks("#rows thead", "success")
    heading = reader.all("#rows thead th")[4]
    assert heading.get_attribute("aria-sort") == "descending"
    assert reader.texts("#rows tbody td:nth-child(5)")[0].startswith("1.00")
    reader.clicks("#rows thead", "success")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert reader.texts("#rows tbody td:nth-child(5)")[0].startswith("0.50")


def test_what_was_not_measured_comes_last_however_it_is_sorted(chrome, tmp_path):
    wanted = make_experiment("single-module", ["nac", "nau"], ["add"], ["1:2"], seeds=2)
    fill(tmp_path / "s.sqlite", wanted, lambda run: run.case.model.name == "nau")
    write_page(tmp_path / "s.sqlite", tmp_path / "report.html")
    reader = Reader(chrome).opens(tmp_path / "report.html")
    for _ in range(2):
        reader.clicks("#rows thead", "solved at")
        assert reader.texts("#rows tbody th") == ["nau", "nac"]


def _rows(file):
    """The whole rows of a file that may not be there yet, or not to its last byte."""
    if not file.exists():
        return []
    with file.open(newline="") as opened:
        return [row for row in csv.DictReader(opened) if None not in row.values()]


def test_the_table_downloads_as_it_is_shown(reader, tmp_path):
    reader.chrome.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    reader.find("#filter").send_keys("nac sub")
    reader.clicks("#table", "Download CSV")
    file = tmp_path / "nalm-results.csv"
    reader.until(lambda: len(_rows(file)) == 3)
    rows = _rows(file)
    assert [(row["unit"], row["op"], row["range"]) for row in rows] == [
        ("nac", "sub", "-2:2"),
        ("nac", "sub", "1:2"),
        ("nac", "sub", "10:20"),
    ]
    assert float(rows[0]["success"]) == 0.5
    assert rows[0]["recipe_text"].startswith("Recipe(loss=MSE()")
    assert rows[0]["computed_first"] == "2026-01-02T03:04:05+00:00"


def test_a_line_opens_to_its_settings_and_its_runs(reader):
    reader.find("#filter").send_keys("nac add 1:2")
    reader.clicks("#rows tbody", "nac")
    detail = reader.find("#rows .detail").text
    for said in ("1:2", "2:6", "50,000", "0 to 3", "Adam(learning_rate=0.001", "torch 2", "2 solved"):
        assert said in detail
    reader.clicks("#rows .detail", "Show its runs")
    reader.until(lambda: reader.find("#run").get_attribute("data-shown"))
    assert Select(reader.all("#run-controls select")[0]).first_selected_option.text == "nac"


def test_a_single_run_shows_curve_weights_and_formula(reader):
    reader.sees("#run")
    reader.until(lambda: reader.find("#run").get_attribute("data-shown"))
    assert reader.find("#run .formula").text == "x1 + x2"
    curve, weights = (reader.script("return arguments[0].data", p) for p in reader.all("#run .plot"))
    assert [trace["name"] for trace in curve] == ["validation", "test", "threshold"]
    assert [trace["name"] for trace in weights] == ["W[1,1]", "W[1,2]"]
    assert weights[0]["y"][-1] == pytest.approx(1, abs=1e-3)
    assert "48,000" in reader.find("#run-facts").text
    before = reader.find("#run").get_attribute("data-shown")
    Select(reader.all("#run-controls select")[-1]).select_by_visible_text("3: not converged")
    reader.until(lambda: reader.find("#run").get_attribute("data-shown") != before)
    assert "not converged. The training range is not fitted" in reader.find("#run-facts").text
    Select(reader.all("#run-controls select")[0]).select_by_visible_text("nmu")
    reader.until(lambda: "x1*x2" in reader.find("#run .formula").text)


def test_the_ledger_is_filtered_by_verdict_and_opens_to_its_cells(reader):
    reader.clicks("#ledger-controls", "differs")
    shown = [row for row in reader.all("#ledger-table tbody tr") if row.is_displayed()]
    assert 0 < len(shown) < len(reader.all("#ledger-table tbody tr"))
    shown[0].find_element(By.TAG_NAME, "button").click()
    assert "differs" in reader.find("#ledger-table .detail").text
    reader.clicks("#ledger-controls", "all")
    assert all(row.is_displayed() for row in reader.all("#ledger-table tbody tr"))


def test_on_a_phone_nothing_sticks_out_and_panels_are_stacked(phone):
    for section in ("#task-1", "#run", "#settings"):
        phone.sees(section)
    assert phone.script("return document.documentElement.scrollWidth") <= 360
    assert len({panel.rect["x"] for panel in phone.all("#task-1 .panel")}) == 1
    outside = phone.script(
        "return [...document.querySelectorAll('main button, main select, main input, main .plot')]"
        ".filter((e) => !e.closest('.scroll') && e.getBoundingClientRect().right > 361).length"
    )
    assert outside == 0


LONG = "./experiments/2026/november/my_very_long_file_name_for_units.py:MyMultiplicationUnitWithALongName"


def test_on_a_phone_a_long_name_leaves_room_for_the_numbers(chrome, tmp_path):
    """The first column stays in view: it must not cover what is scrolled past it."""
    wanted = make_experiment("single-module", ["nmu"], ["mul"], None, seeds=2)
    fill(tmp_path / "s.sqlite", wanted, model=LONG)
    write_page(tmp_path / "s.sqlite", tmp_path / "report.html")
    reader = Reader(chrome)
    reader.emulates("setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
    try:
        reader.opens(tmp_path / "report.html")
        reader.sees("#task-1")
        assert reader.script("return document.documentElement.scrollWidth") <= 390
        for table in (".headline", ".heat", "#rows", "#settings table:last-of-type", "#ledger-table"):
            covered = reader.script(COVERED, table)
            assert covered < 0.45, table
    finally:
        reader.emulates("clearDeviceMetricsOverride")


COVERED = """
const head = document.querySelector(`${arguments[0]} tbody th`);
return head.getBoundingClientRect().width / document.documentElement.clientWidth;
"""
"""The part of the screen that the first column of a table takes."""


def test_in_the_dark_page_and_plots_are_dark(dark):
    dark.sees("#task-1")
    ground, ink = dark.script(
        "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
    )
    assert max(_channels(ground)) < 64
    assert min(_channels(ink)) > 192
    colour = "return document.querySelector('#task-1 .plot').layout.font.color"
    assert dark.script(colour) == "#e6e9ed"
    dark.emulates("setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    dark.until(lambda: dark.script(colour) == "#1b1f24")


def _channels(colour):
    return [int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(",")]


def test_a_keyboard_reaches_the_results_and_the_controls(reader):
    reader.types(Keys.TAB)
    assert reader.script("return document.activeElement.className") == "skip"
    reader.types(Keys.ENTER)
    assert reader.script("return location.hash") == "#main"
    reader.script("document.querySelector('#task-1').scrollIntoView()")
    reached = set()
    for _ in range(40):
        reader.types(Keys.TAB)
        reached.add(reader.script("return document.activeElement.textContent || document.activeElement.id"))
    assert {"sub", "nac", "hide all", "filter", "Download CSV"} <= reached


def test_names_from_data_do_nothing(chrome, tmp_path):
    experiment = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=2)
    fill(tmp_path / "s.sqlite", experiment, model=EVIL)
    write_page(tmp_path / "s.sqlite", tmp_path / "report.html")
    reader = Reader(chrome).opens(tmp_path / "report.html")
    for section in ("#task-1", "#run"):
        reader.sees(section)
    reader.until(lambda: reader.find("#run").get_attribute("data-shown"))
    ActionChains(chrome).move_to_element(reader.all("#task-1 .plot .point")[0]).perform()
    reader.until(lambda: reader.all("#task-1 .hovertext"))
    assert EVIL in reader.find("#task-1 .hoverlayer").text
    assert EVIL in reader.find("#summary").text
    assert reader.all("img") == []
    assert reader.script("return document.title") == "nalm report: s.sqlite"
    assert reader.complaints() == []


def test_what_goes_wrong_is_said_on_the_page(chrome, page_file, tmp_path):
    text = page_file.read_text()
    start = text.index('id="runs-data">') + len('id="runs-data">')
    (tmp_path / "report.html").write_text(text[:start] + text[start + 400 :])
    reader = Reader(chrome).opens(tmp_path / "report.html")
    reader.script("document.querySelector('#run').scrollIntoView()")
    reader.until(lambda: reader.find("#fault").is_displayed())
    assert "could not be shown" in reader.find("#fault").text


def test_an_empty_page_says_what_to_run(chrome, tmp_path):
    write_page(tmp_path / "s.sqlite", tmp_path / "report.html")
    reader = Reader(chrome).opens(tmp_path / "report.html")
    assert "nalm bench single-module" in reader.find("#empty").text
    assert reader.all("#task-1") == []
    assert len(reader.all("#ledger-table tbody tr")) > 70
    assert reader.complaints() == []
