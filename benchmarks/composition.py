"""The composer: how often it finds expressions of several steps, how long it takes, and whether it pretends.

`recovered` counts formulas that are equal to the target, not only close, and that are called exact. Every
expression is drawn from the task `composition`, and searched in 256 rows of its training data on one thread.
Outside: targets that are not in the language, and tables whose columns cannot be told apart; there no formula
may be called exact unless it is the target.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import nalm
from nalm.discover.runs import ROWS
from nalm.errors import ArgumentError
from nalm.tasks import RANGE_SETS, Composition
from nalm.tasks.sampling import sample

Table = tuple[str, np.ndarray, np.ndarray, bool]
"""What it is, inputs, targets, and whether the target is known to be a formula that may be called exact."""


def recovered(tasks: list[Composition], seeds: int, steps: int) -> dict[str, Any]:
    """How many runs found the target, and the time they took."""
    counts, seconds, missed = 0, [], []
    for task in tasks:
        for seed in range(seeds):
            x, y = sample(task, seed, "train", ROWS)
            found = nalm.compose(x, y, steps=steps, names=task.input_names)
            right = found.found == "exact" and task.is_solution(found.expression)
            counts += right
            seconds.append(found.seconds)
            if not right:
                missed.append({"target": task.target, "range": task.range, "seed": seed, "found": str(found)})
    runs = len(tasks) * seeds
    return {
        "recovered": counts,
        "runs": runs,
        "share": counts / runs,
        "median_seconds": float(np.median(seconds)),
        "largest_seconds": max(seconds),
        "missed": missed,
    }


def outside(rng: np.random.Generator, count: int) -> Iterator[Table]:
    """Targets that are not in the language: functions, constants, and noise of 1e-6."""
    kinds: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
        "sin": lambda x, f, _: np.sin(x[:, 0]) * f,
        "exp": lambda x, f, _: np.exp(x[:, 1]) + f,
        "absolute": lambda x, f, _: np.abs(x[:, 2]) + f * 0,
        "absolute plus": lambda x, f, _: np.abs(x[:, 2]) + x[:, 0] * x[:, 1],
        "modulo": lambda x, f, _: np.mod(3 * x[:, 0], 1.0) + x[:, 1],
        "pi": lambda x, f, _: np.pi * f,
        "constant": lambda x, f, _: f + 0.37,
        "almost 2": lambda x, f, _: (2 + 1e-8) * f,
        "noise": lambda x, f, noise: f + 1e-6 * noise,
        "relative noise": lambda x, f, noise: f * (1 + 1e-6 * noise),
    }
    names = list(kinds)
    for k in range(count):
        name = names[k % len(names)]
        low, high = (-2.0, 2.0) if name.startswith("absolute") else (1.0, 2.0)
        x = rng.uniform(low, high, (int(rng.choice([20, 100, 300])), 4))
        f = Composition(f"2-step-{k}").graph(x)
        yield name, x, kinds[name](x, f, rng.standard_normal(len(x))), False


def degenerate(rng: np.random.Generator, count: int) -> Iterator[Table]:
    """Tables of which several formulas are right: collinear, constant, copied columns, ten rows or fewer."""
    kinds = (
        "collinear",
        "product",
        "copy",
        "constant",
        "one",
        "copy to float32",
        "whole numbers",
        "ten rows",
    )
    for k in range(count):
        name = kinds[k % len(kinds)]
        rows = int(rng.integers(4, 11)) if name in ("whole numbers", "ten rows") else 100
        x = rng.uniform(1, 2, (rows, 4))
        match name:
            case "collinear":
                x[:, 3] = 2 * x[:, 0] - 3 * x[:, 1] + 0.5
            case "product":
                x[:, 3] = x[:, 0] * x[:, 1]
            case "copy":
                x[:, 3] = x[:, 0]
            case "constant":
                x[:, 3] = 1.7
            case "one":
                x[:, 3] = 1.0
            case "copy to float32":
                x = x.astype(np.float32).astype(np.float64)
                x[:, 3] = x[:, 0]
            case "whole numbers":
                x = rng.integers(1, 6, (rows, 4)).astype(float)
        random = name in ("whole numbers", "ten rows") and k % 3 == 0
        # The target may use the column that cannot be told from others.
        graph = Composition(f"2-step-{500 + k}").graph
        y = rng.integers(1, 30, rows).astype(float) if random else graph(x)
        yield name, x, y, not random


def pretended(tables: Iterator[Table], truth: Callable[[int], Any]) -> dict[str, Any]:
    """How often a formula that is not the target is called exact."""
    verdicts: dict[str, dict[str, int]] = {}
    wrong = []
    for k, (name, x, y, known) in enumerate(tables):
        found = nalm.compose(x, y, steps=3, names=list("abcd"))
        held = verdicts.setdefault(name, {})
        held[str(found.found)] = held.get(str(found.found), 0) + 1
        if found.found == "exact" and not (known and truth(k).is_equal(found.expression, list("abcd"))):
            wrong.append({"table": k, "kind": name, "found": str(found)})
    return {"tables": sum(sum(v.values()) for v in verdicts.values()), "verdicts": verdicts, "wrong": wrong}


def measured(few: bool) -> dict[str, Any]:
    """All figures; with `few`, of a tenth of the expressions."""
    count, seeds = (20, 2) if few else (200, 20)
    result: dict[str, Any] = {}

    def add(name: str, part: Callable[[], dict[str, Any]]) -> None:
        began = time.perf_counter()
        result[name] = part()
        print(f"{name}: {_line(result[name])}, {time.perf_counter() - began:.0f} s", file=sys.stderr)

    add("16 expressions", lambda: recovered([Composition(op) for op in Composition.ops], seeds, 2))
    for steps in (3, 4):
        for name in ("1:2", *(r for r in RANGE_SETS["uniform"] if r != "1:2")):
            tasks = [
                Composition(f"{steps}-step-{k}", name) for k in range(count if name == "1:2" else count // 4)
            ]
            add(f"{steps} steps, {name}", lambda tasks=tasks, steps=steps: recovered(tasks, 1, steps))
    rng = np.random.default_rng(0)
    add("outside", lambda: pretended(outside(rng, count), lambda k: Composition(f"2-step-{k}").graph))
    add(
        "degenerate",
        lambda: pretended(
            degenerate(rng, 5 if few else 56), lambda k: Composition(f"2-step-{500 + k}").graph
        ),
    )
    return result


def _line(part: dict[str, Any]) -> str:
    if "wrong" in part:
        return f"{len(part['wrong'])} wrong of {part['tables']} called exact; {part['verdicts']}"
    return (
        f"{part['recovered']} of {part['runs']} recovered, median {part['median_seconds']:.2f} s, "
        f"at most {part['largest_seconds']:.1f} s"
    )


def main() -> None:
    """Print one line per figure, and everything as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--few", action="store_true", help="a tenth of the expressions")
    parser.add_argument("--json", metavar="FILE", help="write all figures; - is standard output")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    try:
        result = measured(asked.few)
    except ArgumentError as error:
        parser.error(str(error))
    text = json.dumps(result, indent=2)
    if asked.json == "-":
        print(text)
        return
    for name, part in result.items():
        print(f"{name}: {_line(part)}")
    if asked.json:
        Path(asked.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
