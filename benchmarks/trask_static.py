"""Trials of the static tasks of Trask et al. 2018, table 7: recipes, starts and data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.papers.agreement import Finding
from nalm.papers.reproduce import StoreRunner
from nalm.papers.trask2018.entries.static import SEEDS, TASKS
from nalm.papers.trask2018.programs.relative import untrained_errors
from nalm.tasks import ArithmeticDataset, Split
from nalm.tasks.sampling import sample
from trask_errors import Cells, Changing, Choice, Errors, compared, medians
from trial import Pair, Trial, row


def static_errors(run: StoreRunner, cells: Cells) -> dict[tuple[str, str], Errors]:
    """Errors at the chosen step, in per cent of those of untrained linear models."""
    records = run.records(Experiment("causes", tuple(dict.fromkeys(cells.values())), SEEDS))
    found = {}
    for cell, case in cells.items():
        base = untrained_errors(case.task, SEEDS)  # type: ignore[arg-type]
        short, long = (
            [100 * float(getattr(r, split)[r.chosen]) / base[split] for r in records[case]]
            for split in (Split.VALIDATION, Split.TEST)
        )
        found[cell] = short, long
    return found


def static(
    change: str, rows: Mapping[str, Sequence[str]], changing: Changing, choice: Choice = medians
) -> Trial:
    """A change to rows of table 7, each in some columns; in all if none is named."""
    cells = {
        (name, column): case
        for name, columns in rows.items()
        for column, case in row("trask2018:table7", name, columns or None).items()
    }
    measure = compared(cells, changing, static_errors, choice)
    return Trial("trask2018:table7", ", ".join(rows), change, measure)


def of_task(**changes: Any) -> Changing:
    """The same case with other inputs or sums."""

    def changing(case: Case) -> Case:
        assert isinstance(case.task, ArithmeticDataset)
        return replace(case, task=replace(case.task, **changes))

    return changing


def linear_limit(task: ArithmeticDataset, *, nac: bool = False) -> tuple[Finding, Finding]:
    """Errors of the linear map with the least squared error, in per cent of the mean squared target.

    No training can make a linear network better, so that the data alone decide its row. Two layers of the NAC
    with two values between them are any map without shift and with weights from -2 to 2.
    """
    errors: Errors = [], []
    for seed in range(SEEDS):
        x, y = _sums(task, seed, Split.TRAIN, nac)
        bound = 2.0 if nac else np.inf
        fitted = lsq_linear(x, y, (-bound, bound)).x
        for split, found in zip((Split.VALIDATION, Split.TEST), errors):
            x, y = _sums(task, seed, split, nac)
            found.append(100 * float(np.mean((x @ fitted - y) ** 2) / np.mean(y**2)))
    return medians(errors)


_ROWS = 2_000
"""Rows by which the best map is found, and tested."""


def _sums(task: ArithmeticDataset, seed: int, split: Split, nac: bool) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the inputs in a only, in both, in b only and in neither, and the targets.

    Inputs of one kind have the same weight in the best map. A network with a shift has a column of ones.
    """
    x, y = (part.numpy() for part in sample(task, seed, split, _ROWS))
    a, b = task.subsets(seed)
    kinds = np.stack([a * (1 - b), a * b, (1 - a) * b, (1 - a) * (1 - b)], 1)
    shift = [] if nac else [np.ones((_ROWS, 1))]
    return np.concatenate([x @ kinds, *shift], 1), y[:, 0]


def best_linear(change: str, **changes: Any) -> Trial:
    """The best linear maps on our data, and on others; trains nothing."""

    def measure(run: StoreRunner) -> dict[str, Pair]:
        pairs = {}
        for name, nac in (("None", False), ("NAC", True)):
            for column, task in TASKS.items():
                assert isinstance(task, ArithmeticDataset)
                sides = [linear_limit(each, nac=nac) for each in (task, replace(task, **changes))]
                for part, *pair in zip(("interpolation", "extrapolation"), *sides):
                    pairs[f"{name}, {column}: {part}"] = pair[0], pair[1]
        return pairs

    return Trial("trask2018:table7", "None, NAC", f"the best linear maps on other data: {change}", measure)
