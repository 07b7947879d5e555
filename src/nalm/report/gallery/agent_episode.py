"""An episode of an agent: what it saw, step by step, and as an animation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from nalm.experiment.store import Store
from nalm.experiment.stored_cases import WEIGHTS
from nalm.models.agents import Agent
from nalm.report.episode import agent_of
from nalm.report.gallery.picture import Drawn, Kind, Skipped, Studio, new_figure
from nalm.tasks import GridWorld

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nalm.environments.episodes import Episode

TIME, START = 12, 5
"""The time that the agent is told, and the seed of the start."""
_PER_ROW = 7


def draw(studio: Studio) -> Drawn:
    """An episode of a stored agent, or of one that is made by hand."""
    try:
        from nalm.environments.episodes import play
        from nalm.report.gallery.made_agent import MadeAgent
    except ImportError:
        raise Skipped("Episodes need gymnasium and pillow: pip install 'nalm[agents]'.") from None
    stored = None if studio.store is None else from_store(studio.store)
    agent, who, source = stored or (
        MadeAgent(),
        "an agent made by hand, not trained, whose NAU counts the time left",
        "nalm gallery --only episode",
    )
    played = play(agent, TIME, seed=START)
    when = "never arrives" if played.arrived is None else f"arrives at t = {played.arrived}"
    figure = _strip(played)
    figure.suptitle(f"Told to arrive at t = {TIME}: {when}\n({who})", fontsize=10)
    sentence = f"What {who}, sees: told to step on the red square at t = {TIME}, it {when}."
    return Drawn(figure, "an episode", sentence, source, others={"gif": played.save})


def from_store(store: Path) -> tuple[Agent, str, str] | None:
    """The stored agent that was trained longest, who it is, and its command; None if there is none."""
    with Store(store, read_only=True) as held:
        light = held.records(without=WEIGHTS, ordered=False)
        found = max(((run.iterations, run.id) for run in light if run.task == GridWorld.name), default=None)
        if found is None:
            return None
        (record,) = held.records([found[1]])
    op = record.labels["op"]
    who = f"a stored agent with {record.model}, trained for {record.iterations:,} steps"
    return agent_of(record), who, f"nalm episode --unit {record.model} --op {op} --seed {record.seed}"


def _strip(played: Episode) -> Figure:
    """All pictures in rows, each with its time and what the agent does then."""
    from nalm.tasks.grid_world.rules import ACTIONS

    rows = math.ceil(len(played.pictures) / _PER_ROW)
    figure = new_figure(1.3 * _PER_ROW, 1.55 * rows + 0.7)
    axes = list(figure.subplots(rows, _PER_ROW, squeeze=False).flat)
    for t, (axis, picture) in enumerate(zip(axes, played.pictures)):
        axis.imshow(picture)
        axis.set(xticks=(), yticks=())
        axis.set_title(f"t = {t}", fontsize=9)
        axis.set_xlabel(ACTIONS[played.actions[t]].lower() if t < len(played.actions) else "", fontsize=8)
    for axis in axes[len(played.pictures) :]:
        axis.remove()
    return figure


KIND = Kind(
    "episode",
    "An agent's episode",
    "The grey square is the agent; below each picture is what it does next.",
    {"episode": draw},
)
