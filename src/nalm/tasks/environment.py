r"""An environment as a task: the model is a policy that acts in episodes.

Everything is a pure function of uniform numbers, so that episodes are drawn from the same streams as all
data, many models act side by side, and an interrupted run resumes to the same bits. A subclass defines how
an episode starts, what is observed, and what an action does.

.. math:: L = -\frac{1}{n} \sum_{episodes} \sum_t \log \pi(a_t | s_t) \, (R_t - \bar R_t)

where :math:`R_t` is the sum of rewards from step t on and :math:`\bar R_t` its mean over the episodes of a
batch (Williams 1992, REINFORCE with a baseline).
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from nalm.recipes import Loss, StepState
from nalm.tasks._base import Numbers, Predict, Task
from nalm.tasks.measures import Measure, Shortfall

State = dict[str, Tensor]
"""The state of episodes, `models x n x ...` by name."""


class EnvironmentTask(Task):
    """Base of tasks with an environment. The model turns an observation into one score per action."""

    actions: ClassVar[int]
    """The number of actions."""
    steps: ClassVar[int]
    """The number of steps of an episode."""
    chances: ClassVar[int] = 1
    """The number of uniform numbers per episode that the start takes."""
    measures: tuple[Measure, ...] = (Shortfall(),)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """One score per action."""
        return (self.actions,)

    @property
    def unit_features(self) -> tuple[int, int]:
        """The size of an observation, and the number of scores."""
        return self.in_features, self.actions

    @property
    def draws(self) -> int:
        """Uniform numbers per episode: those of the start, and one per action."""
        return self.chances + self.steps

    def start(self, u: Tensor, numbers: Numbers) -> State:
        """The state before the first step, from uniform numbers `models x chances x n`."""
        raise NotImplementedError

    def observe(self, state: State) -> Tensor:
        """What the policy sees, `models x n x *input_shape`."""
        raise NotImplementedError

    def act(self, state: State, action: Tensor) -> tuple[State, Tensor]:
        """The state after an action `models x n`, and the reward for it, of the same shape."""
        raise NotImplementedError

    def best(self, state: State) -> Tensor:
        """The highest possible sum of rewards of an episode with this start, `models x n`."""
        raise NotImplementedError

    def objective(self, predict: Predict, u: Tensor, numbers: Numbers, loss: Loss, now: StepState) -> Tensor:
        """Minus the log-likelihood of sampled actions, weighted by how much better than average they were."""
        state = self.start(u[:, : self.chances], numbers)
        likelihoods, rewards = [], []
        for step in range(self.steps):
            logs = predict(self.observe(state)).log_softmax(-1)
            action = sampled(logs.detach().exp(), u[:, self.chances + step])
            likelihoods.append(logs.gather(-1, action[..., None])[..., 0])
            state, reward = self.act(state, action)
            rewards.append(reward)
        to_come = torch.stack(rewards).flip(0).cumsum(0).flip(0)
        advantage = to_come - to_come.mean(-1, keepdim=True)
        return -(torch.stack(likelihoods) * advantage.detach()).sum(0).mean(-1)

    def totals(self, predict: Predict, u: Tensor, numbers: Numbers) -> list[Tensor]:
        """For each of `measures`, its sum over episodes in which the policy takes its likeliest action."""
        state = self.start(u[:, : self.chances], numbers)
        best, total = self.best(state), torch.zeros_like(u[:, 0])
        for _ in range(self.steps):
            state, reward = self.act(state, predict(self.observe(state)).argmax(-1))
            total = total + reward
        return [measure.total(total[..., None], best[..., None]) for measure in self.measures]


def sampled(likelihood: Tensor, u: Tensor) -> Tensor:
    """One action per uniform number: likelihood `models x n x actions`, u `models x n`."""
    below = (likelihood.cumsum(-1) < u[..., None]).sum(-1)
    return below.clamp(max=likelihood.shape[-1] - 1)
