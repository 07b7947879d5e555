"""Whether `nalm.solve` calls wrong formulas exact: adversarial tables, and what was said of each.

    python benchmarks/honesty.py --tables 2000 --json honesty.json

Tables are made by kind, each with the law behind it: outside what the model can express, few rows, noise,
outliers, columns that copy or give others, constant columns, whole numbers, rounded numbers. The judge knows
the law and reads the formula with `nalm.explain`. An "exact" is wrong if the formula contradicts a row that
was given, if it differs from the law on fresh rows of the same kind, or if noise, a wrong row or too few rows
rule it out. The kind "clean" is the other side: tables of which an exact solution can be expected.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import nn

import nalm

Law = Callable[[np.ndarray], np.ndarray]
Rng = np.random.Generator


@dataclass
class Table:
    """A table, the law behind it, and whether an exact solution of it can be right at all."""

    model: nn.Module
    x: np.ndarray
    y: np.ndarray
    fresh: np.ndarray
    law: Law
    can_be_exact: bool = True
    rounded: float = 0.0
    about: dict[str, Any] = field(default_factory=dict)


MODELS: dict[str, Callable[[int], nn.Module]] = {
    "NAU": lambda n: nalm.NAU(n, 1),
    "NMU": lambda n: nalm.NMU(n, 1),
    "NRU": lambda n: nalm.NRU(n, 1),
    "NMRU": lambda n: nalm.NMRU(n, 1),
    "RealNPU": lambda n: nalm.RealNPU(n, 1),
    "Linear": lambda n: nalm.Linear(n, 1),
    "NALU": lambda n: nalm.NALU(n, 1),
    "GatedNAUNMU": lambda n: nalm.GatedNAUNMU(n, 1),
    "NAU+NMU": lambda n: nn.Sequential(nalm.NAU(n, 2), nalm.NMU(2, 1)),
    "NAU+NRU": lambda n: nn.Sequential(nalm.NAU(n, 2), nalm.NRU(2, 1)),
    "RealNPU+Linear": lambda n: nn.Sequential(nalm.RealNPU(n, 1), nalm.Linear(1, 1)),
}

INSIDE: dict[str, Law] = {
    "a+b": lambda x: x[:, 0] + x[:, 1],
    "a-b": lambda x: x[:, 0] - x[:, 1],
    "a*b": lambda x: x[:, 0] * x[:, 1],
    "a/b": lambda x: x[:, 0] / x[:, 1],
}
SUITED = {
    "a+b": ("NAU", "Linear", "NAU+NMU"),
    "a-b": ("NAU", "Linear"),
    "a*b": ("NMU", "NRU", "NMRU", "RealNPU", "NAU+NMU"),
    "a/b": ("NRU", "NMRU", "RealNPU", "NAU+NRU"),
}
BRANCH = "a + b if c > 1.9 else a - b"
OUTSIDE: dict[str, Law] = {
    "1000 sin a": lambda x: 1000 * np.sin(x[:, 0]),
    "exp a": lambda x: np.exp(x[:, 0]),
    "log |a| + b": lambda x: np.log(np.abs(x[:, 0]) + 0.1) + x[:, 1],
    "tanh (a b)": lambda x: np.tanh(x[:, 0] * x[:, 1]),
    "max (a, b)": lambda x: np.maximum(x[:, 0], x[:, 1]),
    "a b + 0.01 sin c": lambda x: x[:, 0] * x[:, 1] + 0.01 * np.sin(x[:, 2]),
    BRANCH: lambda x: np.where(x[:, 2] > 1.9, x[:, 0] + x[:, 1], x[:, 0] - x[:, 1]),
    "8.314 a b / c": lambda x: 8.314 * x[:, 0] * x[:, 1] / x[:, 2],
    "a b c**0.3": lambda x: x[:, 0] * x[:, 1] * np.abs(x[:, 2]) ** 0.3,
    "floor a": lambda x: np.floor(x[:, 0]),
}


def inputs(rng: Rng, rows: int, columns: int) -> np.ndarray:
    """Inputs of one of several ranges."""
    low, high = [(-2.0, 2.0), (1.0, 2.0), (0.1, 10.0), (-20.0, -10.0)][rng.integers(4)]
    return rng.uniform(low, high, (rows, columns))


def split_fresh(x: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to give, and fresh ones of the same kind."""
    return x[:rows], x[rows:]


def suited(rng: Rng, columns: int) -> tuple[nn.Module, Law, dict[str, Any]]:
    """A law, and a model that can express it."""
    law = list(INSIDE)[rng.integers(len(INSIDE))]
    name = SUITED[law][rng.integers(len(SUITED[law]))]
    return MODELS[name](columns), INSIDE[law], {"law": law, "model": name}


