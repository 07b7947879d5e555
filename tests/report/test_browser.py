"""The page in a real browser: headless Chromium, driven as a reader would use it."""

import csv

import pytest
from made_runs import EVIL, fill

from nalm.experiment.bench import make_experiment
from nalm.report import packing
from nalm.report.page import write_page

pytest.importorskip("selenium", reason="selenium is not installed")

from browser import IN_BROWSER, Reader
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

pytestmark = IN_BROWSER


def test_it_loads_without_a_complaint_and_without_the_network(reader):
    for section in ("#task-1", "#run", "#ledger", "#settings"):
        reader.sees(section)
    assert reader.complaints() == []
    assert reader.script("return performance.getEntriesByType('resource').map((e) => e.name)") == []
    assert "60 runs of 3 models" in reader.find("header").text
    assert not reader.find("#fault").is_displayed()


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
    assert len({panel.rect["x"] for panel in phone.all("#run .panel")}) == 1
    assert {cell.value_of_css_property("display") for cell in phone.all(".answers td")} == {"block"}
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
        for table in (".headline", ".dots", "#rows", "#settings table:last-of-type", "#ledger-table"):
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
    dark.sees("#run")
    dark.until(lambda: dark.find("#run").get_attribute("data-shown"))
    ground, ink = dark.script(
        "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
    )
    assert max(_channels(ground)) < 64
    assert min(_channels(ink)) > 192
    colour = "return document.querySelector('#run .plot').layout.font.color"
    assert dark.script(colour) == "#e6e9ed"
    dark.emulates("setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    dark.until(lambda: dark.script(colour) == "#1b1f24")


def _channels(colour):
    return [int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(",")]


def test_names_from_data_do_nothing(chrome, tmp_path):
    experiment = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=2)
    fill(tmp_path / "s.sqlite", experiment, model=EVIL)
    write_page(tmp_path / "s.sqlite", tmp_path / "report.html")
    reader = Reader(chrome).opens(tmp_path / "report.html")
    for section in ("#task-1", "#run"):
        reader.sees(section)
    reader.until(lambda: reader.find("#run").get_attribute("data-shown"))
    assert EVIL in reader.find("#task-1 .dots tbody td").get_attribute("title")
    ActionChains(chrome).move_to_element(reader.find("#run .plot .nsewdrag")).perform()
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
