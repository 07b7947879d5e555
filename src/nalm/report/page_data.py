"""What a page says, as plain data: sections, rows, headline, settings."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from nalm.evaluate.intervals import success_interval
from nalm.evaluate.outcome import Outcome
from nalm.experiment.bench import Judged
from nalm.experiment.restore import spec_of
from nalm.experiment.run import LOG_INTERVAL
from nalm.experiment.stored import StoredCell
from nalm.report.lines import Line, Section, lines_of, places
from nalm.report.packing import rounded
from nalm.tasks import OPERATIONS, RANGES


class Page:
    """The data of a page, from the cells of a store."""

    def __init__(self, cells: Sequence[StoredCell]) -> None:
        self.lines = lines_of(cells)
        self.sections: dict[Section, list[Line]] = {}
        for line in self.lines:
            self.sections.setdefault(line.section, []).append(line)
        self.recipes = list(dict.fromkeys(_recipe(line.cell) for line in self.lines))
        self.runs = [run for line in self.lines for run in line.cell.runs]
        self.machines = Counter(_versions(run) for run in self.runs)

    # -- for the page's program ------------------------------------------------------------------

    def program_data(self, shown: Sequence[int]) -> dict[str, Any]:
        """What the scripts of the page work with.

        Args:
            shown: how many single runs of each line the page has.
        """
        return {
            "rows": [self._row(line, shown[line.index]) for line in self.lines],
            "sections": [
                {
                    "index": k,
                    "id": _anchor(k),
                    "title": section.title,
                    "ops": _ops(lines),
                    "ranges": _ranges(lines),
                }
                for k, (section, lines) in enumerate(self.sections.items())
            ],
            # Their order gives colours and symbols: plain models have the first ones.
            "labels": list(
                dict.fromkeys(line.label for line in sorted(self.lines, key=lambda each: each.second_rank))
            ),
            "order": [*RANGES],
            "recipes": self.recipes,
            "machines": [_versions_text(versions) for versions in self.machines],
            "advice": {str(outcome): outcome.advice for outcome in Outcome},
        }

    def _row(self, line: Line, shown: int) -> dict[str, Any]:
        cell, measured = line.cell, line.cell.row()
        times = _times(cell.runs)
        machines = list(self.machines)
        for name in ("success", "solved_at", "sparsity"):
            measured[name] = {key: rounded(value) for key, value in measured[name].items()}
        for name in ("sparsity_with_gates", "train_range", "test_range"):
            del measured[name]
        return {
            **measured,
            "index": line.index,
            "section": list(self.sections).index(line.section),
            "label": line.label,
            "range": line.range,
            "task": cell.task.name,
            "model": cell.model,
            "variant": "; ".join(cell.variant),
            "hidden": line.second_rank,
            "recipe": _recipe_name(cell),
            "train": str(cell.task.train_range),
            "test": str(cell.task.test_range),
            "threshold": rounded(measured["threshold"]),
            "seeds": seeds_text(run.record.seed for run in cell.runs),
            "recipe_text": self.recipes.index(_recipe(cell)),
            "machines": sorted({machines.index(_versions(run)) for run in cell.runs}),
            "computed": [times[0], times[-1]] if times else [None, None],
            "when": when(times),
            "detailed": shown,
        }

    # -- for the text of the page ----------------------------------------------------------------

    def text_data(self) -> dict[str, Any]:
        """What the template shows."""
        times = _times(self.runs)
        unknown = ", some before times were noted" if 0 < len(times) < len(self.runs) else ""
        return {
            "runs": len(self.runs),
            "models": list(dict.fromkeys(line.cell.model for line in self.lines)),
            "when": when(times) + unknown,
            "sections": [
                {
                    "id": _anchor(k),
                    "title": section.title,
                    "ops": _ops(lines),
                    "about": _about(lines[0].cell),
                    "headline": _headline(lines),
                }
                for k, (section, lines) in enumerate(self.sections.items())
            ],
            "machines": [{"runs": n, **dict(versions)} for versions, n in self.machines.items()],
            "recipes": self._recipes(),
            "seeds": seeds_text({run.record.seed for run in self.runs}),
            "log_interval": LOG_INTERVAL,
        }

    def _recipes(self) -> list[dict[str, Any]]:
        found: dict[tuple[str, str], list[str]] = {}
        for line in self.lines:
            ops = found.setdefault((line.label, _recipe(line.cell)), [])
            if line.op not in ops:
                ops.append(line.op)
        return [{"label": label, "ops": ", ".join(ops), "text": text} for (label, text), ops in found.items()]


def _headline(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Unit by operation: the share of all runs that are solved."""
    ops, shown = _ops(lines), [line for line in lines if not line.second_rank]
    groups: dict[str, dict[str, list[Line]]] = {}
    for line in shown:
        groups.setdefault(line.label, {}).setdefault(line.op, []).append(line)
    ranges = {op: len(_ranges([line for line in shown if line.op == op])) for op in ops}
    pooled = {
        label: {op: _pooled(found, ranges[op]) for op, found in by_op.items()}
        for label, by_op in groups.items()
    }
    for op in ops:
        _mark_best([cells[op] for cells in pooled.values() if op in cells])
    return [{"label": label, "cells": [cells.get(op) for op in ops]} for label, cells in pooled.items()]


