"""The part of a page about runs without a threshold: median errors, one table per task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nalm.experiment.other_cases import OtherCase


def other_tables(cases: Mapping[str, Sequence[OtherCase]]) -> list[dict[str, Any]]:
    """One table per task: its labels, the model, steps, runs, and the errors at the chosen step."""
    return [_table(task, found) for task, found in cases.items()]


def _table(task: str, cases: Sequence[OtherCase]) -> dict[str, Any]:
    labels = list(dict.fromkeys(name for case in cases for name in case.labels))
    errors = list(dict.fromkeys(name for case in cases for name in case.errors))
    return {
        "task": task,
        "labels": labels,
        "errors": [name.replace("_", " ") for name in errors],
        "rows": [
            {
                "labels": [str(case.labels.get(name, "–")) for name in labels],
                "model": case.model,
                "steps": f"{case.iterations:,}",
                "runs": f"{len(case.seeds):,}",
                "errors": [_quartiles(case.errors.get(name, [])) for name in errors],
            }
            for case in cases
        ],
    }


def _quartiles(errors: Sequence[float]) -> dict[str, str]:
    """The median and the quartiles as texts; an error that is not finite counts as the largest."""
    if not errors:
        return {"median": "–", "interval": ""}
    held = np.where(np.isfinite(errors), errors, np.inf)
    low, middle, high = (f"{value:.3g}" for value in np.quantile(held, (0.25, 0.5, 0.75), method="nearest"))
    return {"median": middle, "interval": f"[{low}, {high}]" if len(errors) > 1 else ""}
