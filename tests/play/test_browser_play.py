"""The page in a real browser: load, train, formula, rows, stored runs, ledger, stop."""

import os
import re
import time

import pytest
from browser import IN_BROWSER, Reader
from selenium.webdriver.common.keys import Keys
from start_play import children

pytestmark = IN_BROWSER

PHONE, WIDE = (390, 844), (1400, 1000)


WATCH = """
window.seen = [];
const note = () => document.querySelectorAll(".play-formula").forEach(f => window.seen.push(f.innerText));
new MutationObserver(note)
  .observe(document.body, {subtree: true, childList: true, characterData: true});
"""
SHOWN = """
return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent).map(e => e.innerText);
"""
PASTE = """
arguments[0].value = arguments[1];
arguments[0].dispatchEvent(new Event("input", {bubbles: true}));
"""


class Visitor(Reader):
    """What a visitor does with the page."""

    def opens(self, address):
        self.chrome.get_log("browser")
        self.chrome.get(address)
        self.until(lambda: self.all(".play-card svg"))
        return self

    def button(self, name):
        return next(b for b in self.all("button") if b.text == name and b.is_displayed())

    def presses(self, name):
        self.until(lambda: self.button(name).is_enabled())
        self.button(name).click()

    def tab(self, name):
        next(tab for tab in self.all(".q-tab") if tab.text == name).click()

    def field(self, label):
        return next(f for f in self.all("input, textarea") if f.get_attribute("aria-label") == label)

    def enters(self, label, text):
        field = self.field(label)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.DELETE)
        field.send_keys(text)

    def chooses(self, label, option):
        """Open a list of choices and click one of them; the list is drawn outside the form."""
        self.field(label).click()
        named = f"//*[@role='option'][normalize-space()='{option}']"
        self.until(lambda: self.chrome.find_elements("xpath", named))[0].click()
        self.until(lambda: self.field(label).get_attribute("value") == option)

    def shown(self, selector):
        """The texts of what is seen, read at one moment: elements are replaced while the page moves."""
        return self.script(SHOWN, selector)

    def status(self):
        return "".join(self.shown(".play-status")[:1])

    def says(self, pattern):
        self.until(lambda: re.search(pattern, self.status()))
        return self.status()

    def formulas(self):
        return self.shown(".play-formula")

    def is_as_wide_as(self, size):
        self.emulates(
            "setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False
        )


@pytest.fixture
def visitor(served, browser):
    made = Visitor(browser)
    made.is_as_wide_as(WIDE)
    return made.opens(served.address)


def test_pressing_run_at_once_shows_a_formula_that_changes_and_ends_solved(visitor):
    visitor.script(WATCH)
    visitor.presses("Run")
    visitor.says("Finished: 3 of 3 solved")
    assert visitor.formulas() == ["x1*x2"] * 3
    seen = visitor.script("return window.seen")
    assert any(re.search(r"0\.\d+\*x1", text) for text in seen)  # weights on their way to 1
    assert seen[-1] == "x1*x2"
    assert len([text for text in visitor.shown(".play-advice") if text.startswith("solved at step")]) == 3
    drawn = visitor.shown(".play-chart")
    assert "solved below" in drawn[0]
    assert "W[0]" in drawn[1]
    assert visitor.complaints() == []


def test_two_recipes_train_side_by_side(visitor):
    visitor.script("document.querySelector('.q-toggle').click()")
    visitor.until(lambda: len([c for c in visitor.all(".play-card") if c.is_displayed()]) == 2)
    visitor.enters("Steps", "3000")
    visitor.presses("Run")
    visitor.until(lambda: len(visitor.shown(".play-seed")) == 6)
    assert re.search(r"nmu, published: \d of 3 solved; nmu, second-order: 3 of 3", visitor.says("Finished"))
    left, right = (c.rect for c in visitor.all(".play-card")[:2])
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]


def test_too_much_is_refused_with_a_sentence(visitor):
    visitor.enters("Steps", "999999999")
    visitor.presses("Run")
    assert visitor.says("steps.*from 1 to 200,000")
    assert not visitor.all(".play-seed")


def test_stop_ends_the_work(visitor):
    visitor.enters("Seeds", "8")
    visitor.enters("Inputs", "10")
    visitor.enters("Steps", "200000")
    visitor.presses("Run")
    visitor.until(lambda: visitor.all(".play-seed"))
    visitor.presses("Stop")
    assert visitor.says("Stopped")
    visitor.enters("Steps", "")
    visitor.enters("Seeds", "1")
    visitor.enters("Inputs", "2")
    visitor.presses("Run")
    visitor.says("Finished: 1 of 1 solved")


def test_a_page_that_is_closed_ends_its_work(visitor, served):
    visitor.chooses("Unit", "inalu")  # a minute, where a closed page counts as gone after fifteen seconds
    visitor.enters("Seeds", "8")
    visitor.enters("Inputs", "10")
    visitor.enters("Steps", "200000")
    visitor.presses("Run")
    visitor.until(lambda: visitor.all(".play-seed"))
    before = set(children(served.process.pid))
    visitor.chrome.get("about:blank")
    visitor.until(lambda: before - set(children(served.process.pid)))


