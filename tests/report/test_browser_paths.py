"""The paths of runs in a real browser: drawn, told in words, on a wide and on a narrow screen."""

from itertools import pairwise

import pytest
from made_runs import fill, made_record, searched_record

from nalm.experiment.bench import make_experiment
from nalm.experiment.store import Store
from nalm.report.page import write_page

pytest.importorskip("selenium", reason="selenium is not installed")

from browser import IN_BROWSER, Reader
from selenium.webdriver import Keys
from selenium.webdriver.support.ui import Select

pytestmark = IN_BROWSER
FOUND = (
    (("add", 0, 1), ("mul", 2, 4)),
    (("add", 0, 1), ("mul", 2, 4)),
    (("add", 0, 1), ("mul", 4, 4), ("sub", 5, 0)),
)
"""What each seed has found: twice c*(a + b), once (a + b)**2 - a."""
GATED = "gated(units=nau|nmu)+gated(units=nau|nmu)"
LABEL = f"{GATED} · hidden=5"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paths")
    composers = make_experiment("composition", ["composer"], ["add-mul"], None, seeds=len(FOUND)).runs()
    gated = make_experiment("composition", [GATED], ["add-mul"], None, seeds=1, hidden=5).runs()
    with Store(folder / "s.sqlite") as store:
        store.add([searched_record(run, *steps) for run, steps in zip(composers, FOUND)])
        store.add([made_record(run, solved=False) for run in gated])
    fill(folder / "s.sqlite", make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1))
    write_page(folder / "s.sqlite", folder / "report.html")
    return folder / "report.html"


@pytest.fixture
def reader(chrome, page_file):
    reader = Reader(chrome).opens(page_file)
    choose(reader, "Task", "composition, 4 inputs, uniform ranges")
    return reader


