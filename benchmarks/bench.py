"""How long a benchmark takes: with empty and warm compile cache, and when all of it is stored.

    python benchmarks/bench.py                    # one unit, one range, 25 seeds
    python benchmarks/bench.py --full             # also all of `make bench`, minutes
    python benchmarks/engine.py --against PATH    # all of `make bench`, of another checkout too

Every command is a process of its own with a store and a cache of its own. `import torch`, which most of them
begin with, is measured in the same run. The shortest of several counts where nothing is compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FULL = "nac,nac-mul,nalu,gnalu,inalu,nau,nmu,snmu,npu,realnpu,realnpu@modified,nru,nmru"
STORED = 5
"""How often a stored benchmark is asked for."""


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--unit", default="nmu")
    parser.add_argument("--full", action="store_true", help="measure all of `make bench` too")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", help="file for the seconds; - for standard output")
    given = parser.parse_args()
    here = Checkout(Path(__file__).parents[1])
    measured = here.measure(["--units", given.unit, "--ranges", "1:2"], given.repeats)
    if given.full:
        measured |= {f"full {name}": s for name, s in here.measure(["--units", FULL], 1).items()}
    if given.json == "-":
        print(json.dumps(measured))
        return
    if given.json:
        Path(given.json).write_text(json.dumps(measured, indent=1))
    for name, value in measured.items():
        print(f"{name:20} {value:7.1f} s")


class Checkout:
    """A checkout of nalm whose commands are timed, with a cache and stores of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._folder = tempfile.TemporaryDirectory()
        source = str(self.path / "src")
        self._environment = {**os.environ, "XDG_CACHE_HOME": self._folder.name, "PYTHONPATH": source}
        self._environment.pop("TORCHINDUCTOR_CACHE_DIR", None)
        self._stores = 0

    def measure(self, arguments: list[str], repeats: int) -> dict[str, float]:
        """Seconds of the same benchmark cold, warm, stored, and of `import torch` next to it."""
        cold = self.computed(arguments)
        warm = min(self.computed(arguments) for _ in range(repeats))
        stored = min(self.stored(arguments) for _ in range(STORED))
        torch = min(self._timed(["-c", "import torch"]) for _ in range(STORED))
        return {"cold": cold, "warm": warm, "stored": stored, "import torch": torch}

    def computed(self, arguments: list[str]) -> float:
        """Seconds of a benchmark that computes everything."""
        self._stores += 1
        return self.stored(arguments)

    def stored(self, arguments: list[str]) -> float:
        """Seconds of the benchmark computed last, which is now stored."""
        store = Path(self._folder.name) / f"{self._stores}.sqlite"
        given = ["bench", "single-module", *arguments, "--json", "-", "--store", str(store)]
        return self._timed(["-m", "nalm", *given])

    def _timed(self, arguments: list[str]) -> float:
        """Seconds of one Python command, which must succeed."""
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], env=self._environment, check=True, capture_output=True)
        return time.perf_counter() - began


def compare(old: Path, new: Path, repeats: int) -> dict[str, dict[str, float]]:
    """Seconds of `make bench` (without its page) of two checkouts, in turn, and new / old."""
    arguments = ["--units", FULL]
    both = {"old": Checkout(old), "new": Checkout(new)}
    for name, checkout in both.items():
        _say(f"{name}: {checkout.path}")
    found: dict[str, dict[str, float]] = {}
    asked = {
        "cold": (Checkout.computed, 1),
        "warm": (Checkout.computed, repeats),
        "stored": (Checkout.stored, STORED),
    }
    for what, (ask, times) in asked.items():
        seconds: dict[str, list[float]] = {name: [] for name in both}
        for _ in range(times):
            for name, checkout in both.items():
                seconds[name].append(ask(checkout, arguments))
        row = {name: min(each) for name, each in seconds.items()}
        found[what] = {**row, "ratio": row["new"] / row["old"]}
        _say(
            f"{what:8} old {row['old']:7.1f} s, new {row['new']:7.1f} s, new / old {found[what]['ratio']:.2f}"
        )
    return found


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
