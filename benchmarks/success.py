"""Success of units with their published recipes on the single-module task, all nine ranges.

    python benchmarks/success.py --units snmu,nru,realnpu@modified --seeds 25 --json results.json

Each row is a unit, a recipe and an operation: the share of seeds solved on each range, with the thesis's
thresholds, and how the others failed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from typing import Any

from nalm.compose import ModelSpec
from nalm.tasks import OPERATIONS, TEST_RANGES, SingleModule
from nalm.training.engine import train_runs
from nalm.units import UNITS


def main() -> None:
    """Parse, train, print."""
    arithmetic = [name for name, unit in UNITS.items() if set(unit.ops) & set(OPERATIONS)]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--units", default=",".join(arithmetic), help="name[@recipe][(option=value;…)], comma list"
    )
    parser.add_argument(
        "--op", default=",".join(OPERATIONS), help="operations, of those each unit can express"
    )
    parser.add_argument("--inputs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--json", help="file for the results; - for standard output")
    given = parser.parse_args()
    rows = []
    for text in given.units.split(","):
        spec = ModelSpec.parse(text)
        for op in [op for op in given.op.split(",") if op in spec.build(given.inputs, 1).ops]:
            rows.append(row(spec, op, given.inputs, given.seeds))
            print(line(rows[-1]), file=sys.stderr, flush=True)
    if given.json == "-":
        print(json.dumps({"rows": rows}))
    elif given.json:
        with open(given.json, "w") as file:
            json.dump({"rows": rows}, file, indent=1)


def row(spec: ModelSpec, op: str, inputs: int, seeds: int) -> dict[str, Any]:
    """The results of one unit on one operation."""
    ranges = list(TEST_RANGES)
    tasks = [SingleModule(op, name, inputs=inputs) for name in ranges for _ in range(seeds)]
    recipe = spec.make_recipe(op, inputs)
    began = time.perf_counter()
    result = train_runs(spec.build(inputs, 1), tasks, [recipe] * len(tasks), [*range(seeds)] * len(ranges))
    outcomes = [str(outcome) for outcome in result.outcomes()]
    by_range = {name: outcomes[k * seeds : (k + 1) * seeds] for k, name in enumerate(ranges)}
    return {
        "unit": str(spec),
        "op": op,
        "inputs": inputs,
        "seeds": seeds,
        "success": {name: found.count("solved") / seeds for name, found in by_range.items()},
        "outcomes": {name: dict(Counter(found)) for name, found in by_range.items()},
        "seconds": time.perf_counter() - began,
    }


def line(row: dict[str, Any]) -> str:
    """A row for people."""
    rates = "  ".join(f"{name} {rate:.2f}" for name, rate in row["success"].items())
    return f"{row['unit']:24} {row['op']:4} {rates}  ({row['seconds']:.0f} s)"


if __name__ == "__main__":
    main()
