"""The contents of a page as plain data: sections, rows, headline, settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from nalm.evaluate.outcome import Outcome
from nalm.experiment.rebuild import spec_of
from nalm.experiment.stored_cases import StoredCase, Versions
from nalm.recipes.plain import in_words, with_defaults
from nalm.report.packing import rounded
from nalm.report.page_paths import Findings
from nalm.report.page_published import published_rows
from nalm.report.page_rows import PageRow, Section, budgets_of, ops_of, page_rows_of, ranges_of
from nalm.report.page_standings import Standing, standings
from nalm.report.page_summary import summary
from nalm.tasks import RANGES, RangeTask

MOST_PIECES = 8
"""How many ranges of consecutive seeds are listed, or operations."""


class Page:
    """The data of a page, from the cases of a store."""

    def __init__(self, cases: Sequence[StoredCase]) -> None:
        self.rows = page_rows_of(cases)
        self.sections: dict[Section, list[PageRow]] = {}
        for row in self.rows:
            self.sections.setdefault(row.section, []).append(row)
        self.published = published_rows(self.sections)
        self.recipes = _numbered(_recipe(row.case) for row in self.rows)
        self.runs = sum(len(row.case.runs) for row in self.rows)
        self.machines: Counter[Versions] = Counter()
        for row in self.rows:
            self.machines.update(row.case.machines)

    # -- for the page's scripts ------------------------------------------------------------------

    @property
    def has_formulas(self) -> bool:
        """Whether runs are judged by the formula that they have found."""
        return any(row.case.task.has_formulas for row in self.rows)

    def program_data(self, shown: Sequence[int], findings: Findings | None = None) -> dict[str, Any]:
        """The data for the scripts of the page.

        Args:
            shown: how many single runs of each row are on the page.
            findings: the formulas of these runs, where the task has some.
        """
        findings = findings or Findings()
        machines = _numbered(self.machines)
        sections = _numbered(self.sections)
        return {
            "rows": [
                {
                    **self._row(row),
                    **findings.of_row(row.index),
                    "section": sections[row.section],
                    "machines": sorted(machines[versions] for versions in row.case.machines),
                    "detailed": shown[row.index],
                }
                for row in self.rows
            ],
            "sections": [
                {
                    "index": k,
                    "id": _anchor(k),
                    "title": section.title,
                    "ops": ops_of(rows),
                    "ranges": ranges_of(rows),
                    "budgets": [str(budget) for budget in budgets_of(rows)],
                }
                for k, (section, rows) in enumerate(self.sections.items())
            ],
            "standings": [
                {"section": k, **each}
                for k, rows in enumerate(self.sections.values())
                for each in _standings(rows)
            ],
            "order": [*RANGES],
            "recipes": list(self.recipes),
            "machines": [_versions_text(versions) for versions in self.machines],
            "advice": {str(outcome): outcome.advice for outcome in Outcome},
            "published": self.published,
        }

    def _row(self, row: PageRow) -> dict[str, Any]:
        case, measured = row.case, row.case.row()
        for name in ("success", "solved_at", "sparsity"):
            measured[name] = {key: rounded(value) for key, value in measured[name].items()}
        for name in ("sparsity_with_gates", "train_range", "test_range"):
            del measured[name]
        return {
            **measured,
            "index": row.index,
            "label": row.label,
            "range": row.range,
            "task": case.task.name,
            "model": case.model,
            "variant": "; ".join(case.variant),
            "hidden": row.second_rank,
            "budget": str(row.budget),
            "recipe": _recipe_name(case),
            "train": str(case.task.train_range),
            "test": str(case.task.test_range),
            "threshold": rounded(measured["threshold"]),
            "seeds": seeds_text(run.seed for run in case.runs),
            "recipe_text": self.recipes[_recipe(case)],
            "computed": [case.times[0], case.times[1]] if case.times else [None, None],
            "when": when(case.times),
            **(_sought(case.task) if case.task.has_formulas else {}),
        }

    # -- for the text of the page ----------------------------------------------------------------

    def text_data(self) -> dict[str, Any]:
        """The data for the template."""
        cases = [row.case for row in self.rows]
        times = sorted(time for case in cases for time in case.times)
        untimed = sum(case.untimed for case in cases)
        return {
            "runs": self.runs,
            "models": list(dict.fromkeys(case.model for case in cases)),
            "when": when(times) + (", some before times were noted" if 0 < untimed < self.runs else ""),
            "sections": [
                {
                    "id": _anchor(k),
                    "title": section.title,
                    "about": _about(rows[0].case),
                    "parts": summary(rows, [rate for rate in self.published if rate["section"] == k]),
                }
                for k, (section, rows) in enumerate(self.sections.items())
            ],
            "machines": [{"runs": n, **dict(versions)} for versions, n in self.machines.items()],
            "recipes": self._recipes(),
            "seeds": seeds_text({run.seed for case in cases for run in case.runs}),
        }

    def _recipes(self) -> list[dict[str, Any]]:
        found: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            ops = found.setdefault((row.label, _recipe(row.case)), [])
            if row.op not in ops:
                ops.append(row.op)
        return [{"label": label, "ops": _some(ops), "text": text} for (label, text), ops in found.items()]


def _standings(rows: Sequence[PageRow]) -> Iterator[dict[str, Any]]:
    """The units of every operation and budget, best first; variants hidden at first come last."""
    groups: dict[tuple[str, str], tuple[list[PageRow], list[PageRow]]] = {}
    for row in rows:
        groups.setdefault((row.op, str(row.budget)), ([], []))[row.second_rank].append(row)
    for (op, budget), ranks in groups.items():
        units = [_standing(unit) for held in ranks for unit in standings(held)]
        yield {"op": op, "budget": budget, "units": units}


def _standing(unit: Standing) -> dict[str, Any]:
    found = unit.success
    rates = {"rate": found.value, "low": found.low, "high": found.high}
    return {
        "label": unit.label,
        "success": {name: rounded(value) for name, value in rates.items()},
        "runs": unit.runs,
        "partial": unit.partial,
        "leads": unit.leads,
    }


def _numbered(things: Iterable[Any]) -> dict[Any, int]:
    """Each distinct item with its index."""
    return {thing: k for k, thing in enumerate(dict.fromkeys(things))}


def _anchor(section: int) -> str:
    return f"task-{section + 1}"


def _recipe_name(case: StoredCase) -> str:
    spec = spec_of(case.model)
    return "unknown" if spec is None else spec.recipe_name(case.task.stack_recipe)


def _recipe(case: StoredCase) -> str:
    """The recipe in words, without empty fields."""
    return in_words(with_defaults(case.identity["recipe"]))


def _some(ops: Sequence[str]) -> str:
    """Operations in one text: all of them, or the first and their number."""
    if len(ops) <= MOST_PIECES:
        return ", ".join(ops)
    return f"{', '.join(ops[:MOST_PIECES])}, … ({len(ops)} operations)"


def _sought(task: RangeTask) -> dict[str, Any]:
    """The formula that runs of a task look for, and the names in it."""
    return {"target": str(task.labels().get("expression", task.op)), "names": task.input_names}


def _about(case: StoredCase) -> str:
    first = (type(case.task).__doc__ or "").strip().splitlines()[0]
    number = "1 input" if case.task.inputs == 1 else f"{case.task.inputs} inputs"
    return first.replace("`inputs` inputs", number).replace("`", "")


def _versions_text(versions: Iterable[tuple[str, Any]]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in versions)


def seeds_text(seeds: Iterable[int]) -> str:
    """Seeds in words: `0 to 24`, `1, 5`; if there are many ranges, the first ones and the number of seeds."""
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
    """The period from the first time to the last, in words."""
    if not times:
        return "before times were noted"
    first, last = (datetime.fromisoformat(time) for time in (times[0], times[-1]))
    if first.date() != last.date():
        return f"from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
    clock = sorted({f"{first:%H:%M}", f"{last:%H:%M}"})
    return f"on {first:%Y-%m-%d}, {' to '.join(clock)} UTC"
