"""Single runs, packed for a page: thousands of curves and weights over time in a few megabytes.

Numbers are 16 bits wide: errors in steps of 1/200 of a decade, weights in steps of a scale of the run. Along
time only differences are kept, all high bytes before all low ones, which compress well.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nalm.evaluate.outcome import Outcome
from nalm.experiment.bench import Judged
from nalm.experiment.restore import effective_weights, formula
from nalm.experiment.stored import StoredCell

ERRORS_PER_DECADE = 200
NOT_FINITE, LARGEST = -32768, 32767
FINEST = 1 / 2000
"""The scale of weights, unless a run has such that need a coarser one."""
SHOWN_WEIGHTS = 24
BUDGET = 4_000_000
"""Numbers on a page; beyond that every cell shows fewer seeds."""


def packed(data: bytes) -> str:
    """Bytes as text that no browser takes for markup, compressed."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


@dataclass
class Packed:
    """The runs of a page.

    Attributes:
        text: what the page reads.
        shown: how many runs of each cell are in it.
    """

    text: str
    shown: list[int]


def pack_runs(
    cells: Sequence[StoredCell], tell: Callable[[int, int], None] = lambda done, total: None
) -> Packed:
    """Pack as many seeds of every cell as fit, those with the lowest numbers first.

    Args:
        cells: in the order in which the page knows them.
        tell: is told how many of how many runs are done.
    """
    seeds = _seeds_that_fit(cells)
    shown = [min(seeds, len(cell.runs)) for cell in cells]
    runs, total = _Runs(), sum(shown)
    for index, cell in enumerate(cells):
        runs.add(index, cell.runs[: shown[index]])
        tell(len(runs.header["row"]), total)
    return Packed(packed(runs.joined()), shown)


def _seeds_that_fit(cells: Sequence[StoredCell]) -> int:
    """How many runs of every cell may be shown."""
    sizes = [(_size(cell), len(cell.runs)) for cell in cells]
    most = max((runs for _, runs in sizes), default=0)
    for seeds in range(most, 1, -1):
        if sum(size * min(seeds, runs) for size, runs in sizes) <= BUDGET:
            return seeds
    return min(most, 1)


def _size(cell: StoredCell) -> int:
    """About how many numbers a run of a cell needs."""
    record = cell.runs[0].record
    weights = sum(value[0].size for value in record.history.values()) if record.history else 0
    return 2 * len(record.steps) + min(weights, SHOWN_WEIGHTS) * len(record.history_steps)


_PER_RUN = (
    *("row", "seed", "outcome", "chosen", "solved_at", "sparsity", "threshold", "formula"),
    *("steps", "points", "scale"),
)


@dataclass
class _Runs:
    """What has been packed so far: a header of plain data, and the numbers."""

    header: dict[str, Any] = field(
        default_factory=lambda: {
            "errors_per_decade": ERRORS_PER_DECADE,
            "outcomes": [str(outcome) for outcome in Outcome],
            "cells": [],
            **{name: [] for name in _PER_RUN},
        }
    )
    grids: dict[tuple[int, ...], int] = field(default_factory=dict)
    formulas: dict[str | None, int] = field(default_factory=dict)
    numbers: list[np.ndarray] = field(default_factory=list)

    def add(self, index: int, runs: Sequence[Judged]) -> None:
        """Take the runs of a cell."""
        names, weights = _weights_over_time(runs)
        shown = _largest(weights)
        self.header["cells"].append({"names": [names[k] for k in shown], "weights": len(names)})
        for run, values in zip(runs, weights):
            self._add_run(index, run, np.empty((0, 0)) if values is None else values[shown])

    def _add_run(self, index: int, run: Judged, weights: np.ndarray) -> None:
        record = run.record
        scale = _scale(weights)
        facts = {
            "row": index,
            "seed": record.seed,
            "outcome": list(Outcome).index(run.verdict.outcome),
            "chosen": record.chosen,
            "solved_at": run.verdict.solved_at,
            "sparsity": rounded(record.sparsity),
            "threshold": rounded(run.below.test),
            "formula": self._formula(formula(record, only_readable=True)),
            "steps": self._grid(record.steps),
            "points": self._grid(record.history_steps if len(weights) else ()),
            "scale": scale,
        }
        for name in _PER_RUN:
            self.header[name].append(facts[name])
        self.numbers += [_errors(record.validation), _errors(record.test)]
        self.numbers += [_differences(_whole(series / scale)) for series in weights]

    def _grid(self, steps: Iterable[int]) -> int:
        return self.grids.setdefault(tuple(int(step) for step in steps), len(self.grids))

    def _formula(self, text: str | None) -> int:
        return self.formulas.setdefault(text, len(self.formulas))

    def joined(self) -> bytes:
        """The length of the header, the header, all high bytes, all low bytes."""
        header = {**self.header, "grids": list(self.grids), "formulas": list(self.formulas)}
        head = json.dumps(header, allow_nan=False).encode()
        numbers = np.concatenate(self.numbers) if self.numbers else np.empty(0, np.int16)
        halves = numbers.astype(">i2").view(np.uint8).reshape(-1, 2)
        return len(head).to_bytes(4, "little") + head + halves.T.tobytes()


