"""Why some numbers differ from the papers': one change at a time, as public code has it, and what it changes.

    python benchmarks/causes.py --store causes.sqlite --json benchmarks/results-causes.json
    python benchmarks/causes.py --only nau-100-strength

Each trial names the entry of the ledger and the sentence or cell that differs, and has two sides: the entry's
own set-up, and the same with one change. What is not in the store is trained. Shares of solved runs have
Wilson's 95 % interval, other numbers that of their median (for Heim et al. the median absolute deviation).
The texts in `nalm/papers/causes.py` quote `benchmarks/results-causes.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from causes_trials import TRIALS
from nalm.experiment.local import Local
from nalm.papers.agreement import Finding
from nalm.papers.reproduce import StoreRunner
from trial import Pair, Trial


def main() -> None:
    """Parse, compute, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, default=Path("nalm-runs.sqlite"))
    parser.add_argument("--only", action="append", choices=list(TRIALS), help="a trial; may be repeated")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--json", help="file for the results, in which other trials stay; - for the output")
    given = parser.parse_args()
    run = StoreRunner(given.store, Local(given.processes), lambda progress: None)
    results: dict[str, Any] = {}
    for name in given.only or TRIALS:
        trial = TRIALS[name]
        pairs = trial.measure(run)
        results[name] = _plain(trial, pairs)
        print("\n".join(_lines(name, trial, pairs)), file=sys.stderr if given.json == "-" else sys.stdout)
    if given.json == "-":
        print(json.dumps(results))
    elif given.json:
        _write(Path(given.json), results)


def _plain(trial: Trial, pairs: dict[str, Pair]) -> dict[str, Any]:
    return {
        "entry": trial.entry,
        "about": trial.about,
        "change": trial.change,
        "columns": {
            column: {"before": asdict(before), "after": asdict(after)}
            for column, (before, after) in pairs.items()
        },
    }


def _write(file: Path, results: dict[str, Any]) -> None:
    """Write the results, in the order of the trials, next to those of other trials that the file has."""
    held = {**(json.loads(file.read_text()) if file.exists() else {}), **results}
    ordered = {name: held[name] for name in TRIALS if name in held}
    file.write_text(json.dumps(ordered, indent=1) + "\n")


def _lines(name: str, trial: Trial, pairs: dict[str, Pair]) -> list[str]:
    """A heading, and a line for each column with the numbers before and after."""
    heading = f"{name}: {trial.entry}, {trial.about}. Change: {trial.change}."
    width = max(map(len, pairs))
    return [heading, *(f"  {c:{width}}  {_words(a)} -> {_words(b)}" for c, (a, b) in pairs.items()), ""]


def _words(found: Finding) -> str:
    if found.value is None:
        return f"none of {found.n}"
    ends = "" if found.low is None or found.high is None else f" [{found.low:.3g}, {found.high:.3g}]"
    return f"{found.value:.3g}{ends} of {found.n}"


if __name__ == "__main__":
    main()