def test_it_can_be_used_by_keyboard(visitor):
    visitor.field("Steps").click()
    for _ in range(12):
        visitor.types(Keys.TAB)
        if visitor.script("return document.activeElement.innerText") == "Run":
            break
    visitor.types(Keys.ENTER)
    visitor.says("Finished: 3 of 3 solved")


ROWS = "a,b,y\n" + "".join(f"{a},{b},{3 * a * b}\n" for a in range(1, 9) for b in range(1, 9))


def paste(visitor, text):
    """Put text into the field as a clipboard does, at once."""
    visitor.script(PASTE, visitor.field("Rows"), text)


def test_pasted_rows_give_their_formula(visitor):
    visitor.tab("Your data")
    paste(visitor, ROWS)
    visitor.says("3 columns: a, b, y")
    visitor.presses("Find the formula")
    visitor.says("Finished in")
    assert visitor.formulas()[0] == "y = 3*a*b"
    assert "Verdict: exact" in visitor.find(".q-tab-panel").text
    assert visitor.complaints() == []


def test_other_rows_clear_what_was_found_and_offer_their_own_last_column(visitor):
    visitor.tab("Your data")
    paste(visitor, ROWS)
    visitor.says("3 columns")
    visitor.chooses("Column to explain", "b")
    visitor.presses("Find the formula")
    visitor.says("Finished in")
    assert visitor.formulas()
    paste(visitor, ROWS.replace("a,b,y", "b,c,d"))
    visitor.says("3 columns: b, c, d")
    assert visitor.formulas() == []
    assert "Verdict" not in visitor.find(".q-tab-panel").text
    assert visitor.field("Column to explain").get_attribute("value") == "d"


def test_what_is_too_long_to_paste_is_refused_instead_of_cut_off(visitor):
    visitor.tab("Your data")
    paste(visitor, ROWS)
    visitor.says("3 columns")
    paste(visitor, ("a,b,y\n" + "1,2,3\n" * 100_000)[:500_000])
    assert visitor.says("too long to paste.*Upload")


def test_an_uploaded_file_gives_its_formula(visitor, tmp_path):
    file = tmp_path / "made up.csv"
    file.write_text(ROWS)
    visitor.tab("Your data")
    visitor.until(lambda: visitor.all("input[type=file]"))
    visitor.find("input[type=file]").send_keys(str(file))
    visitor.says("3 columns")
    visitor.presses("Find the formula")
    visitor.says("Finished in")
    assert visitor.formulas()[0] == "y = 3*a*b"


def test_rows_that_cannot_be_used_are_refused_with_a_sentence(visitor):
    visitor.tab("Your data")
    visitor.presses("Find the formula")
    visitor.says("no rows yet")
    paste(visitor, "a,b\none,two\nthree,four\nfive,six")
    visitor.says("2 columns")
    visitor.presses("Find the formula")
    said = visitor.says("The table|number")
    assert "Traceback" not in said
    assert "/" not in said  # no path of a temporary file


def test_stored_runs_open_and_hostile_names_stay_text(visitor):
    visitor.tab("Stored runs")
    visitor.says("4 runs in")
    visitor.until(lambda: len(visitor.all(".q-table tbody tr")) == 4)
    row = next(r for r in visitor.all(".q-table tbody tr") if "nmu" in r.text and "solved" in r.text)
    row.find_elements("css selector", "td")[1].click()
    visitor.until(lambda: "x1*x2" in visitor.formulas())
    assert visitor.chrome.title == "nalm play"


def test_the_ledger_opens(visitor):
    visitor.tab("Ledger")
    visitor.says("have been run")
    visitor.until(lambda: visitor.all(".q-table tbody tr"))
    visitor.all(".q-table tbody tr")[0].find_elements("css selector", "td")[1].click()
    visitor.until(lambda: any(text.startswith("nalm reproduce") for text in visitor.formulas()))


@pytest.mark.parametrize("name", ["Train", "Your data", "Stored runs", "Ledger"])
def test_a_phone_shows_everything_without_scrolling_sideways(visitor, name):
    visitor.is_as_wide_as(PHONE)
    visitor.tab(name)
    time.sleep(0.5)
    assert visitor.script("return document.documentElement.scrollWidth") <= PHONE[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_colours_of_the_browser(visitor, served, scheme):
    visitor.emulates("setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    visitor.opens(served.address)
    colours = "const s = getComputedStyle(document.querySelector(arguments[0])); return [s.color, s.fill]"
    lightness = sum(map(int, re.findall(r"\d+", visitor.script(colours, "body")[0])[:3])) / 3
    drawn = sum(map(int, re.findall(r"\d+", visitor.script(colours, ".play-chart svg text")[1])[:3])) / 3
    assert (lightness > 128) == (drawn > 128) == (scheme == "dark")


def test_nothing_is_fetched_from_elsewhere(visitor, served):
    fetched = visitor.script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert fetched
    assert all(re.match(r"(http|ws)://127\.0\.0\.1:|data:|blob:", name) for name in fetched)
    assert [file for file in os.listdir(served.folder) if "runs.sqlite" not in file] == []
