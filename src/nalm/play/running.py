"""The buttons Run and Stop of a tab, the line that says how it goes, and the job between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from nalm.errors import NalmError
from nalm.play.asked import Asked
from nalm.play.play import Play
from nalm.play.workers import Job

_LOOK = 0.2
"""Seconds between two looks for messages: a slow browser must be able to draw what they change."""


class Running:
    """The buttons Run and Stop, and a line that says how it goes.

    Args:
        play: what all tabs share.
        label: the text of the button that begins.
        ask: gives the requests, or raises if the form is wrong.
        on_message: called with the index of a request, the kind of a message and its content.
        draw: called after some messages, to show what they have changed.
        on_end: called once the last request has ended.
    """

    def __init__(
        self,
        play: Play,
        label: str,
        ask: Callable[[], Sequence[Asked]],
        on_message: Callable[[int, str, Any], None],
        draw: Callable[[], None] = lambda: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._play, self._ask = play, ask
        self._on_message, self._draw, self._on_end = on_message, draw, on_end
        self._job: Job | None = None
        self._owner = ui.context.client.id
        with ui.element("div").classes("play-row"):
            self._run = ui.button(label, on_click=self._begin, color="primary").props("no-caps")
            self._stop = ui.button("Stop", on_click=self._end).props("no-caps outline")
        self._stop.set_enabled(False)
        self._status = ui.label().classes("play-status").props("role=status aria-live=polite")
        self._timer = ui.timer(_LOOK, self._look, active=False)

    def say(self, text: str, *, is_wrong: bool = False) -> None:
        """Say how it goes, or what is wrong."""
        self._status.set_text(text)
        self._status.classes(add="play-bad" if is_wrong else "", remove="" if is_wrong else "play-bad")

    def _begin(self) -> None:
        try:
            asked = self._ask()
            self._job = self._play.jobs.begin(self._owner, asked)
        except NalmError as error:
            self.say(str(error), is_wrong=True)
            return
        self.say("Starting …")
        self._switch(True)

    def _look(self) -> None:
        """Hand on what has come."""
        job = self._job
        if job is None:
            return
        came = list(job.messages())
        for side, (kind, what) in came:
            if kind == "refused":
                self.say(what, is_wrong=True)
            self._on_message(side, kind, what)
        if came:
            self._draw()
        if job.is_over:
            self._job = None
            self._switch(False)
            self._on_end()

    def _end(self) -> None:
        if self._job is not None:
            self._job.stop()
            self._job = None
            self._switch(False)
            self.say("Stopped.")
            self._on_end()

    def _switch(self, is_running: bool) -> None:
        self._run.set_enabled(not is_running)
        self._stop.set_enabled(is_running)
        self._timer.active = is_running
