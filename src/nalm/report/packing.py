"""Single runs, packed for a page: thousands of curves and weights over time in a few megabytes.

Numbers are 16 bits wide: errors in steps of 1/200 of a decade, weights in multiples of a scale per run. Only
differences along time are stored, all high bytes before all low bytes, which compresses well.
"""

from __future__ import annotations

import base64
import bisect
import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nalm.evaluate.outcome import Outcome
from nalm.experiment.rebuild import effective_weights, formula
from nalm.experiment.store import Record
from nalm.experiment.stored_cases import StoredCase, StoredRun
from nalm.report.page_paths import Findings, Verdict

ERRORS_PER_DECADE = 200
NOT_FINITE, LARGEST = -32768, 32767
FINEST = 1 / 2000
"""The scale of weights, unless the weights of a run need a coarser one."""
SHOWN_WEIGHTS = 24
BUDGET = 4_000_000
"""The most numbers on a page; if there are more, every case shows fewer seeds."""
FORMULA = 200
"""The formula of a run counts as this many numbers, because reading it takes longer than anything else."""
TOGETHER = 500
"""How many runs are read from the store at a time."""

Fetch = Callable[[Sequence[str]], Iterable[Record]]
"""Returns the runs of these names, in any order, with their weights over time."""


def packed(data: bytes) -> str:
    """Bytes compressed into text that no browser interprets as markup."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


@dataclass
class Packed:
    """The runs of a page.

    Attributes:
        text: the data that the page reads.
        shown: how many runs of each case are in it.
        findings: the formulas of the runs of tasks that have some.
    """

    text: str
    shown: list[int]
    findings: Findings


def pack_runs(
    cases: Sequence[StoredCase],
    fetch: Fetch,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Packed:
    """Pack as many seeds of every case as fit, the lowest seeds first.

    Args:
        cases: the cases in the order of the page.
        fetch: reads runs from the store.
        on_progress: called with the number of runs done and the number of all runs.
    """
    shown = _runs_that_fit(cases, fetch)
    runs, total = _Runs(), sum(shown)
    for some in _together(shown):
        wanted = [run.id for index in some for run in cases[index].runs[: shown[index]]]
        records = {record.id: record for record in fetch(wanted)}
        for index in some:
            chosen = cases[index].runs[: shown[index]]
            runs.add(index, cases[index], [(run, records[run.id]) for run in chosen])
        on_progress(len(runs.header["row"]), total)
    return Packed(packed(runs.joined()), shown, runs.findings)


def _together(shown: Sequence[int]) -> Iterable[list[int]]:
    """Indices of cases, a few at a time, so that few runs are in memory."""
    some: list[int] = []
    for index in range(len(shown)):
        some.append(index)
        if sum(shown[each] for each in some) >= TOGETHER:
            yield some
            some = []
    if some:
        yield some


def _runs_that_fit(cases: Sequence[StoredCase], fetch: Fetch) -> list[int]:
    """How many runs of each case are shown: equally many; with too many cases, one run of the first cases."""
    names = [case.runs[0].id for case in cases]
    known = {
        record.id: _size(record)
        for start in range(0, len(names), TOGETHER)
        for record in fetch(names[start : start + TOGETHER])
    }
    sizes = np.array([known[name] for name in names], dtype=int)
    runs = np.array([len(case.runs) for case in cases], dtype=int)
    seeds = _largest_that_fits(lambda most: int(sizes @ np.minimum(most, runs)), int(runs.max(initial=0)))
    if seeds:
        return np.minimum(seeds, runs).tolist()
    return (np.cumsum(sizes) - sizes < BUDGET).astype(int).tolist()


def _largest_that_fits(size: Callable[[int], int], most: int) -> int:
    """The largest number up to `most` whose size is within the budget, 0 if none is; sizes must be rising."""
    return bisect.bisect_right(range(1, most + 1), BUDGET, key=size)


def _size(record: Record) -> int:
    """Roughly how many numbers such a run needs."""
    weights = sum(value[0].size for value in record.history.values()) if record.history else 0
    return FORMULA + 2 * len(record.steps) + min(weights, SHOWN_WEIGHTS) * len(record.history_steps)


_PER_RUN = (
    *("row", "seed", "outcome", "chosen", "solved_at", "sparsity", "threshold", "formula"),
    *("steps", "points", "scale"),
)


@dataclass
class _Runs:
    """The runs packed so far: a header of plain data, and the numbers."""

    header: dict[str, Any] = field(
        default_factory=lambda: {
            "errors_per_decade": ERRORS_PER_DECADE,
            "outcomes": [str(outcome) for outcome in Outcome],
            "cases": [],
            **{name: [] for name in _PER_RUN},
        }
    )
    grids: dict[tuple[int, ...], int] = field(default_factory=dict)
    formulas: dict[str | None, int] = field(default_factory=dict)
    numbers: list[np.ndarray] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)
    verdicts: dict[int, Verdict] = field(default_factory=dict)

    def add(self, index: int, case: StoredCase, runs: Sequence[tuple[StoredRun, Record]]) -> None:
        """Add the runs of a case."""
        names, weights = _weights_over_time([record for _, record in runs])
        shown = _largest(weights)
        self.header["cases"].append({"names": [names[k] for k in shown], "weights": len(names)})
        for (run, record), values in zip(runs, weights):
            text = self._read(index, record, case.task.has_formulas)
            self._add_run(index, run, record, text, np.empty((0, 0)) if values is None else values[shown])

    def _read(self, index: int, record: Record, has_formulas: bool) -> str | None:
        if not has_formulas:
            return formula(record, only_readable=True)
        text, self.verdicts[len(self.header["row"])] = self.findings.add(index, record)
        return text

    def _add_run(
        self, index: int, run: StoredRun, record: Record, text: str | None, weights: np.ndarray
    ) -> None:
        scale = _scale(weights)
        facts = {
            "row": index,
            "seed": record.seed,
            "outcome": list(Outcome).index(run.assessment.outcome),
            "chosen": record.chosen,
            "solved_at": run.assessment.solved_at,
            "sparsity": rounded(record.sparsity),
            "threshold": rounded(run.threshold),
            "formula": self._formula(text),
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
        if self.verdicts:  # by run, because most pages have none
            header |= {"verdicts": self.verdicts, "paths": list(self.findings.paths)}
        head = json.dumps(header, allow_nan=False).encode()
        numbers = np.concatenate(self.numbers) if self.numbers else np.empty(0, np.int16)
        halves = numbers.astype(">i2").view(np.uint8).reshape(-1, 2)
        return len(head).to_bytes(4, "little") + head + halves.T.tobytes()


_Weights = list[np.ndarray | None]
"""The weights over time of each run, `weights x points`; None if they were not kept."""


def _largest(weights: _Weights) -> np.ndarray:
    """Which weights to show: if there are many, those that are largest in any of the runs."""
    known = [values for values in weights if values is not None]
    if not known or len(known[0]) <= SHOWN_WEIGHTS:
        return np.arange(len(known[0]) if known else 0)
    sizes = np.max([np.nan_to_num(np.abs(values)).max(axis=1) for values in known], axis=0)
    return np.sort(np.argsort(-sizes, kind="stable")[:SHOWN_WEIGHTS])


def _weights_over_time(records: Sequence[Record]) -> tuple[list[str], _Weights]:
    """Names of all single weights, and their values."""
    names: list[str] = []
    groups: dict[int, list[int]] = {}  # runs with equally many points are processed together, for speed
    for k, record in enumerate(records):
        if record.history:
            groups.setdefault(len(record.history_steps), []).append(k)
    values: _Weights = [None] * len(records)
    for points, members in groups.items():
        record, lead = records[members[0]], (len(members), points)
        held = {name: np.stack([records[k].history[name] for k in members]) for name in record.history}
        found = effective_weights(record, held, lead)
        names = [f"{name}{_place(k)}" for name, value in found.items() for k in np.ndindex(value.shape[2:])]
        flat = np.concatenate([value.reshape(*lead, -1) for value in found.values()], axis=2)
        for k, each in zip(members, flat.transpose(0, 2, 1).astype(np.float64)):
            values[k] = each
    return names, values


def _place(index: tuple[int, ...]) -> str:
    """The index of a weight, counted from 1 as in x1, x2, …."""
    return f"[{','.join(str(k + 1) for k in index)}]" if index else ""


def _scale(weights: np.ndarray) -> float:
    finite = np.abs(weights[np.isfinite(weights)])
    return float(max(FINEST, finite.max() / LARGEST)) if finite.size else FINEST


def _errors(curve: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(curve) * ERRORS_PER_DECADE
    return _differences(_whole(np.where(curve == 0, -LARGEST, logs)))


def _whole(values: np.ndarray) -> np.ndarray:
    """The nearest 16-bit numbers; one of them is reserved for values that are not finite."""
    held = np.clip(np.rint(np.where(np.isfinite(values), values, 0)), -LARGEST, LARGEST)
    return np.where(np.isfinite(values), held, NOT_FINITE).astype(np.int16)


def _differences(values: np.ndarray) -> np.ndarray:
    return np.diff(values, prepend=np.int16(0))


def rounded(value: float | None) -> float | None:
    """The value to six digits; None if it is not finite."""
    return float(f"{value:.6g}") if value is not None and np.isfinite(value) else None