def any_model(rng: Rng, columns: int) -> tuple[nn.Module, str]:
    """Any model."""
    name = list(MODELS)[rng.integers(len(MODELS))]
    return MODELS[name](columns), name


def clean(rng: Rng) -> Table:
    """What can be expressed, with rows enough."""
    columns = int(rng.integers(2, 6))
    model, law, about = suited(rng, columns)
    x, fresh = split_fresh(inputs(rng, 1200, columns), 200)
    return Table(model, x, law(x), fresh, law, about=about)


def outside(rng: Rng) -> Table:
    """A law that no model here can express."""
    columns = int(rng.integers(3, 6))
    law = list(OUTSIDE)[rng.integers(len(OUTSIDE))]
    model, name = any_model(rng, columns)
    x, fresh = split_fresh(inputs(rng, 1200, columns), int(rng.choice([20, 50, 200])))
    if law == BRANCH:
        show_branch(x, fresh)
    return Table(model, x, OUTSIDE[law](x), fresh, OUTSIDE[law], about={"law": law, "model": name})


def show_branch(x: np.ndarray, fresh: np.ndarray) -> None:
    """Give one row of the rarer branch, if there is any: without one the rows follow `a - b`, exactly."""
    rare = np.flatnonzero(fresh[:, 2] > 1.9)
    if len(rare) and not (x[:, 2] > 1.9).any():
        x[0], fresh[rare[0]] = fresh[rare[0]].copy(), x[0].copy()


def few_rows(rng: Rng) -> Table:
    """Four to twenty rows of whole or real numbers, of a law or of none."""
    columns, rows = int(rng.integers(2, 5)), int(rng.integers(4, 21))
    model, law, about = suited(rng, columns)
    whole = rng.random() < 0.6
    x = (
        rng.integers(1, 10, (rows + 1000, columns)).astype(float)
        if whole
        else inputs(rng, rows + 1000, columns)
    )
    x, fresh = split_fresh(x, rows)
    y, random = law(x), rng.random() < 0.6
    if random:
        y = rng.integers(1, 10, rows).astype(float) if whole else rng.uniform(-2, 2, rows)
    weights = sum(p.numel() for p in model.parameters())
    possible = not random and len(np.unique(x, axis=0)) > weights
    about |= {"rows": rows, "random": random, "whole": whole}
    return Table(model, x, y, fresh, law, possible, about=about)


def noise(rng: Rng) -> Table:
    """Targets disturbed by 1e-7 to 1e-1 of themselves."""
    columns, size = int(rng.integers(2, 5)), 10.0 ** -int(rng.integers(1, 8))
    model, law, about = suited(rng, columns)
    x, fresh = split_fresh(inputs(rng, 1200, columns), int(rng.choice([20, 100, 400])))
    y = law(x) * (1 + size * rng.standard_normal(len(x)))
    return Table(model, x, y, fresh, law, can_be_exact=False, about=about | {"noise": size})


def outliers(rng: Rng) -> Table:
    """One to ten rows of a thousand that are wrong."""
    columns, count = int(rng.integers(2, 5)), int(rng.integers(1, 11))
    model, law, about = suited(rng, columns)
    x, fresh = split_fresh(inputs(rng, 2000, columns), int(rng.choice([200, 1000])))
    y = law(x)
    wrong = rng.choice(len(x), count, replace=False)
    y[wrong] += rng.choice([0.01, 1.0, 100.0], count) * (1 + rng.random(count)) * np.std(y)
    return Table(model, x, y, fresh, law, can_be_exact=False, about=about | {"outliers": count})


def dependent(rng: Rng) -> Table:
    """Columns that copy others, exactly or to some digits, or are sums or products of them, or constant."""
    columns = int(rng.integers(3, 6))
    model, law, about = suited(rng, columns)
    x = inputs(rng, 1200, columns)
    how = ["copy", "few digits", "sum", "product", "constant"][rng.integers(5)]
    made = {
        "copy": x[:, 0],
        "few digits": np.round(x[:, 0], int(rng.integers(1, 6))),
        "sum": x[:, 0] + x[:, 1],
        "product": x[:, 0] * x[:, 1],
        "constant": np.full(len(x), float(rng.integers(-2, 3))),
    }[how]
    x[:, -1] = made
    x, fresh = split_fresh(x, int(rng.choice([20, 200])))
    return Table(model, x, law(x), fresh, law, about=about | {"how": how})


def grids(rng: Rng) -> Table:
    """Whole numbers, few of them different, with a law, with one that is nearly it, or with none."""
    columns = int(rng.integers(2, 5))
    model, law, about = suited(rng, columns)
    most = int(rng.choice([3, 5, 10]))
    x = rng.integers(1, most + 1, (1200, columns)).astype(float)
    x, fresh = split_fresh(x, int(rng.choice([8, 20, 100])))
    twist = ["law", "one more", "random"][rng.integers(3)]
    if twist == "one more":  # right but for the largest numbers, of which there is one row
        x[0, :2] = most
        law = lambda v, f=law: f(v) + (v[:, 0] == most) * (v[:, 1] == most)  # noqa: E731
    y = law(x) if twist != "random" else rng.integers(1, most + 1, len(x)).astype(float)
    return Table(model, x, y, fresh, law, twist != "random", about=about | {"twist": twist, "most": most})


