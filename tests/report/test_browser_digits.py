"""The section about digits in a real browser: on a wide and a narrow screen, in the light and in the dark."""

import pytest
from made_digits import LARGER, PRODUCT, QUOTIENT, digit_record, digit_run, product_records, store_of

from nalm.report.page import write_page

pytest.importorskip("selenium", reason="selenium is not installed")

from browser import IN_BROWSER, Reader
from selenium.webdriver import Keys

pytestmark = IN_BROWSER
LONG = "snmu(noise=batch)"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits")
    others = [
        digit_record(digit_run("nru", QUOTIENT), 0.25),
        digit_record(digit_run("pair-cnn", LARGER), 0.5),
    ]
    long = digit_record(digit_run(LONG, PRODUCT), 3e9, 0.5)
    store = store_of(folder / "s.sqlite", [*product_records(), long, *others])
    write_page(store, folder / "report.html")
    return folder / "report.html"


@pytest.fixture
def reader(chrome, page_file):
    return Reader(chrome).opens(page_file)


@pytest.fixture
def phone(chrome, page_file):
    reader = Reader(chrome)
    reader.emulates("setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
    yield reader.opens(page_file)
    reader.emulates("clearDeviceMetricsOverride")


def test_the_section_is_there_without_a_complaint(reader):
    assert reader.texts("#digits h3") == [
        "mnist-sequential, mul, reduced protocol, digits=drawn",
        "mnist-isolated, div, reduced protocol, digits=drawn",
        "mnist-comparison, gt, reduced protocol, digits=drawn",
    ]
    reader.find("nav a[href='#digits']").click()
    assert reader.script("return location.hash") == "#digits"
    assert reader.complaints() == []
    assert not reader.find("#fault").is_displayed()


def test_a_table_has_a_row_per_model(reader):
    assert reader.texts("#digits-1 ~ .scroll .digits-table tbody th")[:4] == [
        "mul\nsets the bound",
        "nmu",
        LONG,
        "lstm",
    ]
    nmu = reader.texts(".digits-table tbody tr")[1]
    assert "0.67 [0.21, 0.94]" in nmu
    assert nmu.endswith("2 of 3")


def test_images_are_shown_whole_and_sharp(reader):
    images = reader.all(".tiles img")
    reader.until(
        lambda: all(reader.script("return arguments[0].naturalWidth", each) == 28 for each in images)
    )
    assert {each.value_of_css_property("image-rendering") for each in images} == {"pixelated"}
    assert all(each.get_attribute("alt") for each in images)


def test_drawings_and_tables_are_told_to_those_who_do_not_see_them(reader):
    drawings = reader.all("#digits .drawing")
    assert {each.get_attribute("role") for each in drawings} == {"img"}
    assert all(each.get_attribute("aria-label").endswith(".") for each in drawings)
    assert reader.texts(".confusion caption")[0] == "mul, seed 0: 99.0 % right"
    heads = reader.all(".confusion th")
    assert {each.get_attribute("scope") for each in heads} == {"col", "row"}
    assert "read as" in reader.find(".tiles li b").get_attribute("textContent")


def test_every_wide_table_is_reached_by_keyboard(reader):
    assert all(each.get_attribute("tabindex") == "0" for each in reader.all("#digits .scroll"))
    reader.script("document.querySelector('#digits nav a').focus()")
    for _ in range(3):
        reader.types(Keys.TAB)
    assert reader.script("return document.activeElement.getAttribute('aria-label')").startswith("Results:")


def test_on_a_phone_nothing_is_wider_than_the_page_and_no_text_is_small(phone):
    assert phone.script("return document.documentElement.scrollWidth") == 390
    assert phone.script(OVERHANGING) == []
    assert min(phone.script(SIZES)) >= 10.5


OVERHANGING = """
return [...document.querySelectorAll("#digits .drawing text, #digits .tiles li, #digits .confusion")]
  .filter((each) => { const r = each.getBoundingClientRect(); return r.left < 0 || r.right > 390; })
  .map((each) => each.textContent);
"""
"""What reaches beyond the page."""
SIZES = """
return [...document.querySelectorAll("#digits .drawing")].map((drawing) =>
  parseFloat(getComputedStyle(drawing).fontSize) * drawing.getScreenCTM().a);
"""
"""The sizes of the texts of drawings, as they are seen."""


def test_texts_of_a_drawing_do_not_overlap(reader):
    assert reader.script(OVERLAPPING) == []


OVERLAPPING = """
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
return [...document.querySelectorAll("#digits .drawing")].flatMap((drawing) => {
  const texts = [...drawing.querySelectorAll("text")];
  const boxes = texts.map((text) => text.getBoundingClientRect());
  return texts.filter((_, k) => boxes.some((box, j) => j !== k && meet(box, boxes[k])))
    .map((text) => text.textContent);
});
"""
"""Texts that lie on each other."""


def test_in_the_dark_drawings_and_shades_are_dark_and_text_is_readable(reader):
    reader.emulates("setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    fill = "return getComputedStyle(document.querySelector('.drawing text')).fill"
    try:
        reader.until(lambda: reader.script(fill) == "rgb(230, 233, 237)")
        assert min(reader.script(CONTRASTS)) > 4.5
    finally:
        reader.emulates("setEmulatedMedia", features=[])
    reader.until(lambda: reader.script(fill) == "rgb(27, 31, 36)")
    assert min(reader.script(CONTRASTS)) > 4.5


CONTRASTS = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const luminance = (colour) => {
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((each) => each / 255)
    .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
return [...document.querySelectorAll(".confusion td")].map((cell) => {
  const style = getComputedStyle(cell);
  const both = [luminance(style.color), luminance(style.backgroundColor)].sort((a, b) => b - a);
  return (both[0] + 0.05) / (both[1] + 0.05);
});
"""
"""How well the numbers of the shaded tables can be read: 4.5 is what accessibility asks for."""


def test_without_scripts_the_section_is_whole(page_file, chrome):
    reader = Reader(chrome)
    reader.emulates("setScriptExecutionDisabled", value=True)
    try:
        chrome.get(page_file.as_uri())
        assert len(reader.all("#digits .drawing")) == 4
        assert reader.find(".confusion").is_displayed()
    finally:
        reader.emulates("setScriptExecutionDisabled", value=False)
