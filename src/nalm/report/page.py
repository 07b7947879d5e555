"""One self-contained page of a store's results: opens from disk, fetches nothing."""

from __future__ import annotations

import json
import secrets
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nalm._version import __version__
from nalm.errors import NalmError
from nalm.experiment.store import Store
from nalm.experiment.stored import stored_cells
from nalm.report.files import check_output, written_whole
from nalm.report.packing import pack_runs, packed
from nalm.report.page_data import Page
from nalm.report.page_ledger import ledger_cells, ledger_text

_ASSETS = Path(__file__).parent / "assets"
_PLOTLY = "vendor/plotly-basic.min.js"
_SCRIPTS = ("decode", "dom", "plots", "panels", "table", "run", "ledger", "main")


def write_page(store: Path, output: Path, tell: Callable[[int, int], None] = lambda done, total: None) -> int:
    """Write the page; a store that is not there is an empty one. The number of runs.

    Args:
        store: the store.
        output: the file to write; a file that was there stays as it is if anything goes wrong.
        tell: is told how many of how many runs are done.
    """
    check_output(output, store)
    records = []
    if store.exists():
        with Store(store, read_only=True) as opened:
            records = list(opened.records(without=["final_parameters"]))
    page = Page(stored_cells(records))
    with written_whole(output) as part:
        text = _rendered(page, store, len(records) - len(page.runs), tell)
        part.write_text(text, encoding="utf-8")
    return len(page.runs)


def _rendered(page: Page, store: Path, left_out: int, tell: Callable[[int, int], None]) -> str:
    template, plotly = _template(), packed(_asset(_PLOTLY).encode()) if page.runs else ""
    runs = pack_runs([line.cell for line in page.lines], tell)
    data = packed(json.dumps(page.program_data(runs.shown) | ledger_cells(), allow_nan=False).encode())
    rendered: str = template.render(
        version=__version__,
        store=store.name,
        store_argument=shlex.quote(str(store)),
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        # Which scripts may run is decided by a word that text in the data cannot know.
        nonce=secrets.token_hex(16),
        style=_asset("page.css"),
        script="\n".join(_asset(f"{name}.js") for name in _SCRIPTS),
        data=data,
        runs_data=runs.text,
        plotly=plotly,
        about_runs=_about_runs(sum(runs.shown), len(page.runs)),
        left_out=left_out,
        ledger=ledger_text(),
        **page.text_data(),
    )
    return rendered


def _about_runs(shown: int, total: int) -> str:
    said = (
        "Errors and weights of one seed over time, and what the weights at the chosen step say as a formula."
    )
    if shown == total:
        return said
    return f"{said} {shown:,} of {total:,} runs are on this page: the lowest seeds of every line."


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _template() -> Any:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise NalmError("The report needs Jinja2: pip install 'nalm[report]'.") from None
    # Everything from data is escaped: names of units and files are text, whatever they contain.
    made = Environment(loader=FileSystemLoader(_ASSETS), autoescape=True, undefined=StrictUndefined)
    return made.get_template("page.html")
