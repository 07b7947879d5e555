"""A headless Chromium, and what a reader does with a page in it."""

import shutil

import pytest

selenium = pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver import ActionChains, Chrome, ChromeOptions  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
LIMIT = 300
"""Seconds after which a test gives up; what it waits for takes one, or many on a busy machine."""
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1400,1000"
)
IN_BROWSER = [
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER),
        reason="needs chromium and chromedriver (Debian: chromium, chromium-driver)",
    ),
]


def started(profile):
    """A browser with this folder of its own."""
    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return Chrome(options=options, service=Service(DRIVER))


class Reader:
    """What a reader does with the page."""

    def __init__(self, chrome):
        self.chrome = chrome

    def opens(self, file):
        self.chrome.get_log("browser")
        self.chrome.get(file.as_uri())
        self.until(lambda: self.script("return document.documentElement.dataset.ready"))
        return self

    def script(self, text, *arguments):
        return self.chrome.execute_script(text, *arguments)

    def find(self, selector):
        return self.chrome.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.chrome.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return [each.text for each in self.all(selector)]

    def until(self, condition):
        return WebDriverWait(self.chrome, LIMIT).until(lambda _: condition())

    def sees(self, selector):
        """Scroll there, and wait until every plot in it is drawn."""
        self.script("document.querySelector(arguments[0]).scrollIntoView()", selector)
        self.until(lambda: all(p.get_attribute("data-drawn") for p in self.all(f"{selector} .plot")))

    def clicks(self, selector, text):
        (button,) = [b for b in self.all(f"{selector} button") if b.text == text]
        self.script("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()

    def types(self, keys):
        ActionChains(self.chrome).send_keys(keys).perform()

    def complaints(self):
        return [entry["message"] for entry in self.chrome.get_log("browser")]

    def emulates(self, command, **settings):
        self.chrome.execute_cdp_cmd(f"Emulation.{command}", settings)