def rounded(rng: Rng) -> Table:
    """Targets rounded to some places, of a law or of one from outside."""
    columns, places = int(rng.integers(3, 6)), int(rng.integers(1, 6))
    model, law, about = suited(rng, columns)
    if rng.random() < 0.5:
        name = list(OUTSIDE)[rng.integers(len(OUTSIDE))]
        law, about["law"] = OUTSIDE[name], name
    x, fresh = split_fresh(inputs(rng, 1200, columns), int(rng.choice([20, 200])))
    half = 0.5 * 10.0**-places
    return Table(
        model, x, np.round(law(x), places), fresh, law, rounded=half, about=about | {"places": places}
    )


KINDS: dict[str, Callable[[Rng], Table]] = {
    "clean": clean,
    "outside": outside,
    "few rows": few_rows,
    "noise": noise,
    "outliers": outliers,
    "dependent": dependent,
    "grids": grids,
    "rounded": rounded,
}


def judge(job: tuple[str, int]) -> dict[str, Any]:
    """Solve one table, and say whether what was called exact is wrong."""
    torch.set_num_threads(1)
    kind, seed = job
    table = KINDS[kind](np.random.default_rng([seed, list(KINDS).index(kind)]))
    began = time.perf_counter()
    solution = nalm.solve(table.model, table.x, table.y, seed=seed)
    seconds = time.perf_counter() - began
    wrong = fault(table) if solution.found == "exact" else ""
    return {
        "kind": kind,
        "seed": seed,
        "found": str(solution.found),
        "unique": solution.unique,
        "wrong": wrong,
        "formula": str(nalm.explain(table.model)) if wrong else "",
        "seconds": seconds,
        **table.about,
    }


def fault(table: Table) -> str:
    """Why a formula that was called exact is wrong; empty if it is not."""
    explanation = nalm.explain(table.model)
    if not explanation.readable:
        return "it cannot be read"
    if off(explanation, table.x, table.y) > max(1e-6, 1.01 * table.rounded):
        return "it contradicts a row that was given"
    if not table.can_be_exact:
        return "there is noise, a wrong row, or too few rows"
    if off(explanation, table.fresh, table.law(table.fresh)) > max(1e-6, 1.01 * table.rounded):
        return "it differs from the law on fresh rows"
    return ""


def off(explanation: Any, x: np.ndarray, y: np.ndarray) -> float:
    """The largest distance between a formula and targets, as a part of these where they are above 1."""
    (expression,) = explanation.expressions
    symbols = [sp.Symbol(f"x{k + 1}", real=True) for k in range(x.shape[1])]
    with np.errstate(all="ignore"):
        values = np.broadcast_to(sp.lambdify(symbols, expression, "numpy")(*x.T), len(x))
    return float(np.max(np.abs(values - y) / np.maximum(1, np.abs(y))))


def main() -> None:
    """Judge the tables and write what was found, kind by kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=2000, help="how many, of all kinds together")
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--json", metavar="FILE", help="write everything to FILE; - is standard output")
    given = parser.parse_args()
    jobs = [
        (kind, given.first + k) for k in range(-(-given.tables // len(given.kinds))) for kind in given.kinds
    ]
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        rows = []
        for row in pool.imap_unordered(judge, jobs[: given.tables], chunksize=4):
            rows.append(row)
            if row["wrong"]:
                print(json.dumps(row), file=sys.stderr)
            if len(rows) % 200 == 0:
                print(f"{len(rows)} of {given.tables} tables", file=sys.stderr)
    summary = {}
    for kind in given.kinds:
        of_kind = [row for row in rows if row["kind"] == kind]
        summary[kind] = {
            "tables": len(of_kind),
            "found": dict(Counter(row["found"] for row in of_kind)),
            "wrong": sum(bool(row["wrong"]) for row in of_kind),
            "seconds": round(sum(row["seconds"] for row in of_kind), 1),
        }
        print(f"{kind:10} {summary[kind]}", file=sys.stderr)
    result = {
        "tables": len(rows),
        "wrong": sum(bool(r["wrong"]) for r in rows),
        "kinds": summary,
        "rows": rows,
    }
    if given.json == "-":
        print(json.dumps(result))
    elif given.json:
        Path(given.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{result['wrong']} wrong of {len(rows)} tables", file=sys.stderr)


if __name__ == "__main__":
    main()
