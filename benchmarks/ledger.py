"""Make docs/ledger.md from the results in benchmarks/results, and say how ours and the papers' compare.

The results are what `nalm reproduce ID --json FILE` writes; each says by which command it was made. Causes
of what differs are often found after a long run: they are written into the results here.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from nalm.papers.agreement import APART
from nalm.papers.causes import cause_of
from nalm.papers.entries import ENTRIES
from nalm.papers.ledger import keep, kept_result, listing
from nalm.papers.ledger_markdown import ledger_markdown, shares

PAGE = Path(__file__).parents[1] / "docs" / "ledger.md"


def kept_results() -> list[dict[str, Any]]:
    """All results, each with the causes that are known today."""
    results = []
    for entry in ENTRIES:
        result = kept_result(entry)
        if result is None:
            continue
        for cell in result["cells"]:
            if cell["verdict"] in APART:
                cell["cause"] = cause_of(entry, cell["row"], cell["column"])
        if result != kept_result(entry):
            keep(result)
        results.append(result)
    return results


def main() -> None:
    """Write the page, and the summary where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the summary; - is standard output")
    file = parser.parse_args().json
    results = kept_results()
    PAGE.write_text(ledger_markdown(listing(), results), encoding="utf-8")
    text = json.dumps(shares(results), indent=2)
    if file not in (None, "-"):
        Path(file).write_text(text + "\n", encoding="utf-8")
    print(text if file == "-" else f"{len(results)} results, {PAGE} written.\n{text}", file=sys.stdout)


if __name__ == "__main__":
    main()
