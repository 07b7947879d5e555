"""The page: a heading and four tabs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nicegui import ui

from nalm._version import __version__
from nalm.play.data_tab import data_tab
from nalm.play.ledger_tab import ledger_tab
from nalm.play.play import Play
from nalm.play.runs_tab import runs_tab
from nalm.play.train_tab import train_tab

_BLUE = "#2463b0"
"""Dark enough for white text."""
_STYLE = Path(__file__).parent / "assets" / "play.css"


@dataclass(frozen=True)
class _Tab:
    """A tab: its name, an icon, what fills it, and what is called when it is opened."""

    name: str
    icon: str
    fill: Callable[[Play], Callable[[], Any] | None]


_TABS = (
    _Tab("Train", "school", train_tab),
    _Tab("Your data", "table_chart", data_tab),
    _Tab("Stored runs", "history", runs_tab),
    _Tab("Ledger", "menu_book", ledger_tab),
)


def add_page(play: Play) -> None:
    """Add the page to the application."""
    style = _STYLE.read_text(encoding="utf-8")

    @ui.page("/", title="nalm play")
    def _page() -> None:
        ui.add_css(style)
        ui.colors(primary=_BLUE)
        client = ui.context.client
        client.on_delete(lambda: play.jobs.stop(client.id))
        with ui.element("main").classes("play"):
            with ui.element("header").classes("play-header"):
                ui.html("<h1>nalm play</h1>", sanitize=False)
                ui.label(f"Units that learn exact arithmetic, version {__version__}").classes("play-soft")
            _fill_tabs(play)


def _fill_tabs(play: Play) -> None:
    """All tabs; what a tab shows of stored things is read when it is first opened."""
    opened: dict[str, Callable[[], Any] | None] = {}

    async def on_change(name: str) -> None:
        on_open = opened.pop(name, None)
        if on_open is not None:
            await on_open()

    with ui.tabs().props("align=left dense no-caps mobile-arrows outside-arrows") as tabs:
        for tab in _TABS:
            ui.tab(tab.name, icon=None)
    with ui.tab_panels(tabs, value=_TABS[0].name, animated=False, keep_alive=True).classes("w-full"):
        for tab in _TABS:
            with ui.tab_panel(tab.name):
                opened[tab.name] = tab.fill(play)
    tabs.on_value_change(lambda event: on_change(event.value))
