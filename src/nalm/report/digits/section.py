"""The whole section about digits: for each group its table, its figures and its pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from nalm.experiment.store import Record
from nalm.report.axes import Figure
from nalm.report.digits.cases import DigitCase, DigitGroup, DigitRuns
from nalm.report.digits.confusion import matrix_of
from nalm.report.digits.images import why_none
from nalm.report.digits.lengths import length_figure
from nalm.report.digits.pictures import pictures_of
from nalm.report.digits.rows import columns_of, is_judged
from nalm.report.digits.weights import RunWeights, path_figure, run_weights
from nalm.report.digits.words import RESULTS, about, below_images, meaning, protocol
from nalm.report.lines import key_of

MOST_PICTURED = 3
"""How many models of a group have pictures: those with the lowest errors."""

Read = Callable[[Sequence[str], Sequence[str]], Iterable[Record]]
"""Reads runs by their names, with these bulky columns besides their curves."""


def digits_section(runs: DigitRuns, read: Read) -> list[dict[str, Any]]:
    """The groups of the section, for the template; empty without runs.

    Args:
        runs: the runs of tasks on digits.
        read: reads more of them.
    """
    return [_part(k, group, read) for k, group in enumerate(runs.groups(), start=1)]


def _part(k: int, group: DigitGroup, read: Read) -> dict[str, Any]:
    weights, judged = [_weights(case, read) for case in group.cases], is_judged(group)
    columns = columns_of(group, weights)
    named = list(zip(group.cases, group.labels))
    paths = (path_figure(group.task, label, own) for (_, label), own in zip(named, weights))
    return {
        "id": f"digits-{k}",
        "title": group.title,
        "about": about(group.task),
        "meaning": meaning(group),
        "protocol": protocol(group),
        "judged": judged,
        "headings": [column.heading for column in columns],
        "rows": [
            {
                "name": broken(label),
                "reference": judged and case is group.reference,
                "runs": f"{len(case.runs):,}",
                "steps": f"{case.iterations:,}",
                "cells": [column.cells[j] for column in columns],
            }
            for j, (case, label) in enumerate(named)
        ],
        "lengths": _with_key(group, length_figure(group)),
        "matrices": [found for case, label in named if (found := matrix_of(case, label)) is not None],
        "paths": [figure for figure in paths if figure is not None],
        **_pictures(group, read),
    }


def broken(label: str) -> list[str]:
    """A name in pieces between which a line may end."""
    return re.split(r"(?<=[(;=+|])", label)


def _weights(case: DigitCase, read: Read) -> list[RunWeights]:
    """The weights of the runs of a case; they are read one by one, because they are large."""
    found = read([run.id for run in case.runs], ("identity", "history"))
    return sorted(map(run_weights, found), key=lambda run: run.seed)


def _with_key(group: DigitGroup, figure: Figure | None) -> dict[str, Any] | None:
    """A figure with a line per model, and which line is whose."""
    if figure is None:
        return None
    return {"figure": figure, "key": key_of(group.labels)}


def _pictures(group: DigitGroup, read: Read) -> dict[str, Any]:
    """The pictures of some models, each of its run with the lowest seed; or why there are none."""
    checksum = group.cases[0].runs[0].identity["task"]["digits"]
    if missing := why_none(group.task, checksum):
        return {"pictures": [], "no_pictures": missing}
    errors = [float(np.median([run.test.item(0) for run in case.runs])) for case in group.cases]
    order = sorted(range(len(errors)), key=lambda k: (not np.isfinite(errors[k]), errors[k]))
    found = []
    for k in sorted(order[:MOST_PICTURED]):
        case, run = group.cases[k].case(), group.cases[k].runs[0]
        whole = next(iter(read([run.id], ("identity", "chosen_parameters"))))
        made = None if case is None else pictures_of(case, whole)
        if made is not None:
            found.append({"label": group.labels[k], "seed": run.seed, "pictures": made})
    said = {"result": RESULTS.get(group.task.op, "result"), "below_images": below_images(group.task)}
    return {"pictures": found, "no_pictures": "", **said}
