"""Whether `nalm.ArithmeticRegressor` calls wrong formulas exact: hard tables, and what was said of each.

    python benchmarks/fit_honesty.py --tables 1200 --json fit-honesty.json

Tables are made by kind (`fit_hard_tables.py`): random numbers, few rows, laws outside the language, noise,
outliers, rounded numbers, columns made of others, repeated rows. The judge knows the law. An "exact" is wrong
if the formula contradicts a row that was given by more than the numbers' precision, if the targets have no
law, or if it differs from the law on fresh rows whose columns are independent. Of the kinds "clean", "single
precision" and "constant column" exact is right, and counted as the other side.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from rich.console import Console
from rich.table import Table as Printed

import fit_hard_tables
from fit_hard_tables import KINDS, RIGHT, Table
from fit_store import keeping, kept

Row = dict[str, Any]
Job = tuple[str, int, float]
"""Kind, seed, and the seconds that the fit may take."""
SAME = 1e-6
"""Relative difference from the law on fresh rows that data in double precision leave no excuse for."""


def judged(job: Job) -> Row:
    """Fit one table, and say whether what was called exact is wrong."""
    from nalm import ArithmeticRegressor

    kind, seed, seconds = job
    table = fit_hard_tables.table(kind, seed)
    row: Row = {"kind": kind, "seed": seed, "wrong": "", "crash": "", "about": table.about, "limit": seconds}
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ArithmeticRegressor(max_seconds=seconds, random_state=seed, n_jobs=1)
            model.fit(table.x, table.y)
        row |= {"verdict": str(model.verdict_), "formula": str(model.expression_)}
        row["notes"] = [str(note) for note in getattr(model, "notes_", [])]
        if row["verdict"] == "exact":
            row["wrong"] = fault(table, sp.sympify(model.expression_))
    except Exception:
        row |= {"verdict": "crash", "crash": traceback.format_exc(limit=-4)}
    return {**row, "seconds": time.perf_counter() - began}


def fault(table: Table, formula: sp.Expr) -> str:
    """Why a formula that was called exact is wrong; empty if it is not."""
    given, y = table.x.astype(float), table.y.astype(float)
    off, limit = np.abs(values(formula, given) - y), table.precision * (np.abs(y) + np.median(np.abs(y)))
    if not (off <= limit + 1.01 * table.half_unit).all():
        return f"it contradicts a row that was given, by {np.max(off):.1e}"
    if table.law is None:
        return "there is no law"
    real = table.law(table.fresh)
    off, size = np.abs(values(formula, table.fresh) - real), np.abs(real) + np.median(np.abs(real))
    if not (off <= max(SAME, table.precision) * size + 2 * table.half_unit).all():
        return f"it differs from the law on fresh rows, by {np.max(off / size):.1e} of it"
    return ""


def values(formula: sp.Expr, x: np.ndarray) -> np.ndarray:
    """What a formula of x0, x1, … gives, not a number where it gives none."""
    symbols = [sp.Symbol(f"x{k}", real=True) for k in range(x.shape[1])]
    with np.errstate(all="ignore"):
        made = sp.lambdify(symbols, formula, "numpy")(*x.T)
    return np.broadcast_to(np.asarray(made, dtype=float), len(x))


def summary(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """Counts by kind."""
    result = {}
    for kind in dict.fromkeys(row["kind"] for row in rows):
        part = [row for row in rows if row["kind"] == kind]
        said = {
            word: sum(r["verdict"] == word for r in part)
            for word in ("exact", "approximate", "none", "crash")
        }
        seconds = [row["seconds"] for row in part]
        result[kind] = {
            "tables": len(part),
            **said,
            "wrong": sum(bool(row["wrong"]) for row in part),
            "median_seconds": float(np.median(seconds)),
            "largest_seconds": max(seconds),
        }
    return result


def show(counts: dict[str, dict[str, Any]]) -> None:
    """Print the counts in 80 columns."""
    table = Printed(title="what was said of each table")
    table.add_column("kind")
    names = ("tables", "exact", "approximate", "none", "crash", "wrong")
    for name in (*names, "median s"):
        table.add_column("approx." if name == "approximate" else name, justify="right")
    for kind, count in counts.items():
        numbers = [str(count[name]) for name in names]
        table.add_row(kind, *numbers, f"{count['median_seconds']:.1f}")
    Console(width=80).print(table)


def last_word(counts: dict[str, dict[str, Any]]) -> str:
    """What it comes to."""
    total, wrong, crashes = (sum(c[key] for c in counts.values()) for key in ("tables", "wrong", "crash"))
    right = [counts[kind] for kind in RIGHT if kind in counts]
    found = sum(count["exact"] - count["wrong"] for count in right)
    expected = sum(count["tables"] for count in right)
    return (
        f"{wrong} wrongly called exact of {total} tables, {crashes} crashes; "
        f"{found} of {expected} that should be exact are"
    )


def run(jobs: list[Job], store: Path | None, processes: int) -> list[Row]:
    """Judge all tables that are not in the store; wrong ones and crashes are told as they come."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # for the processes that begin now
    rows = {(row["kind"], row["seed"], row["limit"]): row for row in (kept(store) if store else [])}
    todo = [job for job in jobs if job not in rows]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        made = pool.imap_unordered(judged, todo)
        for count, row in enumerate(keeping(made, store) if store else made, 1):
            rows[row["kind"], row["seed"], row["limit"]] = row
            if row["wrong"] or row["crash"]:
                print(json.dumps(row, default=str), file=sys.stderr, flush=True)
            if count % 50 == 0:
                print(f"{count} of {len(todo)} tables", file=sys.stderr, flush=True)
    return [rows[job] for job in sorted(jobs, key=lambda job: (list(KINDS).index(job[0]), job[1]))]


def main() -> None:
    """Judge the tables and print what was found, kind by kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=1200, help="how many, of all kinds together")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes, each with one thread")
    parser.add_argument("--max-seconds", type=float, default=5.0, help="that a fit may take")
    parser.add_argument("--store", type=Path, metavar="FILE", help="keep what is done, to go on from there")
    parser.add_argument("--json", metavar="FILE", help="write everything to FILE; - is standard output")
    given = parser.parse_args()
    seeds = range(given.first, given.first + -(-given.tables // len(given.kinds)))
    jobs = [(kind, seed, given.max_seconds) for seed in seeds for kind in given.kinds][: given.tables]
    rows = run(jobs, given.store, given.jobs)
    counts = summary(rows)
    result = {"command": " ".join(sys.argv), "kinds": counts, "summary": last_word(counts), "rows": rows}
    if given.json == "-":
        print(json.dumps(result, default=str))
        return
    show(counts)
    print(result["summary"])
    if given.json:
        Path(given.json).write_text(json.dumps(result, indent=1, default=str) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
