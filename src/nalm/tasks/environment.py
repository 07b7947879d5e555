r"""An environment as a task: a policy acts in episodes instead of answering to inputs.

Everything is a pure function of uniform numbers, so that episodes are drawn from the same streams as all
data, many models act side by side, and a run that was interrupted resumes to the same bits. A subclass says
how an episode starts, what is observed, and what an action does.

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
"""What an episode knows, `models x n x ...` by name."""


class EnvironmentTask(Task):
    """Base of tasks with an environment. The model turns an observation into one score per action."""

    actions: ClassVar[int]
    """How many actions there are."""
    steps: ClassVar[int]
    """Steps of an episode."""
    chances: ClassVar[int] = 1
    """Uniform numbers per episode that the start takes."""
    measures: tuple[Measure, ...] = (Shortfall(),)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """One score per action."""
        return (self.actions,)

    @property
    def unit_features(self) -> tuple[int, int]:
        """From an observation to scores."""
        return self.in_features, self.actions

    @property
    def draws(self) -> int:
        """Those of the start, and one per action."""
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
        """The highest sum of rewards that an episode which starts so can have, `models x n`."""
        raise NotImplementedError

    def objective(self, predict: Predict, u: Tensor, numbers: Numbers, loss: Loss, now: StepState) -> Tensor:
        """Minus the log-likelihood of sampled actions, weighted by how much better than usual they were."""
        state = self.start(u[:, : self.chances], numbers)
        likelihoods, rewards = [], []
        for step in range(self.steps):
            logs = predict(self.observe(state)).log_softmax(-1)
            action = _sampled(logs.detach().exp(), u[:, self.chances + step])
            likelihoods.append(logs.gather(-1, action[..., None])[..., 0])
            state, reward = self.act(state, action)
            rewards.append(reward)
        to_come = torch.stack(rewards).flip(0).cumsum(0).flip(0)
        advantage = to_come - to_come.mean(-1, keepdim=True)
        return -(torch.stack(likelihoods) * advantage.detach()).sum(0).mean(-1)

    def totals(self, predict: Predict, u: Tensor, numbers: Numbers) -> list[Tensor]:
        """For each of `measures` its sum over episodes in which the policy takes its likeliest action."""
        state = self.start(u[:, : self.chances], numbers)
        best, total = self.best(state), torch.zeros_like(u[:, 0])
        for _ in range(self.steps):
            state, reward = self.act(state, predict(self.observe(state)).argmax(-1))
            total = total + reward
        return [measure.total(total[..., None], best[..., None]) for measure in self.measures]


def _sampled(likelihood: Tensor, u: Tensor) -> Tensor:
    """An action for every uniform number: likelihood `models x n x actions`, u `models x n`."""
    below = (likelihood.cumsum(-1) < u[..., None]).sum(-1)
    return below.clamp(max=likelihood.shape[-1] - 1)
