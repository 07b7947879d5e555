"""The ledger tab of the report: the results that come with the project."""

from __future__ import annotations

from typing import Any

from nalm.papers import ledger
from nalm.papers.agreement import Agreement
from nalm.papers.ledger_counts import COUNTED, papers_contents, shares, sources
from nalm.papers.ledger_markdown import both_sides


def ledger_cells() -> dict[str, Any]:
    """The cells of every stored result, for the page's scripts."""
    results = {entry["id"]: ledger.kept_result(entry["id"]) for entry in ledger.listing()}
    return {
        "verdicts": [str(verdict) for verdict in Agreement],
        "ledger": {name: entry_cells(result) for name, result in results.items() if result is not None},
    }


def entry_cells(result: dict[str, Any]) -> dict[str, Any]:
    """The cells of a stored result, and where they come from."""
    about = {key: result[key] for key in ("source", "command", "reduced", "note")}
    return {**about, "cells": [_shown(cell) for cell in result["cells"]]}


def _shown(cell: dict[str, Any]) -> dict[str, Any]:
    paper, ours = both_sides(cell)
    why = cell["cause"] or cell["reason"] or ""
    kept = {name: cell[name] for name in ("row", "column", "n", "verdict", "weak")}
    return {**kept, "paper": paper, "ours": ours, "why": why.replace("_", " ")}


def ledger_text() -> dict[str, Any]:
    """The part of the ledger that the template shows."""
    entries = ledger.listing()
    results = [r for entry in entries if (r := ledger.kept_result(entry["id"])) is not None]
    found = shares(results)
    counts = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in sorted(found["verdicts"].items()))
    differences = [
        {
            "id": result["id"],
            "row": cell["row"],
            "column": cell["column"],
            **dict(zip(("paper", "ours"), both_sides(cell))),
            "cause": cell["cause"] or "",
        }
        for result in results
        for cell in result["cells"]
        if cell["verdict"] == Agreement.DIFFERS
    ]
    sentence = f"{len(results)} of {len(entries)} have been run. "
    sentence += f"{found['published_cells']} cells have a published number or claim: {counts}."
    return {
        "entries": entries,
        "verdicts": [str(verdict) for verdict in Agreement],
        "sentence": sentence if results else "none has been run.",
        "counted": list(COUNTED),
        "sources": sources(found) if results else [],
        "papers": papers_contents(result["id"] for result in results),
        "differences": differences,
    }
