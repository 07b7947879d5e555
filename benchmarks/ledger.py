"""Make docs/ledger.md from the results in benchmarks/results, judged anew by the rules of today.

The results are what `nalm reproduce ID --json FILE` writes: what was measured, and the verdicts. Published
numbers, claims and causes are often found after a long run, so verdicts are made again here, without
training. With `--run HOURS` what is missing is trained first, at low priority, in the order of
`ledger_queue.py`; killed, it resumes, because every finished run is stored. Nothing is committed.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
from pathlib import Path
from typing import Any

import ledger_queue
from nalm.papers.entries import ENTRIES
from nalm.papers.ledger import keep, kept_result, listing
from nalm.papers.ledger_counts import shares
from nalm.papers.ledger_markdown import ledger_markdown
from nalm.papers.reproduce import rejudged

PAGE = Path(__file__).parents[1] / "docs" / "ledger.md"


def judged_results() -> list[dict[str, Any]]:
    """All results, judged by the rules of today."""
    results = []
    for name, entry in ENTRIES.items():
        kept = kept_result(name)
        if kept is None:
            continue
        try:
            result = rejudged(entry, kept)
        except KeyError as missing:
            raise SystemExit(f"{name} has changed and is to be run again: it has no {missing}.") from None
        if result != kept:
            keep(result)
        results.append(result)
    return results


def main() -> None:
    """Train what is missing if asked; write the page, and the counts where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", metavar="FILE", help="write the counts; - is standard output")
    parser.add_argument("--run", metavar="HOURS", type=float, help="train what is missing for so long")
    parser.add_argument(
        "--store",
        metavar="FILE",
        type=Path,
        default=Path("nalm-runs.sqlite"),
        help="the file that keeps the runs; by default nalm-runs.sqlite",
    )
    asked = parser.parse_args()
    if asked.run is not None and not 0 <= asked.run < math.inf:
        parser.error(f"--run must be a number of hours, 0 or more, but got {asked.run}")
    # Ended from outside, it ends what it trains as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if asked.run is not None:
            ledger_queue.work(asked.run, asked.store)
    except KeyboardInterrupt:
        print("Interrupted: what is finished is stored. The page is made from what is kept.", file=sys.stderr)
    results = judged_results()
    PAGE.write_text(ledger_markdown(listing(), results), encoding="utf-8")
    text = json.dumps(shares(results), indent=2)
    if asked.json not in (None, "-"):
        Path(asked.json).write_text(text + "\n", encoding="utf-8")
    said = f"{len(results)} results, {PAGE} written.\n{text}"
    print(text if asked.json == "-" else said, file=sys.stdout)


if __name__ == "__main__":
    main()