_Weights = list[np.ndarray | None]
"""Of each run the weights over time, `weights x points`; None if they were not kept."""


def _largest(weights: _Weights) -> np.ndarray:
    """Which weights to show: of many those that are the largest in any of the runs say the most."""
    known = [values for values in weights if values is not None]
    if not known or len(known[0]) <= SHOWN_WEIGHTS:
        return np.arange(len(known[0]) if known else 0)
    sizes = np.max([np.nan_to_num(np.abs(values)).max(axis=1) for values in known], axis=0)
    return np.sort(np.argsort(-sizes, kind="stable")[:SHOWN_WEIGHTS])


def _weights_over_time(runs: Sequence[Judged]) -> tuple[list[str], _Weights]:
    """Names of all single weights, and their values."""
    names: list[str] = []
    groups: dict[int, list[int]] = {}  # those with as many points are told together, which is quick
    for k, run in enumerate(runs):
        if run.record.history:
            groups.setdefault(len(run.record.history_steps), []).append(k)
    values: _Weights = [None] * len(runs)
    for points, members in groups.items():
        record, lead = runs[members[0]].record, (len(members), points)
        held = {name: np.stack([runs[k].record.history[name] for k in members]) for name in record.history}
        found = effective_weights(record, held, lead)
        names = [f"{name}{_place(k)}" for name, value in found.items() for k in np.ndindex(value.shape[2:])]
        flat = np.concatenate([value.reshape(*lead, -1) for value in found.values()], axis=2)
        for k, each in zip(members, flat.transpose(0, 2, 1).astype(np.float64)):
            values[k] = each
    return names, values


def _place(index: tuple[int, ...]) -> str:
    """The place of a weight, counted from 1 as in x1, x2, …."""
    return f"[{','.join(str(k + 1) for k in index)}]" if index else ""


def _scale(weights: np.ndarray) -> float:
    finite = np.abs(weights[np.isfinite(weights)])
    return float(max(FINEST, finite.max() / LARGEST)) if finite.size else FINEST


def _errors(curve: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(curve) * ERRORS_PER_DECADE
    return _differences(_whole(np.where(curve == 0, -LARGEST, logs)))


def _whole(values: np.ndarray) -> np.ndarray:
    """The nearest numbers of 16 bits; what is not finite has one of its own."""
    held = np.clip(np.rint(np.where(np.isfinite(values), values, 0)), -LARGEST, LARGEST)
    return np.where(np.isfinite(values), held, NOT_FINITE).astype(np.int16)


def _differences(values: np.ndarray) -> np.ndarray:
    return np.diff(values, prepend=np.int16(0))


def rounded(value: float | None) -> float | None:
    """Six digits; None for what is not finite."""
    return float(f"{value:.6g}") if value is not None and np.isfinite(value) else None
