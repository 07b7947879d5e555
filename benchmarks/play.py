"""How soon the page moves: from pressing Run to the first point in the chart and the first formula.

    python benchmarks/play.py [--repeats N] [--json FILE]

The command is started once; a headless Chromium opens its page and presses Run. The page itself notes the
times. The first press may find the cache of compiled programs empty; the others do not, in a new page each.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "report"))

WATCH = """
const seen = window.seen = {};
const note = () => {
  const passed = (performance.now() - seen.pressed) / 1000;
  const texts = [...document.querySelectorAll(".play-formula")].map(f => f.innerText);
  if (!seen.formula && texts.some(t => t.includes("x1"))) seen.formula = passed;
  if (!seen.drawn && document.querySelector(".play-chart").innerText.includes("seed 0")) seen.drawn = passed;
};
new MutationObserver(note).observe(document.body, {subtree: true, childList: true, characterData: true});
const run = [...document.querySelectorAll("button")].find(b => b.innerText == "Run");
seen.pressed = performance.now();
run.click();
"""


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", help="file for the seconds; - for standard output")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(Path(folder), given.repeats)
    if given.json == "-":
        print(json.dumps(measured))
        return
    if given.json:
        Path(given.json).write_text(json.dumps(measured, indent=1))
    print(f"address printed after {measured['start']:.1f} s")
    for name in ("load", "drawn", "formula"):
        print(f"{name:8} " + "  ".join(f"{value:5.2f}" for value in measured[name]) + " s")


def measure(folder: Path, repeats: int) -> dict[str, Any]:
    """The seconds until the address is printed, a page is there, its chart moves and a formula appears."""
    from browser import started

    began = time.perf_counter()
    command = [sys.executable, "-m", "nalm", "play", "--no-browser"]
    served = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert served.stdout is not None
    try:
        address = served.stdout.readline().strip()
        start = time.perf_counter() - began
        chrome = started(folder / "profile")
        try:
            visits = [visit(chrome, address) for _ in range(repeats)]
        finally:
            chrome.quit()
    finally:
        served.send_signal(signal.SIGINT)
        served.wait()
    return {"start": start} | {name: [each[name] for each in visits] for name in visits[0]}


def visit(chrome: Any, address: str) -> dict[str, float]:
    """Open the page, press Run, wait for a formula."""
    began = time.perf_counter()
    chrome.get(address)
    until(chrome, "return document.querySelector('.play-card svg') !== null")
    load = time.perf_counter() - began
    chrome.execute_script(WATCH)
    until(chrome, "return 'formula' in window.seen && 'drawn' in window.seen")
    seen = chrome.execute_script("return window.seen")
    until(
        chrome,
        "return [...document.querySelectorAll('.play-status')].some(s => s.innerText.startsWith('Fin'))",
    )
    return {"load": load, "drawn": seen["drawn"], "formula": seen["formula"]}


def until(chrome: Any, script: str) -> None:
    """Wait until a script returns true."""
    ends = time.monotonic() + 120
    while not chrome.execute_script(script):
        assert time.monotonic() < ends, script
        time.sleep(0.05)


if __name__ == "__main__":
    main()
