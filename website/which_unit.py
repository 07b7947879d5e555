"""Which unit for which operation: the units that succeed most often, by the results that are kept."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from nalm.evaluate.intervals import success_interval
from nalm.papers.agreement import Finding
from nalm.papers.shared.series import label
from nalm.papers.unit_results import RangeSuccess, all_successes
from nalm.tasks import RANGE_SETS
from rates import OPERATIONS, heading, ledger_link, rate, share

_PLAIN = tuple(label(name) for name in RANGE_SETS["uniform"])
"""The nine ranges of the standard benchmark."""
_ORDER = ("add", "sub", "mul", "div", "reciprocal")

_INTRO = """# Which unit for which operation

Made from our own runs that are kept in the [ledger](ledger.md): one unit, trained by its own recipe on one
range, tested outside it. A rate is the share of runs that end with the right answer, with its 95 % interval
and the number of runs. Two units whose intervals overlap cannot be told apart by these runs.

In short:

{short}
- **Logic**: `nlrl`. **Comparison**: `nsr`. They are measured in other ways: [logic and comparison](logic.md).
- **You only want the formula**, not a network: [`nalm fit`](fit.md) and [`nalm.compose`](composition.md)
  search it, and [`nalm.solve`](solve.md) finds exact weights in seconds where gradient descent fails.
"""


def pages() -> dict[str, str]:
    """The page by its path."""
    rows = sorted(
        all_successes(), key=lambda row: (_ORDER.index(row.op), row.inputs, row.range not in _PLAIN)
    )
    ops = [list(held) for _, held in itertools.groupby(rows, lambda row: row.op)]
    groups = [list(held) for _, held in itertools.groupby(rows, lambda row: (row.op, row.inputs))]
    short = "\n".join(_recommendation(held) for held in ops if held[0].op != "reciprocal")
    return {"which-unit.md": "\n".join([_INTRO.format(short=short), *map(_section, groups)])}


def _recommendation(rows: Sequence[RangeSuccess]) -> str:
    """One sentence about an operation: the unit that does best with every number of inputs that was run."""
    totals = {
        inputs: _totals([row for row in rows if row.inputs == inputs])
        for inputs in dict.fromkeys(row.inputs for row in rows)
    }
    everywhere = set.intersection(*(set(found) for found in totals.values()))
    best = max(everywhere, key=lambda model: (sum(found[model].solved for found in totals.values()), model))
    measured = ", ".join(
        f"{rate(found[best])} runs with {inputs} inputs{_alike(found, best)}"
        for inputs, found in totals.items()
    )
    return (
        f"- **{OPERATIONS[rows[0].op]}**: {_linked(rows, best)}. Over the nine ranges it solves {measured}."
    )


def _alike(totals: dict[str, Finding], best: str) -> str:
    """The models that do better, or as well as far as the runs can tell."""
    alike = [
        f"`{model}`" for model, found in totals.items() if model != best and _overlap(found, totals[best])
    ]
    return f" (no worse there: {', '.join(alike)})" if alike else ""


def _totals(rows: Sequence[RangeSuccess]) -> dict[str, Finding]:
    """The success of each model over all nine ranges; models that lack one are left out."""
    totals = {}
    for model in dict.fromkeys(row.model for row in rows):
        held = [row for row in rows if row.model == model and row.range in _PLAIN]
        if len(held) == len(_PLAIN):
            runs = sum(row.ours.n for row in held)
            found = success_interval(sum(row.ours.solved for row in held), runs)
            totals[model] = Finding(found.value, found.low, found.high, runs)
    return totals


def _section(rows: Sequence[RangeSuccess]) -> str:
    """The totals of an operation, and the best units of each range."""
    entries = ", ".join(dict.fromkeys(ledger_link(row.entry, "ledger.md") for row in rows))
    lines = [f"## {heading(rows[0])}", "", f"{_steps(rows)} In the ledger: {entries}.", ""]
    totals = _totals(rows)
    if totals:
        lines += ["| unit | over the nine ranges |", "|---|---|"]
        ranked = sorted(totals, key=lambda model: -totals[model].solved)
        lines += [f"| {_linked(rows, model)} | {rate(totals[model])} |" for model in ranked]
        lines.append("")
    lines += [
        "| trained on | best | success | cannot be told apart from it | worst |",
        "|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row.range for row in rows):
        lines.append(_range_line([row for row in rows if row.range == name], totals))
    return "\n".join([*lines, ""])


def _range_line(rows: Sequence[RangeSuccess], totals: dict[str, Finding]) -> str:
    """The best unit of a range; of those that are equal, the one that does best over all ranges."""
    over_all = {model: found.solved for model, found in totals.items()}
    ranked = sorted(rows, key=lambda row: (-(row.ours.value or 0), -over_all.get(row.model, 0)))
    best, *others = ranked
    alike = [row for row in others if _overlap(row.ours, best.ours)]
    also = ", ".join(f"`{row.model}` {share(row.ours)}" for row in alike) or "-"
    worst = f"`{ranked[-1].model}` {share(ranked[-1].ours)}" if len(rows) > 1 + len(alike) else "-"
    if not best.ours.value:
        return f"| {best.range} | none | {rate(best.ours)} | all | - |"
    return f"| {best.range} | `{best.model}` | {rate(best.ours)} | {also} | {worst} |"


def _steps(rows: Sequence[RangeSuccess]) -> str:
    counts = sorted({row.steps for row in rows})
    return f"{' or '.join(f'{count:,}' for count in counts)} steps."


def _linked(rows: Sequence[RangeSuccess], model: str) -> str:
    unit = next(row.unit for row in rows if row.model == model)
    return f"[`{model}`](units/{unit}.md)"


def _overlap(one: Finding, other: Finding) -> bool:
    return (one.high or 0) >= (other.low or 0)
