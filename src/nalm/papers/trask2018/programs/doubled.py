"""Are the errors in tables 2 and 10 of Trask et al. 2018 twice the mean errors?

A network that reads nothing can at best predict the mean of what it was trained on. Its errors on longer
series follow from the frequencies of the test labels alone: no training is needed to tell whether the rows of
networks that failed are such errors, or twice such errors. `python -m` this module prints the comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nalm.papers.published import numbers_of

TEST_LABELS = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)
"""How often each digit is in the test set of MNIST."""
TASKS, LENGTHS, TRAINED = ("counting", "addition"), (10, 100, 1000), 10
ROWS = ("LSTM", "GRU", "RNN-tanh")
"""The rows that are looked at: the other networks count or add, or have errors of their own making."""
NEAR = 0.03
"""Two errors fit if they are within this share of each other."""
METRICS = {"MAE": "trask2018:table2", "MSE": "trask2018:table10"}


@dataclass(frozen=True)
class Errors:
    """The mean absolute and the mean squared error of a prediction."""

    mae: float
    mse: float

    def of(self, metric: str) -> float:
        """The error that a table prints, by its name there."""
        return self.mae if metric == "MAE" else self.mse


def constant_errors(task: str, length: int, labels: Sequence[int] = TEST_LABELS) -> Errors:
    """Exact errors of always predicting the mean of series of length 10, on series of another length.

    Args:
        task: "addition" for the sum of the digits, "counting" for how many there are of each.
        length: length of the series; digits are drawn independently of each other.
        labels: how often each digit occurs.
    """
    shares = np.asarray(labels, dtype=float) / sum(labels)
    if task == "addition":
        digits = np.arange(len(shares))
        return _errors(_of_sum(shares, length), TRAINED * float(digits @ shares))
    each = [_errors(_of_sum(np.array([1 - p, p]), length), TRAINED * float(p)) for p in shares]
    return Errors(float(np.mean([e.mae for e in each])), float(np.mean([e.mse for e in each])))


def _of_sum(shares: np.ndarray, terms: int) -> np.ndarray:
    """The distribution of a sum of independent terms with values 0, 1, 2, …, by repeated squaring."""
    result, power = np.ones(1), shares
    while terms:
        if terms % 2:
            result = np.convolve(result, power)
        power, terms = np.convolve(power, power), terms // 2
    return result


def _errors(distribution: np.ndarray, prediction: float) -> Errors:
    off = np.arange(len(distribution)) - prediction
    return Errors(float(distribution @ np.abs(off)), float(distribution @ off**2))


def column(task: str, length: int) -> str:
    """The column of the tables."""
    return f"{task}, length {length}"


@dataclass(frozen=True)
class Fit:
    """A printed error beside that of the constant prediction."""

    row: str
    task: str
    length: int
    printed: float
    constant: float

    def fits(self, factor: float) -> bool:
        """Whether the printed error is near the constant's, times a factor."""
        return abs(self.printed / (factor * self.constant) - 1) <= NEAR


def fits(metric: str, labels: Sequence[int] = TEST_LABELS) -> list[Fit]:
    """The printed errors of a table, of networks that read nothing; counting ten digits is partly learnt."""
    printed = {(n.row, n.column): n.value for n in numbers_of(METRICS[metric]) if n.metric == metric}
    cells = [(task, length) for task in TASKS for length in LENGTHS if (task, length) != ("counting", 10)]
    return [
        Fit(row, task, length, printed[row, column(task, length)], constant)
        for task, length in cells
        for constant in [constant_errors(task, length, labels).of(metric)]
        for row in ROWS
    ]


def impossible(factor: float) -> list[tuple[str, str]]:
    """Rows and columns whose printed errors, divided by a factor, cannot be those of one set of predictions.

    The square of a mean absolute error is at most the mean squared error. Rounding is allowed for.
    """
    columns = [column(task, length) for task in TASKS for length in LENGTHS]
    least, most = (
        {(n.row, n.column): end(n) for n in numbers_of(METRICS[metric]) if n.column in columns}
        for metric, end in (("MAE", lambda n: n.low), ("MSE", lambda n: n.high))
    )
    return [cell for cell, mae in least.items() if (mae / factor) ** 2 > most[cell] / factor]


def report(labels: Sequence[int] = TEST_LABELS) -> Iterator[str]:
    """The comparison, line by line."""
    for metric in METRICS:
        found = fits(metric, labels)
        yield f"{metric}: printed; over that of the constant; over twice that"
        for fit in found:
            ratio = fit.printed / fit.constant
            place = f"{fit.row:9} {column(fit.task, fit.length):22}"
            yield f"  {place} {fit.printed:12,.6g} {ratio:8.3f} {ratio / 2:8.3f}"
        counts = (sum(fit.fits(factor) for fit in found) for factor in (1, 2))
        yield "  within {:.0%}: {} of {total} plain, {} of {total} doubled".format(
            NEAR, *counts, total=len(found)
        )
    for words, factor in (("as printed", 1), ("halved", 2)):
        cells = impossible(factor)
        yield f"MAE^2 > MSE, {words}: {len(cells)} cells" + "".join(f"\n  {r}: {c}" for r, c in cells)


if __name__ == "__main__":
    print("\n".join(report()))
