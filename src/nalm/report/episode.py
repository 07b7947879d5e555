"""A stored agent that acts in the grid world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from nalm.errors import NalmError
from nalm.experiment.describe import Filter
from nalm.experiment.rebuild import spec_of, task_of
from nalm.experiment.store import Record, Store
from nalm.experiment.store_error import StoreError
from nalm.models.agents import Agent
from nalm.tasks import GridWorld

if TYPE_CHECKING:
    from nalm.environments.episodes import Episode


def acted(path: Path, *, unit: str, op: str, seed: int, time: int, start: int) -> Episode:
    """An episode of a stored agent.

    Args:
        path: the store.
        unit: its unit.
        op: what the unit does.
        seed: the seed of its run; if several protocols were run, the longest is taken.
        time: the time that it is told.
        start: the seed of the start of the episode.
    """
    try:
        from nalm.environments.episodes import play
    except ImportError:
        raise NalmError("Episodes need gymnasium and pillow: pip install 'nalm[agents]'.") from None
    return play(
        agent_of(_stored(path, Filter([unit], [op], seed=[seed]))), time, seed=start, limit=max(30, time + 5)
    )


def agent_of(record: Record) -> Agent:
    """The agent of a run at its chosen step."""
    task, spec = task_of(record), spec_of(record.model)
    if spec is None or not isinstance(task, GridWorld):
        raise NalmError(f"The run {record.id} is not of an agent that can be made here.")
    agent = task.network(spec.build(*task.unit_features))
    agent.load_state_dict({name: torch.from_numpy(p) for name, p in record.chosen_parameters.items()})
    assert isinstance(agent, Agent)
    return agent


def _stored(path: Path, wanted: Filter) -> Record:
    if not path.exists():
        raise StoreError(f"{path} does not exist; `nalm bench {GridWorld.name}` creates it.")
    with Store(path, read_only=True) as store:
        agents = [record for record in store.records() if record.task == GridWorld.name]
    if not agents:
        raise StoreError(f"{path} has no agents; `nalm bench {GridWorld.name}` trains them.")
    wanted.check(agents)
    found = [record for record in agents if wanted.matches(record)]
    if not found:
        raise NalmError(f"{path} has no agent with this unit, operation and seed together.")
    return max(found, key=lambda record: record.iterations)
