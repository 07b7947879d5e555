"""The ledger as a page shows it: the results that are kept with the project."""

from __future__ import annotations

from typing import Any

from nalm.papers import ledger
from nalm.papers.verdicts import Verdict
from nalm.report.ledger_page import shares

_CELL = (
    *("row", "column", "metric", "paper", "paper_low", "paper_high"),
    *("ours", "low", "high", "n", "verdict", "reason", "cause"),
)


def ledger_cells() -> dict[str, Any]:
    """The cells of every kept result, for the page's program."""
    results = {entry["id"]: ledger.kept_result(entry["id"]) for entry in ledger.listing()}
    return {
        "verdicts": [str(verdict) for verdict in Verdict],
        "ledger": {
            name: {
                **{key: result[key] for key in ("source", "command", "reduced", "note")},
                "cells": [{key: cell[key] for key in _CELL} for cell in result["cells"]],
            }
            for name, result in results.items()
            if result is not None
        },
    }


def ledger_text() -> dict[str, Any]:
    """The ledger as far as the template shows it."""
    entries = ledger.listing()
    results = [r for entry in entries if (r := ledger.kept_result(entry["id"])) is not None]
    found = shares(results)
    counts = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in sorted(found["verdicts"].items()))
    differences = [
        {
            "id": result["id"],
            "row": cell["row"],
            "column": cell["column"],
            "paper": _number(cell, "paper"),
            "ours": _number(cell, "ours"),
            "cause": cell["cause"] or "",
        }
        for result in results
        for cell in result["cells"]
        if cell["verdict"] == Verdict.DIFFERS
    ]
    sentence = f"{len(results)} of {len(entries)} have been run. "
    sentence += f"{found['published_cells']} cells have a published number or claim: {counts}."
    return {
        "entries": entries,
        "verdicts": [str(verdict) for verdict in Verdict],
        "sentence": sentence if results else "none has been run.",
        "differences": differences,
    }


def _number(cell: dict[str, Any], side: str) -> str:
    value = cell[side]
    if cell["metric"] is None:
        return ("it is so" if side == "paper" else "yes") if value else "no"
    low, high = (cell[f"paper_{end}" if side == "paper" else end] for end in ("low", "high"))
    return f"{value:.3g}" if low is None or high is None else f"{value:.3g} [{low:.3g}, {high:.3g}]"
