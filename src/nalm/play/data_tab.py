"""The tab for a user's own rows: paste or upload them, choose a column, and watch its formula appear."""

from __future__ import annotations

import re
from typing import Any

from nicegui import events, ui

from nalm.errors import NalmError
from nalm.play.asked import MOST_BYTES, MOST_COLUMNS, MOST_ROWS, MOST_SEARCH_SECONDS, Columns, Fitting
from nalm.play.charts import chart, draw, pair_options
from nalm.play.play import Play
from nalm.play.running import Running
from nalm.report.short_formula import with_few_digits

_HINT = (
    "Paste rows of numbers with the names of the columns above them, or upload a CSV file. One column is "
    "explained by the others: sums, products, powers and numbers."
)
_LIMITS = (
    f"At most {MOST_ROWS:,} rows, {MOST_COLUMNS} columns, {MOST_BYTES / 1e6:g} MB and "
    f"{MOST_SEARCH_SECONDS} s. The rows stay on this machine."
)
_COLOURS = {"exact": "play-good", "none": "play-bad"}
_PASTED = "The table"
_MOST_PASTED = 500_000
"""Characters of pasted text, after which a browser cuts it off; a file may be larger."""
_SHOWN_ALTERNATIVES = 5


def data_tab(play: Play) -> None:
    """Fill the tab."""
    ui.label(_HINT).classes("play-soft")
    _DataTab(play)


class _DataTab:
    """The rows, the column to explain, and what was found."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._file: tuple[str, bytes] | None = None
        self._names: list[str] = []
        with ui.element("div").classes("play-column"):
            self._make_form()
            self._running = Running(
                play, "Find the formula", self._asked, self._on_message, on_end=self._on_end
            )
            self._formula = ui.label().classes("play-formula play-large").props("aria-live=polite")
            self._found = ui.element("div").classes("play-sides")
        self._formula.set_visibility(False)

    def _make_form(self) -> None:
        self._text = ui.textarea("Rows", on_change=self._look).classes("w-full")
        self._text.props(f"outlined debounce=400 maxlength={_MOST_PASTED} spellcheck=false")
        with ui.element("div").classes("play-row"):
            ui.upload(
                label="… or a CSV file",
                auto_upload=True,
                max_files=1,
                max_file_size=MOST_BYTES,
                on_upload=self._take,
                on_rejected=self._reject,
            ).props('flat bordered accept=".csv,.tsv,.txt"')
            ui.button("Use an example", on_click=self._use_example).props("no-caps flat")
        with ui.element("div").classes("play-form"):
            self._target = ui.select([], label="Column to explain").props("outlined dense")
            self._seconds = ui.number(
                "Seconds at most", value=20, min=1, max=MOST_SEARCH_SECONDS, precision=0
            )
            self._seconds.props("outlined dense")
        ui.label(_LIMITS).classes("play-soft play-recipe")

    def _use_example(self) -> None:
        self._text.set_value(_example())

    async def _take(self, event: events.UploadEventArguments) -> None:
        name = re.sub(r"[^\w\-. ]", "_", event.file.name).lstrip(".")[-80:] or "data.csv"
        data = await event.file.read()
        event.sender.reset()  # type: ignore[attr-defined]
        self._text.set_value("")
        self._file = (name, data)
        self._running.say(f"{name}: {len(data):,} bytes")
        await self._look()

    def _reject(self) -> None:
        self._running.say(f"This file is no CSV file of at most {MOST_BYTES / 1e6:g} MB.", is_wrong=True)

    async def _look(self) -> None:
        """Offer the columns of the rows as they are now; what was found in others is gone."""
        if self._text.value:
            self._file = None
        self._clear()
        if self._rows() is None:
            self._offer([])
            return
        try:
            found = await self._play.jobs.answer(self._columns())
        except NalmError as error:
            self._offer([])
            self._running.say(str(error), is_wrong=True)
            return
        self._offer(found["names"])
        self._running.say(f"{len(self._names)} columns: {', '.join(self._names)}"[:300])

    def _offer(self, names: list[str]) -> None:
        """Offer columns, the last one first; rows that are only edited keep what was chosen."""
        if names != self._names:
            self._names = names
            self._target.set_options(names, value=names[-1] if names else None)

    def _clear(self) -> None:
        self._found.clear()
        self._formula.set_visibility(False)

    def _rows(self) -> tuple[str, bytes] | None:
        """The name and content of what was pasted or uploaded."""
        if self._file is not None:
            return self._file
        text = str(self._text.value or "")
        return (_PASTED, text.encode()) if text.strip() else None

    def _columns(self) -> Columns:
        name, data = self._rows() or (_PASTED, b"")
        if len(self._text.value or "") >= _MOST_PASTED:
            raise NalmError(
                f"This is too long to paste: the field takes {_MOST_PASTED:,} characters. Upload a file."
            )
        return Columns(data, self._play.folder, name)

    def _asked(self) -> list[Fitting]:
        rows = self._columns()
        rows.check()
        seconds = self._seconds.value
        whole: Any = int(seconds) if isinstance(seconds, float) and seconds.is_integer() else seconds
        asked = Fitting(rows.data, rows.folder, rows.name, target=self._target.value or "", seconds=whole)
        asked.check()
        self._clear()
        self._formula.set_visibility(True)
        self._formula.set_text("…")
        self._formula.classes(remove="play-read")
        return [asked]

    def _on_message(self, index: int, kind: str, what: Any) -> None:
        if kind == "point":
            self._running.say(f"{what['seconds']:.1f} s: {what['stage']}")
            if "formula" in what:
                self._formula.set_text(f"{self._target.value} = {what['formula']}")
        elif kind == "done":
            self._show(what)
        elif kind == "refused":
            self._formula.set_visibility(False)

    def _on_end(self) -> None:
        if self._formula.text == "…":
            self._formula.set_visibility(False)

    def _show(self, what: dict[str, Any]) -> None:
        there = what["expression"] is not None
        self._formula.set_text(f"{what['target']} = {what['expression']}" if there else "no formula")
        self._formula.classes("play-read" if what["verdict"] == "exact" else "")
        self._running.say(f"Finished in {what['seconds']:.1f} s, {what['rows']:,} rows.")
        with self._found:
            with ui.element("section").classes("play-card"):
                ui.label(f"Verdict: {what['verdict']}").classes(_COLOURS.get(what["verdict"], ""))
                ui.label(f"{what['meaning'][:1].upper()}{what['meaning'][1:]}")
                for note in what["notes"]:
                    ui.label(note).classes("play-soft")
                _alternatives(what)
            if there:
                with ui.element("section").classes("play-card"):
                    made = chart("What the formula gives against your rows")
                    draw(made, pair_options(what["pairs"], what["target"]))


def _alternatives(what: dict[str, Any]) -> None:
    others = [o for o in what["alternatives"] if o["expression"] != what["expression"]]
    if not others:
        return
    ui.label("Other formulas, from short to precise:").classes("play-soft")
    for other in sorted(others, key=lambda o: o["length"])[:_SHOWN_ALTERNATIVES]:
        error = "" if other["error"] is None else f"   (relative error {other['error']:.1e})"
        ui.label(f"{with_few_digits(other['expression'])}{error}").classes("play-formula")


def _example() -> str:
    """Rows of a law that everybody knows: the energy of what moves."""
    rows = [(1 + k * 7 % 13 / 4, 2 + k * 5 % 11 / 2, k * 3 % 7) for k in range(40)]
    lines = [f"{mass:g},{speed:g},{day},{mass * speed**2 / 2!r}" for mass, speed, day in rows]
    return "\n".join(["mass,speed,day,energy", *lines])
