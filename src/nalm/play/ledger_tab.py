"""The tab for the ledger: published tables and figures beside our numbers."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import events, ui

from nalm.errors import NalmError
from nalm.play.asked import Ledger, LedgerEntry
from nalm.play.play import Play

_HINT = "Every table and figure of the papers that was computed again, with the verdict on each number."
_CELLS = {
    "row": "Row",
    "column": "Column",
    "paper": "Paper",
    "ours": "Ours",
    "verdict": "Verdict",
    "why": "Why",
}


def ledger_tab(play: Play) -> Callable[[], Awaitable[None]]:
    """Fill the tab; return what reads the ledger."""
    ui.label(_HINT).classes("play-soft")
    return _LedgerTab(play).read


class _LedgerTab:
    """The entries, and the cells of the one that is chosen."""

    def __init__(self, play: Play) -> None:
        self._play = play
        with ui.element("div").classes("play-column"):
            self._filter = ui.input("Search").props("outlined dense clearable")
            self._status = ui.label("Reading …").classes("play-status").props("role=status")
            self._table = ui.table(
                columns=[], rows=[], row_key="id", selection="single", pagination=10, on_select=self._select
            ).classes("w-full")
            self._table.props("flat bordered dense")
            self._table.bind_filter_from(self._filter, "value")
            self._cells = ui.element("section").classes("play-card")
        self._table.on("rowClick", self._click, [[], ["id"], None])
        self._cells.set_visibility(False)

    async def read(self) -> None:
        """Read the entries."""
        try:
            found = await self._play.jobs.answer(Ledger())
        except NalmError as error:
            self._status.set_text(str(error))
            return
        names = {"id": "Entry", "title": "Title", "cells": "Cells"}
        names |= {verdict: verdict.replace("_", " ") for verdict in found["verdicts"]}
        self._table.columns = _columns(names)
        self._table.rows = found["entries"]
        self._table.update()
        sentence = found["sentence"]
        self._status.set_text(f"{sentence[:1].upper()}{sentence[1:]} Choose an entry to see its cells.")

    async def _click(self, event: events.GenericEventArguments) -> None:
        await self._open(event.args[1]["id"])

    async def _select(self, event: events.TableSelectionEventArguments) -> None:
        if event.selection:
            await self._open(event.selection[0]["id"])

    async def _open(self, entry: str) -> None:
        self._cells.set_visibility(True)
        self._cells.clear()
        with self._cells:
            ui.label(f"Reading {entry} …")
        try:
            found = await self._play.jobs.answer(LedgerEntry(str(entry)))
            show: Callable[[], object] = functools.partial(_show, found)
        except NalmError as error:
            show = functools.partial(ui.label, str(error))
        self._cells.clear()
        with self._cells:
            show()


def _show(entry: dict[str, Any]) -> None:
    ui.label(entry["id"]).classes("text-bold")
    for said in (entry["source"], entry["note"]):
        if said:
            ui.label(str(said)).classes("play-soft")
    ui.label(str(entry["command"])).classes("play-formula")
    rows = [
        {**cell, "verdict": cell["verdict"].replace("_", " "), "at": k}
        for k, cell in enumerate(entry["cells"])
    ]
    ui.table(columns=_columns(_CELLS), rows=rows, row_key="at", pagination=15).props("flat bordered dense")


def _columns(names: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"name": name, "label": label, "field": name, "align": "left", "sortable": True}
        for name, label in names.items()
    ]
