"""What a page says, as plain data: sections, rows, headline, settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from nalm.evaluate.outcome import Outcome
from nalm.experiment.restore import spec_of
from nalm.experiment.run import LOG_INTERVAL
from nalm.experiment.stored import StoredCell, Versions
from nalm.recipes.plain import in_words, with_defaults
from nalm.report.lines import Line, Section, budgets_of, lines_of, ops_of, ranges_of
from nalm.report.packing import rounded
from nalm.report.page_published import published_rows
from nalm.report.page_summary import headline
from nalm.tasks import RANGES

MOST_PIECES = 8
"""Of seeds with gaps, how many stretches are told one by one."""


class Page:
    """The data of a page, from the cells of a store."""

    def __init__(self, cells: Sequence[StoredCell]) -> None:
        self.lines = lines_of(cells)
        self.sections: dict[Section, list[Line]] = {}
        for line in self.lines:
            self.sections.setdefault(line.section, []).append(line)
        self.recipes = _numbered(_recipe(line.cell) for line in self.lines)
        self.runs = sum(len(line.cell.runs) for line in self.lines)
        self.machines: Counter[Versions] = Counter()
        for line in self.lines:
            self.machines.update(line.cell.machines)

    # -- for the page's program ------------------------------------------------------------------

    def program_data(self, shown: Sequence[int]) -> dict[str, Any]:
        """What the scripts of the page work with.

        Args:
            shown: how many single runs of each line the page has.
        """
        machines = _numbered(self.machines)
        sections = _numbered(self.sections)
        return {
            "rows": [
                {
                    **self._row(line),
                    "section": sections[line.section],
                    "machines": sorted(machines[versions] for versions in line.cell.machines),
                    "detailed": shown[line.index],
                }
                for line in self.lines
            ],
            "sections": [
                {
                    "index": k,
                    "id": _anchor(k),
                    "title": section.title,
                    "ops": ops_of(lines),
                    "ranges": ranges_of(lines),
                    "budgets": [str(budget) for budget in budgets_of(lines)],
                }
                for k, (section, lines) in enumerate(self.sections.items())
            ],
            # Their order gives colours and symbols: plain models have the first ones.
            "labels": list(
                dict.fromkeys(line.label for line in sorted(self.lines, key=lambda each: each.second_rank))
            ),
            "order": [*RANGES],
            "recipes": list(self.recipes),
            "machines": [_versions_text(versions) for versions in self.machines],
            "advice": {str(outcome): outcome.advice for outcome in Outcome},
            "published": published_rows(self.sections),
        }

    def _row(self, line: Line) -> dict[str, Any]:
        cell, measured = line.cell, line.cell.row()
        for name in ("success", "solved_at", "sparsity"):
            measured[name] = {key: rounded(value) for key, value in measured[name].items()}
        for name in ("sparsity_with_gates", "train_range", "test_range"):
            del measured[name]
        return {
            **measured,
            "index": line.index,
            "label": line.label,
            "range": line.range,
            "task": cell.task.name,
            "model": cell.model,
            "variant": "; ".join(cell.variant),
            "hidden": line.second_rank,
            "budget": str(line.budget),
            "recipe": _recipe_name(cell),
            "train": str(cell.task.train_range),
            "test": str(cell.task.test_range),
            "threshold": rounded(measured["threshold"]),
            "seeds": seeds_text(run.seed for run in cell.runs),
            "recipe_text": self.recipes[_recipe(cell)],
            "computed": [cell.times[0], cell.times[1]] if cell.times else [None, None],
            "when": when(cell.times),
        }

    # -- for the text of the page ----------------------------------------------------------------

    def text_data(self) -> dict[str, Any]:
        """What the template shows."""
        cells = [line.cell for line in self.lines]
        times = sorted(time for cell in cells for time in cell.times)
        untimed = sum(cell.untimed for cell in cells)
        return {
            "runs": self.runs,
            "models": list(dict.fromkeys(cell.model for cell in cells)),
            "when": when(times) + (", some before times were noted" if 0 < untimed < self.runs else ""),
            "sections": [
                {
                    "id": _anchor(k),
                    "title": section.title,
                    "about": _about(lines[0].cell),
                    "parts": headline(lines),
                }
                for k, (section, lines) in enumerate(self.sections.items())
            ],
            "machines": [{"runs": n, **dict(versions)} for versions, n in self.machines.items()],
            "recipes": self._recipes(),
            "seeds": seeds_text({run.seed for cell in cells for run in cell.runs}),
            "log_interval": LOG_INTERVAL,
        }

    def _recipes(self) -> list[dict[str, Any]]:
        found: dict[tuple[str, str], list[str]] = {}
        for line in self.lines:
            ops = found.setdefault((line.label, _recipe(line.cell)), [])
            if line.op not in ops:
                ops.append(line.op)
        return [{"label": label, "ops": ", ".join(ops), "text": text} for (label, text), ops in found.items()]


def _numbered(things: Iterable[Any]) -> dict[Any, int]:
    """Each thing once, with its place."""
    return {thing: k for k, thing in enumerate(dict.fromkeys(things))}


def _anchor(section: int) -> str:
    return f"task-{section + 1}"


def _recipe_name(cell: StoredCell) -> str:
    spec = spec_of(cell.model)
    return "unknown" if spec is None else spec.recipe_name(cell.task.stack_recipe)


def _recipe(cell: StoredCell) -> str:
    """The recipe without what it leaves out."""
    return in_words(with_defaults(cell.identity["recipe"]))


def _about(cell: StoredCell) -> str:
    first = (type(cell.task).__doc__ or "").strip().splitlines()[0]
    number = "1 input" if cell.task.inputs == 1 else f"{cell.task.inputs} inputs"
    return first.replace("`inputs` inputs", number).replace("`", "")


def _versions_text(versions: Iterable[tuple[str, Any]]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in versions)


def seeds_text(seeds: Iterable[int]) -> str:
    """Seeds in words: `0 to 24`, `1, 5`; of many pieces the first ones and how many seeds there are."""
    ordered = sorted(seeds)
    pieces: list[list[int]] = []
    for seed in ordered:
        if pieces and seed == pieces[-1][-1] + 1:
            pieces[-1] = [pieces[-1][0], seed]
        else:
            pieces.append([seed])
    joints = (" to " if piece[-1] > piece[0] + 1 else ", " for piece in pieces)
    texts = [joint.join(map(str, piece)) for joint, piece in zip(joints, pieces)]
    if len(texts) <= MOST_PIECES:
        return ", ".join(texts)
    return f"{', '.join(texts[:MOST_PIECES])}, … ({len(ordered):,} seeds)"


def when(times: Sequence[str]) -> str:
    """The time from the first to the last, in words."""
    if not times:
        return "before times were noted"
    first, last = (datetime.fromisoformat(time) for time in (times[0], times[-1]))
    if first.date() != last.date():
        return f"from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
    clock = sorted({f"{first:%H:%M}", f"{last:%H:%M}"})
    return f"on {first:%Y-%m-%d}, {' to '.join(clock)} UTC"
