"""The built site: complete, with links that lead somewhere, and readable without a network."""

import re
import shutil
import time

import pytest
from browser import IN_BROWSER, started

import nalm
from nalm.papers.unit_results import success_by_range
from nalm.units import UNITS

pytestmark = pytest.mark.xdist_group("browser")  # one process builds the site and opens it


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    browser = started(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.quit()


def _text(site, page):
    return (site / page).read_text(encoding="utf-8")


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    from check import faults

    assert faults(site) == []


def test_a_broken_link_and_a_foreign_script_are_found(tmp_path):
    from check import faults

    (tmp_path / "a.html").write_text(
        '<a href="b.html">b</a><a href="#gone">c</a><p id="here"><a href="#here">d</a>'
    )
    (tmp_path / "c.html").write_text('<script src="https://elsewhere.example/x.js"></script>')
    (tmp_path / "d.css").write_text("@font-face { src: url(//elsewhere.example/font.woff2); }")
    assert [fault.split(":")[0] for fault in faults(tmp_path)] == ["a.html", "a.html", "c.html", "d.css"]


@pytest.mark.parametrize("name", nalm.__all__)
def test_every_public_name_is_documented(site, name):
    page = _text(site, "api.html")
    assert re.search(rf'id="nalm(\.[\w.]+)?\.{name}"', page) or f"<code>nalm.{name}</code>" in page


@pytest.mark.parametrize("name", UNITS)
def test_every_unit_has_a_page_with_equation_drawing_recipe_and_results(site, name):
    page = _text(site, f"units/{name}.html")
    assert "<math" in page
    assert '<svg class="flow"' in page
    assert "<code>published</code>" in page
    assert page.count("In the ledger:") == len({(r.op, r.inputs, r.model) for r in success_by_range(name)})
    assert ":math:" not in page
    assert ".. math::" not in page


def test_the_page_of_a_unit_shows_what_was_measured_and_published(site):
    page = re.sub(r"<[^>]*>", " ", _text(site, "units/realnpu.html"))
    (row,) = [
        row
        for row in success_by_range("realnpu")
        if (row.model, row.inputs, row.range) == ("realnpu@modified", 2, "TN(1,3)[-10,5)")
    ]
    assert re.search(rf"TN\(1,3\)\[-10,5\)\s+{100 * row.ours.value:.0f} % \[\d+, \d+\] of 25\s+64 % \[", page)


def test_the_recommended_units_are_the_best_of_the_kept_results(site):
    page = re.sub(r"<[^>]*>", "", _text(site, "which-unit.html"))
    for operation, unit in (("Subtraction", "nau"), ("Multiplication", "snmu")):
        assert f"{operation}: {unit}. Over the nine ranges" in page


def test_decisions_contributing_and_changelog_are_pages(site):
    assert "Contributing" in _text(site, "contributing.html")
    assert "Changelog" in _text(site, "changelog.html")
    assert (site / "decisions" / "0028-site.html").exists()


@pytest.mark.skipif(
    not all(map(shutil.which, ("chromium", "chromedriver"))), reason=IN_BROWSER[1].kwargs["reason"]
)
class TestInABrowser:
    @pytest.mark.parametrize("width", [1300, 390])
    @pytest.mark.parametrize("page", ["index", "units/npu", "api", "ledger", "which-unit", "own-loop"])
    def test_a_page_opens_from_disk_without_errors_and_fits(self, site, chrome, page, width):
        _resize(chrome, width)
        chrome.get_log("browser")
        chrome.get((site / f"{page}.html").as_uri())
        assert chrome.find_element("css selector", "h1").text
        assert chrome.get_log("browser") == []
        assert chrome.execute_script("return document.documentElement.scrollWidth <= innerWidth")

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_the_theme_follows_the_system(self, site, chrome, scheme):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        chrome.get((site / "index.html").as_uri())
        bright = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every(c => c > 200)"
        assert chrome.execute_script(bright) == (scheme == "light")

    def test_the_search_works_from_disk(self, site, chrome):
        _resize(chrome, 1300)
        chrome.get((site / "index.html").as_uri())
        field = chrome.find_element("css selector", ".md-search__input")
        field.click()
        field.send_keys("golden ratio")
        assert _soon(lambda: "GNALU" in _results(chrome))


def _resize(chrome, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def _results(chrome):
    return [item.text for item in chrome.find_elements("css selector", ".md-search-result__item h1")]


def _soon(holds, seconds=120):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.2)
    return holds()
