"""One page per unit, from what the unit says about itself and what the ledger says about it."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from drawing import drawing
from formulas import markdown
from nalm.cli.unit_page import unit_page
from nalm.papers.unit_results import RangeSuccess, success_by_range
from nalm.recipes import Recipe
from nalm.units import UNITS, Unit
from rates import VERDICTS, heading, ledger_link, published, rate

_ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {6,}.*)*)", re.MULTILINE)


def navigation() -> list[dict[str, str]]:
    """The pages of all units by the names of their classes."""
    return [{unit.__name__: f"units/{name}.md"} for name, unit in UNITS.items()]


def pages(root: Path) -> dict[str, str]:
    """The pages by their path: the list of units, and a page for each."""
    made = {f"units/{name}.md": _page(name, unit, root) for name, unit in UNITS.items()}
    return {"units/index.md": _index(), **made}


def _index() -> str:
    lines = [
        "# All units",
        "",
        "| unit | on the command line | operations | what it is |",
        "|---|---|---|---|",
    ]
    for name, unit in UNITS.items():
        page = unit_page(name)
        ops = ", ".join(page["ops"])
        lines.append(f"| [{unit.__name__}]({name}.md) | `{name}` | {ops} | {page['summary']} |")
    text = (
        "Which of them to take: [which unit for which operation](../which-unit.md). "
        "How to write one: [the contract of a unit](../units.md)."
    )
    return "\n".join([*lines, "", text, ""])


def _page(name: str, unit: type[Unit], root: Path) -> str:
    page = unit_page(name)
    title, _, description = page["description"].partition("\n")
    parts = [
        f"# {unit.__name__}",
        title,
        f"On the command line it is `{name}`, in Python `nalm.{unit.__name__}`. "
        f"It can express: {', '.join(page['ops'])}.",
        "## Equation",
        markdown(description.strip()),
        "## Data flow",
        "Traced from the code that computes it, with its default options and after training. "
        "Blue: weights that are learnt. Orange: gates. w, v, a, b and g name the arguments of a step.",
        f'<div class="scroll">{drawing(unit)}</div>',
        "## Options",
        _options(page),
        "## Recipes",
        _recipes(unit, page["ops"]),
        "## Success per range",
        _success(success_by_range(name)),
        _surface(name, root),
        "## Papers",
        _papers(page["citations"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _options(page: dict[str, Any]) -> str:
    described = {name: " ".join(text.split()) for name, text in _ARGUMENT.findall(page["arguments"])}
    if not page["options"]:
        return "None but those that all units have: `batch_shape`, `device` and `dtype`."
    lines = ["| option | default | what it does |", "|---|---|---|"]
    for name, default in page["options"].items():
        lines.append(f"| `{name}` | `{default!r}` | {described.get(name, '')} |")
    return "\n".join(lines)


def _recipes(unit: type[Unit], ops: list[str]) -> str:
    """The recipes by name; operations with the same recipe share it."""
    intro = (
        "How papers train it; `published` is taken if no other is named. Only what differs from plain Adam "
        "on the mean squared error, 50,000 steps of 128 rows, is listed. "
        "`second-order` is described under [solve](../solve.md)."
    )
    lines = [intro, "", "| recipe | operations | settings |", "|---|---|---|"]
    for name in unit.all_recipes():
        if name == "second-order":
            continue
        held: dict[str, list[str]] = {}
        for op in ops:
            held.setdefault(_settings(unit.recipe(op, name)), []).append(op)
        lines += [f"| `{name}` | {', '.join(alike)} | {settings} |" for settings, alike in held.items()]
    return "\n".join(lines)


def _settings(recipe: Recipe) -> str:
    """What differs from the default recipe."""
    default = Recipe()
    changed = [
        f"`{part.name}={_short(getattr(recipe, part.name))}`"
        for part in fields(recipe)
        if getattr(recipe, part.name) != getattr(default, part.name)
    ]
    return "<br>".join(changed) or "as above"


def _short(value: Any) -> str:
    """The text of a part of a recipe without what is not set."""
    return re.sub(r", \w+=None", "", repr(value)).replace("|", "\\|")


def _success(rows: list[RangeSuccess]) -> str:
    if not rows:
        return "No paper of the [ledger](../ledger.md) trains this unit alone on a range."
    intro = (
        "Runs that end with the right answer outside the training range, with 95 % intervals: ours, and what "
        "papers publish for the same data and threshold."
    )
    groups: dict[tuple[str, str], list[RangeSuccess]] = {}
    for row in rows:
        groups.setdefault((heading(row), row.model), []).append(row)
    return "\n\n".join([intro, *(_group(head, model, held) for (head, model), held in groups.items())])


def _group(head: str, model: str, rows: list[RangeSuccess]) -> str:
    entries = ", ".join(dict.fromkeys(ledger_link(row.entry) for row in rows))
    lines = [f"### {head}: {model}", "", f"{rows[0].steps:,} steps. In the ledger: {entries}.", ""]
    lines += ["| trained on | ours | published | |", "|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row.range} | {rate(row.ours)} | {published(row)} | {VERDICTS[row.verdict]} |")
    return "\n".join(lines)


def _surface(name: str, root: Path) -> str:
    """The picture of its loss surface, if there is one."""
    file = f"images/gallery/loss-surface-{name}.png"
    if not (root / "docs" / file).exists():
        return ""
    return f"## Loss surface\n\n![Loss surface of the unit `{name}`](../{file})"


def _papers(citations: list[dict[str, Any]]) -> str:
    if not citations:
        return "None: an ordinary layer, to compare with."
    return "\n".join(
        f"- {paper['authors']} ({paper['year']}). {paper['title']}. {paper['venue']}." for paper in citations
    )
