"""The equations that `nalm.find_dynamics` finds in the epidemics of `nalm bench epidemic`, by noise and seed.

python benchmarks/epidemic.py [--op sir,fsir] [--seeds 5] [--terms 4] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from nalm.discover.dynamics import find_dynamics
from nalm.tasks import Epidemic
from nalm.tasks.epidemic import NAMES, NOISES


def found(op: str, noise: int, seed: int, terms: int) -> dict[str, Any]:
    """The equations of one seed, their Pareto front, and the processor time."""
    began = time.process_time()
    dynamics = find_dynamics(*Epidemic(op, noise).observed(seed), names=NAMES, terms=terms, seed=seed)
    front = [{"parameters": each.size, "error": each.error} for each in dynamics.front]
    return {
        **{"op": op, "noise": noise, "seed": seed, "equations": str(dynamics).splitlines(), "front": front},
        "seconds": round(time.process_time() - began, 2),
    }


def main() -> None:
    """Print the equations of every noise and seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--op", default="sir,fsir", help="comma list of sir and fsir")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--terms", type=int, default=4)
    parser.add_argument("--json", help="a file, or - for standard output")
    asked = parser.parse_args()
    rows = []
    for op in asked.op.split(","):
        for noise in NOISES:
            for seed in range(asked.seeds):
                rows.append(found(op, noise, seed, asked.terms))
                lines = "\n  ".join(rows[-1]["equations"])
                where = sys.stderr if asked.json == "-" else sys.stdout
                print(f"{op}, noise {noise} %, seed {seed}:\n  {lines}", file=where, flush=True)
    if asked.json:
        text = json.dumps({"rows": rows}, indent=1) + "\n"
        sys.stdout.write(text) if asked.json == "-" else Path(asked.json).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
