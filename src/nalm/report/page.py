"""One self-contained page of a store's results: it opens from disk and fetches nothing.

A store is read in two passes: first all runs without their weights, each judged and then freed; then the runs
of which the page shows curves, weights and formula.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nalm._version import __version__
from nalm.experiment.other_cases import OtherCases
from nalm.experiment.store import BULK, Record, Store
from nalm.experiment.stored_cases import WEIGHTS, stored_cases
from nalm.report.digits.cases import DigitRuns
from nalm.report.digits.section import digits_section
from nalm.report.files import check_output, written_whole
from nalm.report.ledger_tab import ledger_cells, ledger_text
from nalm.report.packing import pack_runs, packed
from nalm.report.page_data import Page
from nalm.report.page_others import other_tables
from nalm.report.set_apart import SetApart
from nalm.report.task_sections import task_runs, task_sections
from nalm.report.templates import asset, template

_PLOTLY = "vendor/plotly-basic.min.js"
_SCRIPTS = ("decode", "dom", "grid", "plots", "dots", "table", "paths", "run", "ledger", "main")
_DRAWING = "paths"
"""Style and script that only pages with formulas to draw have."""
_DIGITS = "digits"
"""Style that only pages with runs on digits or of tasks with a section each have."""


def write_page(
    store: Path, output: Path, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> int:
    """Write the page and return the number of runs; a store that does not exist counts as empty.

    Args:
        store: the store.
        output: the file to write; an existing file is not changed if anything goes wrong.
        on_progress: called with the number of runs done and the number of all runs.
    """
    check_output(output, store)
    with contextlib.ExitStack() as opened:
        # Every run is checked when it is read: the file as a whole need not be checked first.
        held = opened.enter_context(Store(store, read_only=True, damaged=True)) if store.exists() else None
        runs = Runs(held)
        others, digits, tasks = OtherCases(), DigitRuns(), task_runs()
        page = Page(stored_cases(tasks.set_apart(digits.set_apart(runs.judged())), others))
        with written_whole(output) as part:
            text = _rendered(page, others, digits, tasks, runs, store, on_progress)
            part.write_text(text, encoding="utf-8")
    return runs.total


class Runs:
    """The runs of a store, read piece by piece.

    Attributes:
        store: the store; None if there is none.
        total: the number of runs, once they have all been read.
    """

    def __init__(self, store: Store | None) -> None:
        self.store = store
        self.total = 0

    def judged(self) -> Iterator[Record]:
        """All runs, without their weights."""
        for record in self._records(without=WEIGHTS, ordered=False):
            self.total += 1
            yield record

    def whole(self, ids: Sequence[str]) -> Iterator[Record]:
        """The runs of these names, with their weights over time."""
        found = list(self._records(ids, without=["final_parameters"]))
        if len(found) < len(ids) and self.store is not None:
            raise self.store.damaged("its list of names does not match its runs")
        return iter(found)

    def parts(self, ids: Sequence[str], names: Collection[str]) -> Iterator[Record]:
        """The runs of these names, of their bulky columns only these."""
        return self._records(ids, without=[name for name in BULK if name not in names])

    def _records(self, *arguments: Any, **options: Any) -> Iterator[Record]:
        return iter(()) if self.store is None else self.store.records(*arguments, **options)


def _rendered(
    page: Page,
    others: OtherCases,
    digits: DigitRuns,
    tasks: SetApart,
    runs: Runs,
    store: Path,
    on_progress: Callable[[int, int], None],
) -> str:
    page_template, plotly = template("page.html"), packed(asset(_PLOTLY).encode()) if page.runs else ""
    details = pack_runs([row.case for row in page.rows], runs.whole, on_progress)
    contents = page.program_data(details.shown, details.findings) | ledger_cells()
    data = packed(json.dumps(contents, allow_nan=False).encode())
    scripts = [name for name in _SCRIPTS if page.has_formulas or name != _DRAWING]
    rendered: str = page_template.render(
        version=__version__,
        store=store.name,
        store_argument=shlex.quote(str(store)),
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        # Only scripts with this nonce may run, and text in the data cannot know it.
        nonce=secrets.token_hex(16),
        style=_style(page, digits.total + tasks.total),
        script="\n".join(asset(f"{name}.js") for name in scripts),
        data=data,
        runs_data=details.text,
        plotly=plotly,
        about_runs=_about_runs(sum(details.shown), page.runs, all(details.shown)),
        total=runs.total,
        digits=digits_section(digits, runs.parts),
        digit_runs=digits.total,
        tasks=task_sections(tasks, runs.parts),
        task_runs=tasks.total,
        others=other_tables(others.by_task()),
        ledger=ledger_text(),
        **page.text_data(),
    )
    return rendered


def _style(page: Page, drawn: int) -> str:
    wanted = {"page": True, _DRAWING: page.has_formulas, _DIGITS: bool(drawn)}
    return "".join(asset(f"{name}.css") for name, there in wanted.items() if there)


def _about_runs(shown: int, total: int, every_row: bool) -> str:
    said = "Errors and weights of one seed over time, and the formula of the weights at the chosen step."
    if shown == total:
        return said
    which = "the lowest seeds of every row" if every_row else "the lowest seed of the first rows"
    return f"{said} {shown:,} of {total:,} runs are on this page: {which}."
