"""Make docs/ledger.md from the results in benchmarks/results, and say how ours and the papers' compare.

The results are what `nalm reproduce ID --json FILE` writes; each says by which command it was made.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from nalm.papers.entries import ENTRIES
from nalm.papers.ledger import kept_result, listing
from nalm.report.ledger_page import ledger_page, shares

PAGE = Path(__file__).parents[1] / "docs" / "ledger.md"


def main() -> None:
    """Write the page, and the summary where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the summary; - is standard output")
    file = parser.parse_args().json
    results = [result for entry in ENTRIES if (result := kept_result(entry)) is not None]
    PAGE.write_text(ledger_page(listing(), results), encoding="utf-8")
    text = json.dumps(shares(results), indent=2)
    if file not in (None, "-"):
        Path(file).write_text(text + "\n", encoding="utf-8")
    print(text if file == "-" else f"{len(results)} results, {PAGE} written.\n{text}", file=sys.stdout)


if __name__ == "__main__":
    main()