def _mark_best(cells: Sequence[dict[str, Any]]) -> None:
    """Mark the highest among those that were run on all ranges, if there is anything to compare."""
    whole = [cell for cell in cells if not cell["partial"]]
    top = max((cell["value"] for cell in whole), default=0)
    for cell in whole:
        cell["best"] = len(cells) > 1 and 0 < top == cell["value"]


def _anchor(section: int) -> str:
    return f"task-{section + 1}"


def _times(runs: Iterable[Judged]) -> list[str]:
    return sorted(filter(None, (run.record.computed_at for run in runs)))


def _recipe_name(cell: StoredCell) -> str:
    spec = spec_of(cell.model)
    return "unknown" if spec is None else spec.recipe or spec.usual_recipe


def _ops(lines: Iterable[Line]) -> list[str]:
    found = {line.op for line in lines}
    return sorted(found, key=lambda op: next(places((op, OPERATIONS))))


def _ranges(lines: Iterable[Line]) -> list[str]:
    """Ranges as the papers order them, others as they come."""
    return sorted({line.range for line in lines}, key=lambda name: next(places((name, RANGES))))


def _recipe(cell: StoredCell) -> str:
    """The recipe without what it leaves out."""
    return _without_nothing(cell.identity["recipe"])


@functools.lru_cache(maxsize=1024)
def _without_nothing(text: str) -> str:
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [word for word in node.keywords if ast.unparse(word.value) not in ("None", "()")]
    return ast.unparse(tree)


def _about(cell: StoredCell) -> str:
    first = (type(cell.task).__doc__ or "").strip().splitlines()[0]
    number = "1 input" if cell.task.inputs == 1 else f"{cell.task.inputs} inputs"
    return first.replace("`inputs` inputs", number).replace("`", "")


def _pooled(lines: Sequence[Line], ranges: int) -> dict[str, Any]:
    """Success of all runs of some lines."""
    outcomes = [run.verdict.outcome for line in lines for run in line.cell.runs]
    found = success_interval(sum(outcome is Outcome.SOLVED for outcome in outcomes), len(outcomes))
    run = len(_ranges(lines))
    return {
        "value": found.value,
        "rate": f"{found.value:.3f}",
        "interval": f"[{found.low:.3f}, {found.high:.3f}]",
        "partial": "" if run == ranges else f"{run} of {ranges} ranges",
        "best": False,
    }


def _versions(run: Judged) -> tuple[tuple[str, Any], ...]:
    record = run.record
    about = {"nalm": "before 0.5", **record.machine, "numerics_version": record.identity["numerics_version"]}
    names = ("nalm", "numerics_version", "torch", "cpu_capability", "compiled")
    return tuple((name, about.get(name, "unknown")) for name in names)


def _versions_text(versions: Iterable[tuple[str, Any]]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in versions)


def seeds_text(seeds: Iterable[int]) -> str:
    """Seeds in words: `0 to 24`."""
    ordered = sorted(seeds)
    if len(ordered) > 2 and ordered == list(range(ordered[0], ordered[-1] + 1)):
        return f"{ordered[0]} to {ordered[-1]}"
    return ", ".join(map(str, ordered))


def when(times: Sequence[str]) -> str:
    """The time from the first to the last, in words."""
    if not times:
        return "before times were noted"
    first, last = (datetime.fromisoformat(time) for time in (times[0], times[-1]))
    if first.date() != last.date():
        return f"from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
    clock = sorted({f"{first:%H:%M}", f"{last:%H:%M}"})
    return f"on {first:%Y-%m-%d}, {' to '.join(clock)} UTC"
