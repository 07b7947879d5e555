"""What is read from runs on pairs of digits: accuracies, paths of weights, and as what each digit is read.

Labels are what the network reads of the two digits, rounded; nobody tells it what they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from nalm.experiment.store import Record
from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.shared.digits import (
    ACCURACY,
    DIGITS,
    Held,
    Reading,
    accuracy,
    chosen,
    digit_accuracies,
    has_weights_of_one,
    mean,
    read_as,
    weight_path,
)
from nalm.papers.shared.findings import exact, share

LABELS, OUTPUT = ("label 1", "label 2"), "output"
ONES = "weights of 1"
READ_AS, SHARE, ALL = "read as", "share", "all digits"
PARTS = (0.2, 0.4, 0.6, 0.8, 1.0)
FOLDS = ("lowest fold", "median fold", "highest fold")
Pick = Callable[[Held], int]
"""Chooses the seed whose network is looked at."""


def digit(number: int) -> str:
    """The column of a digit."""
    return f"digit {number}"


def at_part(label: str, part: float) -> str:
    """The column of a label's accuracy after a part of the training."""
    return f"{label}, {part:.0%} of the steps"


def right(record: Record, wrong: str) -> float:
    """The share of right results at the chosen step, in per cent."""
    return 100 * (1 - float(chosen(record, wrong)))


def pair_accuracies(wrong: str, base: str | None = None) -> Reading:
    """Accuracies of both labels and of the result; `base` names a row to compare with."""

    def read(held: Held) -> Measured:
        found: dict[Key, Finding] = {}
        labels = {row.row: _label_accuracies(runs) for row, runs in held}
        for row, runs in held:
            for k, label in enumerate(LABELS):
                of_label = [value for (_, which), value in labels[row.row].items() if which == k]
                found[row.row, label, ACCURACY] = mean(of_label)
            found[row.row, OUTPUT, ACCURACY] = mean([right(record, wrong) for record in runs])
        if base is not None and base in labels:
            for name in (other for other in labels if other != base):
                found[name, above_base(base), ACCURACY] = _difference(labels[name], labels[base])
        return Measured(Findings(found))

    return read


def above_base(base: str) -> str:
    """The column of how far the first label's accuracy is above that of another row."""
    return f"{LABELS[0]}, above {base}"


def _label_accuracies(runs: Sequence[Record]) -> dict[tuple[int, int], float]:
    """The accuracy of each label, by seed and label."""
    return {(r.seed, k): accuracy(m) for r in runs for k, m in enumerate(chosen(r, DIGITS))}


def _difference(ours: Mapping[tuple[int, int], float], theirs: Mapping[tuple[int, int], float]) -> Finding:
    """Of the first label, fold by fold."""
    return mean([ours[key] - theirs[key] for key in ours if key[1] == 0 and key in theirs])


def paths(held: Held) -> Measured:
    """The share of runs whose two weights end at 1, and the paths of all of them."""
    found = {(row.row, ONES, "success"): share([has_weights_of_one(r) for r in runs]) for row, runs in held}
    kept = {row.row: [path for r in runs if len(path := weight_path(r))] for row, runs in held}
    return Measured(Findings(found), data={row: each for row, each in kept.items() if each})


def first_seed(held: Held) -> int:
    """The first seed that all rows have."""
    return min(_common(held))


def hardest_seed(wrong: str) -> Pick:
    """The seed with the lowest accuracy, on average over the rows."""

    def pick(held: Held) -> int:
        shares: dict[int, list[float]] = {seed: [] for seed in sorted(_common(held))}
        for _, runs in held:
            for record in runs:
                if record.seed in shares:
                    shares[record.seed].append(right(record, wrong))
        return min(shares, key=lambda seed: float(np.mean(shares[seed])))

    return pick


def _common(held: Held) -> set[int]:
    return set.intersection(*({record.seed for record in runs} for _, runs in held))


def _matrices(held: Held, pick: Pick) -> dict[str, np.ndarray]:
    """How often the network of a seed reads each digit as which, by row; both digits of the pair together."""
    if not held or not _common(held):
        return {}
    seed = pick(held)
    return {
        row.row: chosen(record, DIGITS).sum(0) for row, runs in held for record in runs if record.seed == seed
    }


def by_digit(pick: Pick) -> Reading:
    """The accuracy of each digit, of one seed."""

    def read(held: Held) -> Measured:
        found = {
            (row, digit(d), ACCURACY): _known(value)
            for row, matrix in _matrices(held, pick).items()
            for d, value in enumerate(digit_accuracies(matrix))
        }
        return Measured(Findings(found))

    return read


def confusions(pick: Pick) -> Reading:
    """As what each digit is read most often, and what is read most often of all, of one seed."""

    def read(held: Held) -> Measured:
        matrices, found = _matrices(held, pick), {}
        for row, matrix in matrices.items():
            for d in range(len(matrix)):
                most, part = read_as(matrix, d)
                found[row, digit(d), READ_AS], found[row, digit(d), SHARE] = exact(most), _known(part)
            found[row, ALL, READ_AS] = exact(float(matrix.sum(0).argmax()))
        return Measured(Findings(found), data=matrices)

    return read


def _known(value: float) -> Finding:
    return exact(value) if math.isfinite(value) else Finding(None, None, None, 1)


def over_time(held: Held) -> Measured:
    """The accuracy of both labels after parts of the training, and at all logged steps."""
    found: dict[Key, Finding] = {}
    curves: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for row, runs in held:
        logs = min(len(record.steps) for record in runs)
        accuracies = np.array([_label_curves(record, logs) for record in runs])
        curves[row.row] = np.asarray(runs[0].steps)[:logs], accuracies
        last = float(runs[0].steps[logs - 1]) or 1.0
        for part in PARTS:
            at = int(np.searchsorted(np.asarray(runs[0].steps)[:logs], part * last - 1e-9))
            for k, label in enumerate(LABELS):
                found[row.row, at_part(label, part), ACCURACY] = mean(
                    list(accuracies[:, k, min(at, logs - 1)])
                )
    return Measured(Findings(found), data=curves)


def _label_curves(record: Record, logs: int) -> np.ndarray:
    """The accuracy of both labels at the first logged steps, `2 x logs`."""
    curve = np.asarray(record.errors[DIGITS])
    return np.array([[accuracy(curve[k, :, :, at]) for at in range(logs)] for k in range(2)])


def folds(wrong: str) -> Reading:
    """The lowest, the median and the highest accuracy of the folds, and all of them."""

    def read(held: Held) -> Measured:
        each = {row.row: sorted(right(record, wrong) for record in runs) for row, runs in held}
        found = {
            (row, column, ACCURACY): exact(value)
            for row, values in each.items()
            for column, value in zip(FOLDS, (values[0], float(np.median(values)), values[-1]))
        }
        return Measured(Findings(found), data=each)

    return read


def outputs(wrong: str, column: str = "") -> Reading:
    """The mean accuracy of the result; rows that name no column are in the given one."""

    def read(held: Held) -> Measured:
        shares = {(row.row, row.column or column): [right(r, wrong) for r in runs] for row, runs in held}
        found = {(*cell, ACCURACY): mean(values) for cell, values in shares.items()}
        return Measured(Findings(found), data={" ".join(cell): values for cell, values in shares.items()})

    return read