@pytest.fixture
def phone(reader):
    reader.emulates("setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
    yield reader
    reader.emulates("clearDeviceMetricsOverride")


def choose(reader, label, text):
    """Choose a run, and wait until it is shown."""
    reader.script("document.querySelector('#run').scrollIntoView()")
    reader.until(lambda: reader.find("#run").get_attribute("data-shown"))
    (field,) = [each for each in reader.all("#run-controls label") if each.text.startswith(label)]
    select = Select(field.find_element("tag name", "select"))
    if select.first_selected_option.text != text:
        reader.script("delete document.querySelector('#run').dataset.shown")
        select.select_by_visible_text(text)
        reader.until(lambda: reader.find("#run").get_attribute("data-shown"))


def test_a_run_shows_what_it_found_the_target_and_whether_they_are_equal(reader):
    choose(reader, "Unit", "composer")
    assert reader.find("#run .formula").text == "c*(a + b)"
    assert reader.texts("#run-facts dd")[:2] == ["c*(a + b)", "yes"]
    choose(reader, "Seed", "2: solved")
    assert reader.texts("#run-facts dd")[:2] == ["c*(a + b)", "no"]
    choose(reader, "Unit", LABEL)
    assert reader.texts("#run-facts dd")[:2] == ["c*(a + b)", "cannot be read"]
    assert reader.complaints() == []


def test_the_path_is_drawn_with_a_box_per_step_and_an_edge_from_everything_it_reads(reader):
    choose(reader, "Unit", "composer")
    assert reader.texts(".path .step .unit") == ["nau", "nmu"]
    assert reader.texts(".path .step .expression") == ["line1 = a + b", "y = c*line1"]
    assert reader.texts(".path .end text") == ["a", "b", "c", "y"]
    assert reader.texts(".path .label") == ["line1"]
    assert len(reader.all(".path .edge")) == 5
    assert "Inputs that are not read: d." in reader.find("#run-path").text


def test_no_edge_crosses_a_box_and_a_line_ends_at_what_reads_it(reader):
    choose(reader, "Unit", LABEL)
    assert reader.script(CROSSED) == []
    boxes = [box.rect for box in reader.all(".path .step > rect:first-of-type")]
    assert all(below["x"] > above["x"] and below["y"] > above["y"] for above, below in pairwise(boxes))


CROSSED = """
const boxes = [...document.querySelectorAll(".path .step > rect:first-of-type")]
  .map((rect) => rect.getBBox());
const between = (value, start, length) => value > start + 3 && value < start + length - 3;
const inside = (point, box) => between(point.x, box.x, box.width) && between(point.y, box.y, box.height);
return [...document.querySelectorAll(".path .edge")].filter((edge) => {
  const length = edge.getTotalLength();
  const points = Array.from({ length: length / 2 }, (_, k) => edge.getPointAtLength(2 * k));
  return points.some((point) => boxes.some((box) => inside(point, box)));
}).map((edge) => edge.getAttribute("d"));
"""
"""The edges that pass through a box."""


def test_the_path_is_told_in_words_too_and_by_keyboard(reader):
    choose(reader, "Unit", "composer")
    said = "step 2: nmu reads c, line1 and writes y = c*line1, which is c*(a + b)."
    drawing = reader.find("#run-path svg")
    assert drawing.get_attribute("role") == "img"
    assert said in drawing.get_attribute("aria-label")
    assert reader.find("#run-path .scroll").get_attribute("tabindex") == "0"
    reader.script("document.querySelector('#run-path .scroll').focus()")
    reader.types(Keys.TAB)
    reader.types(Keys.ENTER)
    reader.until(lambda: reader.find(".path-words").is_displayed())
    assert reader.texts(".path-words li")[1].lower() == said.lower()


def test_what_y_does_not_use_is_dashed(reader):
    choose(reader, "Unit", "composer")
    reader.script(UNUSED)
    assert reader.texts(".path .step.unused .unit") == ["nau"]
    assert reader.texts(".path .label") == ["line1: not used"]


UNUSED = """
const steps = pathSteps([[1, "nau", ["a"], "line1", "a", ""], [2, "nmu", ["b"], "y", "b", ""]]);
document.querySelector("#run-path .scroll").replaceChildren(pathDrawing(steps, 600));
"""
"""Draws a path whose first step leads nowhere."""


def test_a_run_measured_once_has_no_empty_plots(reader):
    choose(reader, "Unit", "composer")
    assert not any(plot.is_displayed() for plot in reader.all("#run .plot"))
    assert "there are no curves" in reader.find("#run").text
    choose(reader, "Unit", LABEL)
    reader.sees("#run")
    assert all(plot.is_displayed() for plot in reader.all("#run .plot"))
    choose(reader, "Task", "single-module, 2 inputs, uniform ranges")
    assert not reader.find("#run-path").is_displayed()


def test_the_table_has_target_equal_runs_and_the_most_frequent_formula(reader):
    assert reader.texts("#rows thead th")[3:6] == ["target", "equal", "most frequent formula"]
    rows = {row.find_element("tag name", "th").text: row.text for row in reader.all("#rows tbody tr")}
    assert "c*(a + b) 2 of 3 c*(a + b) (2) and 1 other" in rows["composer"]
    reader.clicks("#rows tbody", "composer")
    assert "-a + (a + b)**2 (1)" in reader.find("#rows .detail").text
    reader.find("#filter").send_keys("single-module")
    assert reader.texts("#rows tbody td")[2:5] == ["–", "–", "–"]


def test_the_section_names_the_target(reader):
    target = [p.text for p in reader.all(".task p") if p.text.startswith("Target")]
    assert target == ["Target: c*(a + b)"]


@pytest.mark.parametrize("unit", ["composer", LABEL])
def test_on_a_phone_the_path_fits(phone, unit):
    choose(phone, "Unit", unit)
    phone.until(lambda: phone.find("#run-path svg").rect["width"] <= 390)
    phone.until(lambda: phone.script("return document.documentElement.scrollWidth") <= 390)  # plots follow
    assert phone.script(CROSSED) == []


def test_in_the_dark_the_drawing_is_dark(reader):
    reader.emulates("setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    fill_of = "return getComputedStyle(document.querySelector('.path .step rect')).fill"
    try:
        reader.until(lambda: reader.script(fill_of) == "rgb(26, 33, 41)")
    finally:
        reader.emulates("setEmulatedMedia", features=[])
    reader.until(lambda: reader.script(fill_of) == "rgb(244, 246, 248)")
