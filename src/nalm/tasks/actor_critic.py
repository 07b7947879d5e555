r"""Agents with a memory and a critic: advantage actor-critic over whole episodes, many side by side.

.. math::
    L = \frac{1}{n} \sum_{episodes} \sum_t \left( -\log \pi(a_t) A_t - \beta H(\pi_t) + \kappa A_t^2 \right),
    \quad A_t = R_t - V_t

where :math:`R_t` is the sum of rewards from step t on, :math:`V_t` the critic's value, :math:`H` the entropy,
and the gradient of the first term does not pass through :math:`A_t` (Mnih et al. 2016).

Deviation: A3C runs episodes in asynchronous processes; here the episodes of a batch run side by side and end
in one step of the optimiser, so that a run depends on its seed alone. There is no discount, because episodes
are short.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nalm.recipes import Loss, StepState
from nalm.tasks._base import Numbers, Predict
from nalm.tasks.environment import EnvironmentTask, State, sampled


class ActorCriticTask(EnvironmentTask):
    """Base of tasks with an environment whose agent remembers.

    The model turns observation and memory into scores, a value and the new memory, side by side. A state has
    `done`, `models x n`: nothing happens any more in an episode that is over.
    """

    memory_size: int
    """Number of values in the memory, which are 0 at the start."""
    entropy: float = 0.01
    critic: float = 0.5

    def look(self, predict: Predict, numbers: Numbers) -> State:
        """What the model computes once for all episodes of a batch; it is added to their state."""
        return {}

    def view(self, state: State) -> tuple[Tensor, ...]:
        """What the model takes at a step besides its memory, each `models x n x ...`."""
        return (self.observe(state),)

    def limit(self, numbers: Numbers) -> int:
        """The most steps of an episode."""
        return self.steps

    def outcome(self, state: State) -> tuple[Tensor, Tensor]:
        """What `measures` compare, of episodes that are over."""
        raise NotImplementedError

    def objective(self, predict: Predict, u: Tensor, numbers: Numbers, loss: Loss, now: StepState) -> Tensor:
        """The loss of actor and critic over episodes in which actions are sampled."""
        state = self.start(u[:, : self.chances], numbers) | self.look(predict, numbers)
        memory = self._no_memory(u)
        steps: list[tuple[Tensor, ...]] = []
        for step in range(self.steps):
            if bool(state["done"].all()):
                break
            scores, value, memory = self._answer(predict, state, memory)
            logs = scores.log_softmax(-1)
            action = sampled(logs.detach().exp(), u[:, self.chances + step])
            likelihood = logs.gather(-1, action[..., None])[..., 0]
            entropy = -(logs.exp() * logs).sum(-1)
            alive = ~state["done"]
            state, reward = self.act(state, action)
            steps.append((likelihood, entropy, value, alive.to(value.dtype), reward.to(value.dtype)))
        return self._loss(*(torch.stack(each) for each in zip(*steps)))

    def _loss(
        self, likelihood: Tensor, entropy: Tensor, value: Tensor, alive: Tensor, reward: Tensor
    ) -> Tensor:
        """The loss from tensors `steps x models x n`, shape `models`."""
        advantage = reward.flip(0).cumsum(0).flip(0) - value
        gain = likelihood * advantage.detach() + self.entropy * entropy
        return ((self.critic * advantage.square() - gain) * alive).sum(0).mean(-1)

    def played(self, predict: Predict, u: Tensor, numbers: Numbers) -> State:
        """Episodes in which the agent takes its likeliest action, when they are over."""
        state = self.start(u[:, : self.chances], numbers) | self.look(predict, numbers)
        memory = self._no_memory(u)
        while not bool(state["done"].all()):
            scores, _, memory = self._answer(predict, state, memory)
            state, _ = self.act(state, scores.argmax(-1))
        return state

    def totals(self, predict: Predict, u: Tensor, numbers: Numbers) -> list[Tensor]:
        """For each of `measures`, its sum over episodes in which the agent takes its likeliest action."""
        ours, best = self.outcome(self.played(predict, u, numbers))
        return [measure.total(ours, best) for measure in self.measures]

    def _no_memory(self, u: Tensor) -> Tensor:
        return u.new_zeros(u.shape[0], u.shape[-1], self.memory_size)

    def _answer(self, predict: Predict, state: State, memory: Tensor) -> Any:
        """Scores, value and the new memory."""
        scores, value, after = predict((*self.view(state), memory)).split(
            [self.actions, 1, self.memory_size], -1
        )
        return scores, value[..., 0], after
