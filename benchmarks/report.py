"""How long a report takes to write, how large it is, and how long it takes to open.

python benchmarks/report.py STORE [--json FILE]

Opening is measured in headless Chromium from the start of the navigation: to the first paint, and to the
moment when all controls work and the plotting library is loaded. In a browser that has just started, and once
more in the same one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from nalm.report.page import write_page

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1400,1000"
)
TIMES = """
const paint = performance.getEntriesByType("paint").find((e) => e.name === "first-contentful-paint");
return { painted: paint.startTime / 1000, usable: Number(document.documentElement.dataset.ready) / 1000 };
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", default=None, metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        began = time.perf_counter()
        runs = write_page(arguments.store, page)
        result: dict[str, Any] = {
            "runs": runs,
            "seconds_to_write": time.perf_counter() - began,
            "megabytes": page.stat().st_size / 1e6,
        }
        opened = [_open(page) for _ in range(arguments.repeat)]
    for name in opened[0]:
        times = [each[name] for each in opened]
        result[name] = {"median": statistics.median(times), "most": max(times)}
    text = json.dumps(result, indent=2)
    if arguments.json not in (None, "-"):
        Path(arguments.json).write_text(text + "\n", encoding="utf-8")
    print(text, file=sys.stdout)


def _open(page: Path) -> dict[str, float]:
    """Seconds in a new browser, and in the same browser for a second time."""
    found = {}
    with tempfile.TemporaryDirectory() as profile:
        options = ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            for which in ("new", "again"):
                driver.get(page.as_uri())
                WebDriverWait(driver, 30, 0.02).until(
                    lambda d: d.execute_script("return document.documentElement.dataset.ready")
                )
                found |= {f"{name} ({which})": value for name, value in driver.execute_script(TIMES).items()}
        finally:
            driver.quit()
    return found


if __name__ == "__main__":
    main()
