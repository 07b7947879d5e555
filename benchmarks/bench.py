"""How long a benchmark takes: with empty and warm compile cache, and when all of it is stored.

    python benchmarks/bench.py            # one unit, one range, 25 seeds
    python benchmarks/bench.py --full     # also all of `make bench`, minutes

Every command is a process of its own with a store and a cache of its own. `import torch`, which all of them
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
    measured = measure(["--units", given.unit, "--ranges", "1:2"], given.repeats)
    if given.full:
        measured |= {f"full {name}": s for name, s in measure(["--units", FULL], given.repeats, 0).items()}
    if given.json == "-":
        print(json.dumps(measured))
        return
    if given.json:
        Path(given.json).write_text(json.dumps(measured, indent=1))
    for name, value in measured.items():
        print(f"{name:20} {value:7.1f} s")


def measure(arguments: list[str], repeats: int, warm: int = 1) -> dict[str, float]:
    """Seconds of the same benchmark cold, warm (if asked), stored, and of `import torch` beside it."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        stores = [Path(folder) / f"{k}.sqlite" for k in range(1 + warm * repeats)]
        command = [sys.executable, "-m", "nalm", "bench", "single-module", *arguments, "--json", "-"]
        seconds = [timed([*command, "--store", str(store)], environment) for store in stores]
        stored = [timed([*command, "--store", str(stores[0])], environment) for _ in range(repeats)]
        torch = [timed([sys.executable, "-c", "import torch"], environment) for _ in range(repeats)]
    found = {"cold": seconds[0], "stored": min(stored), "import torch": min(torch)}
    return found | ({"warm": min(seconds[1:])} if warm else {})


def timed(command: list[str], environment: dict[str, str]) -> float:
    """Seconds of one command, which must succeed."""
    began = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
