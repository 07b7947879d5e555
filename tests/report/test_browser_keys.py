"""The page by keyboard, in a real browser: tables are one stop each, and what has the focus is seen."""

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

from browser import IN_BROWSER
from selenium.webdriver import ActionChains, Keys

pytestmark = IN_BROWSER
ACTIVE = "const cell = document.activeElement; return [cell.closest('tr')?.rowIndex, cell.cellIndex];"


def place(reader):
    """Row and column of the cell that has the focus; the heading is row 0."""
    return reader.script(ACTIVE)


def focused(reader):
    return reader.script("return document.activeElement.id || document.activeElement.textContent")


def into(reader, table):
    """Move the focus to a table by Tab, from what stands before it."""
    reader.script(
        "const stop = document.createElement('button'); stop.id = 'before';"
        "document.querySelector(arguments[0]).parentElement.before(stop); stop.focus();",
        table,
    )
    reader.types(Keys.TAB)
    assert reader.script(
        "return document.querySelector(arguments[0]).contains(document.activeElement)", table
    )


def test_a_keyboard_reaches_the_results_and_the_controls(reader):
    reader.types(Keys.TAB)
    assert reader.script("return document.activeElement.className") == "skip"
    reader.types(Keys.ENTER)
    assert reader.script("return location.hash") == "#main"
    reached = []
    for _ in range(30):
        reader.types(Keys.TAB)
        reached.append(focused(reader))
    assert {"sub", "Solved at step", "filter", "download", "nau"} <= set(reached)


@pytest.mark.parametrize("table", ["#rows", "#task-1 .dots", "#ledger-table"])
def test_a_table_is_one_stop(reader, table):
    into(reader, table)
    inside = "return document.querySelector(arguments[0]).contains(document.activeElement)"
    reader.types(Keys.TAB)
    assert not reader.script(inside, table)
    reader.chrome.switch_to.active_element.send_keys(Keys.SHIFT + Keys.TAB)
    assert reader.script(inside, table)
    stops = "return document.querySelectorAll(arguments[0] + ' [tabindex=\"0\"]').length"
    assert reader.script(stops, table) == 1
    assert reader.script("return document.querySelector(arguments[0]).getAttribute('role')", table) == "grid"
    assert reader.script("return document.querySelector(arguments[0]).ariaLabel", table)


def test_arrows_home_end_and_page_keys_move_in_the_table(reader):
    into(reader, "#rows")
    assert place(reader) == [1, 0]
    moves = [
        (Keys.ARROW_DOWN, [2, 0]),
        (Keys.ARROW_RIGHT, [2, 1]),
        (Keys.END, [2, 7]),
        (Keys.ARROW_RIGHT, [2, 7]),
        (Keys.HOME, [2, 0]),
        (Keys.ARROW_LEFT, [2, 0]),
        (Keys.ARROW_UP, [1, 0]),
        (Keys.ARROW_UP, [0, 0]),
        (Keys.ARROW_UP, [0, 0]),
        (Keys.CONTROL + Keys.END, [15, 7]),
        (Keys.CONTROL + Keys.HOME, [0, 0]),
    ]
    for key, reached in moves:
        reader.chrome.switch_to.active_element.send_keys(key)
        assert place(reader) == reached, key
    reader.types(Keys.PAGE_DOWN)
    below = place(reader)[0]
    assert 3 < below <= 15
    reader.types(Keys.PAGE_UP)
    assert place(reader) == [0, 0]


def test_the_cell_with_the_focus_has_a_ring_and_is_not_under_the_headings(reader):
    into(reader, "#rows")
    ring = "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]"
    assert reader.script(ring) == ["solid", "3px"]
    for _ in range(14):
        reader.types(Keys.ARROW_DOWN)
    for _ in range(12):
        reader.types(Keys.ARROW_UP)
    covered = (
        "const cell = document.activeElement.getBoundingClientRect();"
        "const head = document.querySelector('#rows thead').rows[0].cells[0].getBoundingClientRect();"
        "return head.bottom - cell.top"
    )
    assert reader.script(covered) <= 1


def test_enter_on_a_heading_sorts_and_the_focus_stays(reader):
    into(reader, "#rows")
    for key in (Keys.ARROW_UP, *[Keys.ARROW_RIGHT] * 4, Keys.ENTER):
        reader.types(key)
    assert reader.all("#rows thead th")[4].get_attribute("aria-sort") == "descending"
    assert place(reader) == [0, 4]
    reader.types(Keys.ARROW_DOWN)
    assert place(reader) == [1, 4]
    assert focused(reader).startswith("1.00")


def test_enter_shows_the_runs_of_a_line_and_escape_returns(reader):
    into(reader, "#rows")
    for key in (Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER):
        reader.types(key)
    assert focused(reader) == "run-title"
    reader.until(lambda: reader.find("#run").get_attribute("data-shown") == "1/0")
    reader.types(Keys.ESCAPE)
    assert place(reader) == [2, 1]


def test_space_opens_and_closes_the_settings_of_a_line(reader):
    into(reader, "#rows")
    reader.types(Keys.SPACE)
    assert "training range" in reader.find("#rows .detail").text
    reader.types(Keys.ARROW_DOWN)
    assert "detail" in reader.script("return document.activeElement.parentElement.className")
    reader.types(Keys.ESCAPE)
    assert reader.all("#rows .detail") == []
    assert place(reader) == [1, 0]


def test_a_filter_leaves_the_table_one_stop(reader):
    into(reader, "#rows")
    reader.types(Keys.ARROW_DOWN)
    reader.find("#filter").send_keys("nmu")
    into(reader, "#rows")
    assert place(reader) == [1, 0]
    reader.find("#filter").send_keys(" nothing")
    into(reader, "#rows")
    assert focused(reader) == "No row matches."


def test_dots_are_read_and_opened_by_keyboard(reader):
    into(reader, "#task-1 .dots")
    for key in (Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT):
        reader.types(key)
    assert reader.find("#task-1 .told").text.startswith("nac, add, -2:2: success 0.50 [0.15, 0.85] of 4 runs")
    reader.types(Keys.ENTER)
    assert focused(reader) == "run-title"
    reader.types(Keys.ESCAPE)
    assert place(reader) == [2, 2]


def test_a_press_moves_the_focus_to_the_cell(reader):
    cell = reader.find("#task-1 .dots tbody tr:nth-child(2) td:nth-of-type(2)")
    ActionChains(reader.chrome).click(cell).perform()
    assert place(reader) == [2, 2]
    reader.clicks("#task-1 .told", "Show its runs")
    assert focused(reader) == "run-title"


def test_the_ledger_opens_by_enter_and_closes_by_escape(reader):
    into(reader, "#ledger-table")
    rows = "[...document.querySelectorAll('#ledger-table > tbody > tr')]"
    for _ in range(reader.script(f"return {rows}.findIndex((row) => row.querySelector('button'))")):
        reader.types(Keys.ARROW_DOWN)
    reader.types(Keys.ENTER)
    assert len(reader.all("#ledger-table .detail")) == 1
    reader.types(Keys.ARROW_DOWN)
    reader.types(Keys.ESCAPE)
    assert reader.all("#ledger-table .detail") == []
