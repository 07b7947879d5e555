r"""Arrive exactly at time T: an agent in a grid world (Trask et al. 2018, section 4.5).

Trained on T from 5 to 12, tested on T from 5 to 25. With `--op instruct` the instruction passes through the
unit into the agent's LSTM, as in the paper; with `--op count`, which is ours, the unit counts and its
running sum is the agent's only memory (see `models/agents.py`).

Ours, because the paper states no training: Adam with the rate 0.001, which falls to zero in the second half,
256 episodes per step, gradients of norm 0.5 at most; L = 20 in training and 30 in the tests; the likeliest
action is taken in the tests; the step with the fewest misses on T from 5 to 12 is chosen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_choice
from nalm.models.agents import AGENTS, SEEN, agent_kind
from nalm.recipes import Adam, ClipNorm, Falling, LevenbergMarquardt, Recipe
from nalm.tasks._base import Facet, Numbers, Predict, Split, Task
from nalm.tasks.actor_critic import ActorCriticTask
from nalm.tasks.environment import State
from nalm.tasks.grid_world import rules
from nalm.tasks.grid_world.measures import Arrivals, Missed, MissedByTime
from nalm.tasks.grid_world.pictures import POINTS, all_pictures, as_input, number

TRAINED = tuple(range(5, 13))
TESTED = tuple(range(5, 26))
LIMIT = 20
TEST_LIMIT = 30
_PER_TIME = 40
"""Episodes of a block for each instruction."""


@dataclass(frozen=True)
class GridWorld(ActorCriticTask):
    """An agent that must first step on the red square at time T.

    Attributes:
        op: what the unit does: "instruct" or "count".
        reward: what is trained on: "graded", which the paper's text implies, or "exact". What is measured is
            always whether the agent arrives exactly at T.
        protocol: "paper", or "quick" for fewer steps.
    """

    op: str = "instruct"
    reward: str = "graded"
    protocol: str = "paper"

    name = "grid-world"
    ops = tuple(AGENTS)
    models: ClassVar[tuple[str, ...]] = ("none", "nac")
    stack_recipe = "published"
    usual_seeds: ClassVar[Mapping[str, int]] = {"quick": 3, "paper": 10}
    actions = len(rules.ACTIONS)
    steps = LIMIT
    chances = 3
    in_features = 1
    batch_size: ClassVar[int] = 256
    seconds_per_step = 0.1
    updates: ClassVar[Mapping[str, int]] = {"quick": 6000, "paper": 40_000}
    measures = (Missed(), MissedByTime(instructions=TESTED), Arrivals(instructions=TESTED, limit=TEST_LIMIT))

    def __post_init__(self) -> None:
        check_choice("op", self.op, self.ops)
        check_choice("reward", self.reward, rules.REWARDS)
        check_choice("protocol", self.protocol, self.updates)

    # -- the model -------------------------------------------------------------------------------

    @property
    def input_shape(self) -> tuple[int, ...]:
        """A picture."""
        return (3, POINTS, POINTS)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """What the agent sees in a picture."""
        return (SEEN,)

    @property
    def target_shape(self) -> tuple[int, ...]:
        """The instruction, and whether it can be followed."""
        return (2,)

    @property
    def unit_features(self) -> tuple[int, int]:
        """What the unit takes and returns in this agent."""
        return agent_kind(self.op).unit_features

    @property
    def memory_size(self) -> int:  # type: ignore[override]
        """What this agent remembers."""
        return agent_kind(self.op).memory_size

    @property
    def recipe_op(self) -> str:
        """The unit adds."""
        return "add"

    @property
    def input_names(self) -> list[str]:
        """What the unit takes."""
        return ["T"] if self.op == "instruct" else ["T", "tick"]

    def network(self, unit: nn.Module) -> nn.Module:
        """The agent."""
        return agent_kind(self.op)(unit, self.actions)

    # -- episodes --------------------------------------------------------------------------------

    def draws_in(self, split: str) -> int:
        """Uniform numbers per episode: those of the start, in training also one per action."""
        return self.draws if split == Split.TRAIN else self.chances

    def samples(self, split: str) -> int:
        """Episodes of a test: those of one block."""
        return self.block(split)

    def block(self, split: str) -> int:
        """As many episodes for each instruction."""
        return _PER_TIME * len(TRAINED if split == Split.VALIDATION else TESTED)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The largest instruction, and the time at which an episode ends."""
        tested = split in self.tests
        return {
            "latest": max(TESTED if tested else TRAINED),
            "limit": TEST_LIMIT if split != Split.TRAIN else LIMIT,
        }

    def constants(self, split: str) -> dict[str, Tensor]:
        """All pictures."""
        return {"pictures": as_input(all_pictures())}

    def start(self, u: Tensor, numbers: Numbers) -> State:
        """Squares and instructions; in a test every instruction occurs equally often."""
        times = numbers["latest"] - (min(TRAINED) - 1)
        place = u[:, 2] * times[:, None]
        if "block" in numbers:
            place = torch.arange(u.shape[-1], device=u.device) % times[:, None]
        told = min(TRAINED) + place.long()
        begun = rules.start(u[:, 0], u[:, 1], told)
        away = rules.distance(begun["agent"], begun["target"])
        return {**begun, "away": away, "limit": numbers["limit"][:, None]}

    def look(self, predict: Predict, numbers: Numbers) -> State:
        """What the agent sees in each of the 625 pictures."""
        return {"seen": predict(numbers["pictures"].to(numbers["latest"].dtype)[None])}

    def view(self, state: State) -> tuple[Tensor, ...]:
        """What is seen, and the instruction with a mark at the first step."""
        index = number(state["agent"], state["target"])
        seen = state["seen"][0][index[0]][None]  # the loop has one model
        first = (state["time"] == 0).to(seen.dtype)
        return seen, torch.stack([state["instruction"].to(seen.dtype), first], -1)

    def act(self, state: State, action: Tensor) -> tuple[State, Tensor]:
        """The rules of the grid world."""
        return rules.step(state, action, state["limit"], self.reward)

    def outcome(self, state: State) -> tuple[Tensor, Tensor]:
        """The time of arrival; the instruction, and whether it could be followed."""
        dtype = state["seen"].dtype
        can = state["away"] <= state["instruction"]
        about = torch.stack([state["instruction"].to(dtype), can.to(dtype)], -1)
        return rules.arrival(state)[..., None].to(dtype), about

    # -- training and results --------------------------------------------------------------------

    @property
    def iterations(self) -> int:
        """Steps of the optimiser."""
        return self.updates[self.protocol]

    @property
    def log_interval(self) -> int:  # type: ignore[override]
        """A fortieth of training."""
        return self.iterations // 40

    def adapt(self, recipe: Recipe) -> Recipe:
        """The task's optimiser, batch and steps, without penalties; a loop with checkpoints.

        The layer after the unit can take its output in any scale, so that nothing draws weights to 1: a
        penalty on weights between 0 and 1 drew those of a NAU that had learnt to count, -0.31 and 0.31, to 0.
        """
        if isinstance(recipe.optimiser, LevenbergMarquardt):
            expected = f"one that trains step by step: the agents of {self.name} learn from episodes"
            raise ArgumentError("recipe", expected, "second-order")
        steps = self.iterations
        return replace(
            recipe,
            optimiser=Falling(Adam(1e-3), 0.5 * steps, float(steps)),
            clip_norm=ClipNorm(0.5),
            batch_size=self.batch_size,
            iterations=steps,
            penalties=(),
            by="loop",
        )

    def reduced(self) -> Self:
        """The task with fewer steps."""
        return replace(self, protocol="quick")

    def shape(self) -> Hashable:
        """All fields: runs train one after the other."""
        return (type(self), *(getattr(self, field.name) for field in fields(self)))

    def identity(self) -> dict[str, Any]:
        """The operation, and the fields that are not defaults."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return {"name": self.name, "op": self.op, **own}

    def labels(self) -> dict[str, str | int]:
        """What the unit does, and what is not usual."""
        identity = self.identity()
        return {name: identity[name] for name in ("op", "reward", "protocol") if name in identity}

    def about(self) -> dict[str, Any]:
        """Labels and operation: there are no ranges."""
        return {**super().about(), "op": self.op}

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Task:
        """The task of a stored run."""
        known = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in identity.items() if name in known})

    @classmethod
    def variants(cls) -> list[Task]:
        """The agent of the paper; the one that counts, if it is asked for by `--op`."""
        return [cls(op) for op in cls.ops]

    def facets(self) -> tuple[Facet, ...]:
        """One row for each instruction."""
        return tuple(Facet({"T": time}, "test/missed_by_time", k) for k, time in enumerate(TESTED))
