"""The table of docs/fidelity.md: success of all units with their published recipes on the nine ranges.

    python benchmarks/fidelity.py --store nalm-runs.sqlite

What is in the store is not computed again. The table is printed as Markdown.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from nalm.experiment.bench import do_work, make_experiment, make_work
from nalm.experiment.local import Local
from nalm.experiment.store import Store
from nalm.tasks import OPERATIONS, TEST_RANGES
from nalm.threads import cores
from nalm.units import UNITS

VARIANTS = ["realnpu@modified", "nmru(exact_evaluation=true)"]


def main() -> None:
    """Parse, compute, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", default="nalm-runs.sqlite")
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--json", help="file for the rows; - for standard output")
    given = parser.parse_args()
    units = [name for name, unit in UNITS.items() if set(unit.ops) & set(OPERATIONS)]
    experiment = make_experiment("single-module", [*units, *VARIANTS], seeds=given.seeds)
    with Store(given.store) as store:
        result = do_work(make_work(experiment, store, cores()), store, Local(cores()))
    if given.json == "-":
        print(json.dumps(result))
        return
    if given.json:
        with open(given.json, "w") as file:
            json.dump(result, file, indent=1)
    print("\n".join(table(result["rows"])))


def table(rows: list[dict[str, Any]]) -> list[str]:
    """A line a unit and operation, a column a range."""
    rates: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        rates.setdefault((row["model"], row["op"]), {})[row["range"]] = row["success"]["rate"]
    lines = ["| unit | op | " + " | ".join(f"`{name}`" for name in TEST_RANGES) + " |"]
    lines.append("|" + "---|" * (len(TEST_RANGES) + 2))
    for (unit, op), found in rates.items():
        shown = [f"{found[name]:.2f}".replace("0.00", "0").replace("1.00", "1") for name in TEST_RANGES]
        lines.append(f"| `{unit}` | {op} | " + " | ".join(shown) + " |")
    return lines


if __name__ == "__main__":
    main()
