"""The tab for stored runs: a table of them, and the curves, weights and formula of the one that is chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import events, ui

from nalm.errors import NalmError
from nalm.play.asked import StoredRun, StoredRuns
from nalm.play.charts import chart, draw, error_options, weight_options
from nalm.play.play import Play

_COLUMNS = {
    "model": "Model",
    "what": "Task",
    "seed": "Seed",
    "outcome": "Outcome",
    "test": "Test error",
}
_MOST_LINES = 24
"""How many weights are drawn."""


def runs_tab(play: Play) -> Callable[[], Awaitable[None]]:
    """Fill the tab; return what reads the store."""
    return _RunsTab(play).read


class _RunsTab:
    """The table, and the run that is chosen."""

    def __init__(self, play: Play) -> None:
        self._play = play
        with ui.element("div").classes("play-column"):
            with ui.element("div").classes("play-row"):
                self._filter = ui.input("Search").props("outlined dense clearable")
                ui.button("Read again", on_click=self.read).props("no-caps outline")
            self._status = ui.label("Reading …").classes("play-status").props("role=status")
            columns: list[dict[str, Any]] = [
                {"name": name, "label": label, "field": name, "align": "left", "sortable": True}
                for name, label in _COLUMNS.items()
            ]
            self._table = ui.table(
                columns=columns,
                rows=[],
                row_key="id",
                selection="single",
                pagination=10,
                on_select=self._select,
            ).classes("w-full")
            self._table.props("flat bordered dense")
            self._table.bind_filter_from(self._filter, "value")
            self._detail = ui.element("section").classes("play-card")
        self._table.on("rowClick", self._click, [[], ["id"], None])
        self._detail.set_visibility(False)

    async def read(self) -> None:
        """Read the list of runs."""
        store = self._play.store
        try:
            found = await self._play.jobs.answer(StoredRuns(store))
        except NalmError as error:
            self._status.set_text(str(error))
            return
        self._table.rows = [_row(run) for run in found["runs"]]
        self._table.update()
        shown, total = len(found["runs"]), found["total"]
        said = (
            f"{shown:,} of {total:,} runs" if shown < total else f"{total:,} run{'' if total == 1 else 's'}"
        )
        nothing = f"There are no runs in {store} yet; `nalm bench` stores some."
        self._status.set_text(f"{said} in {store}. Choose one to see it." if total else nothing)

    async def _click(self, event: events.GenericEventArguments) -> None:
        await self._open(event.args[1]["id"])

    async def _select(self, event: events.TableSelectionEventArguments) -> None:
        if event.selection:
            await self._open(event.selection[0]["id"])

    async def _open(self, run: str) -> None:
        try:
            found = await self._play.jobs.answer(StoredRun(self._play.store, str(run)))
        except NalmError as error:
            self._status.set_text(str(error))
            return
        self._detail.set_visibility(True)
        self._detail.clear()
        with self._detail:
            _show(found)


def _row(run: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": run["id"],
        "model": run["model"],
        "what": f"{run['task']} {_labels(run['labels'])}",
        "seed": run["seed"],
        "outcome": (run["outcome"] or "not judged").replace("_", " "),
        "test": "not finite" if run["test"] is None else f"{run['test']:.2e}",
    }


def _labels(labels: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in labels.items())


def _show(run: dict[str, Any]) -> None:
    ui.label(f"{run['model']}, {run['task']} {_labels(run['labels'])}, seed {run['seed']}").classes(
        "text-bold"
    )
    outcome = (run["outcome"] or "not judged").replace("_", " ")
    at = f" at step {run['solved_at']:,}" if run["solved_at"] is not None else ""
    ui.label(f"{outcome}{at}").classes("play-good" if outcome == "solved" else "play-bad")
    ui.label(run["expression"] or "no formula").classes("play-formula play-large")
    steps, curve = run["curve"]["steps"], run["curve"]
    lines = {name: list(zip(steps, curve[name])) for name in ("test", "validation")}
    with ui.element("div").classes("play-sides"):
        draw(chart("Errors of this run over steps"), error_options(lines, run["threshold"], steps[-1]))
        if run["history"]:
            weights = _over_time(run["history_steps"], run["history"])
            draw(chart("Weights of this run over steps"), weight_options(weights, steps[-1]))


def _over_time(steps: list[int], history: dict[str, Any]) -> dict[str, list[tuple[float, float | None]]]:
    """One line per weight, from nested lists whose first axis is time."""
    lines: dict[str, list[tuple[float, float | None]]] = {}
    for name, values in history.items():
        for step, value in zip(steps, values):
            for label, number in _leaves(name, value):
                lines.setdefault(label, []).append((step, number))
    return dict(list(lines.items())[:_MOST_LINES])


def _leaves(name: str, value: Any) -> list[tuple[str, float | None]]:
    if not isinstance(value, list):
        return [(name, value)]
    return [leaf for k, each in enumerate(value) for leaf in _leaves(f"{name}[{k}]", each)]
