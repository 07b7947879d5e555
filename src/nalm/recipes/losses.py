"""Losses: one value per model from predictions and targets of shape `models x n x out`.

Several outputs are averaged. Selection and testing do not use the loss: they use the task's decisive error,
by default the mean squared error.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from nalm.recipes.schedules import STEPS, StepState


class Loss:
    """Base of all losses."""

    def __call__(self, prediction: Tensor, target: Tensor, now: StepState) -> Tensor:
        """The loss of each model, shape `models`."""
        raise NotImplementedError


@dataclass(frozen=True)
class MSE(Loss):
    """Mean squared error."""

    def __call__(self, prediction: Tensor, target: Tensor, now: StepState) -> Tensor:
        """The loss of each model, shape `models`."""
        return (prediction - target).square().mean((-2, -1))


@dataclass(frozen=True)
class MAE(Loss):
    """Mean absolute error; the gradient of a sample without error is zero."""

    def __call__(self, prediction: Tensor, target: Tensor, now: StepState) -> Tensor:
        """The loss of each model, shape `models`."""
        return (prediction - target).abs().mean((-2, -1))


@dataclass(frozen=True)
class RMSE(Loss):
    """Root mean squared error; the gradient of a model without error is zero."""

    def __call__(self, prediction: Tensor, target: Tensor, now: StepState) -> Tensor:
        """The loss of each model, shape `models`."""
        mse = (prediction - target).square().mean((-2, -1))
        exact = mse == 0
        # The inner `where` keeps the square root's infinite slope at 0 out of the gradient.
        return torch.where(exact, torch.zeros_like(mse), torch.where(exact, torch.ones_like(mse), mse).sqrt())


@dataclass(frozen=True)
class CrossEntropy(Loss):
    """Mean of -log softmax(prediction) at the target's class, which is given as a one-hot vector."""

    def __call__(self, prediction: Tensor, target: Tensor, now: StepState) -> Tensor:
        """The loss of each model, shape `models`."""
        return -(prediction.log_softmax(-1) * target).sum(-1).mean(-1)


@dataclass(frozen=True)
class MAPE(Loss):
    """Mean of abs(y - prediction) / abs(y) (thesis, equation 6.5).

    Deviation: the thesis prints y in the denominator; with negative targets that rewards errors, so the
    absolute value is taken.
    """

    def __call__(self, prediction: Tensor, target: Tensor, now: StepState) -> Tensor:
        """The loss of each model, shape `models`."""
        return ((prediction - target).abs() / target.abs()).mean((-2, -1))


@dataclass(frozen=True)
class PCC(Loss):
    """1 - r with Pearson's correlation r over the batch (thesis, equations 6.3 and 6.4; epsilon is ours)."""

    epsilon: float = 1e-8

    def __call__(self, prediction: Tensor, target: Tensor, now: StepState) -> Tensor:
        """The loss of each model, shape `models`."""
        correlation = (self._standardised(prediction) * self._standardised(target)).mean(-2)
        return (1 - correlation).mean(-1)

    def _standardised(self, y: Tensor) -> Tensor:
        epsilon = torch.as_tensor(self.epsilon, dtype=y.dtype, device=y.device).reshape(-1, 1, 1)
        centred = y - y.mean(-2, keepdim=True)
        deviation = torch.maximum(centred.square().mean(-2, keepdim=True), epsilon).sqrt()
        return centred / (deviation + epsilon)


@dataclass(frozen=True)
class PCCThenMSE(Loss):
    """PCC before the step `switch`, MSE from then on (thesis, section 6.3)."""

    switch: float = field(default=750_000.0, metadata=STEPS)
    epsilon: float = 1e-8

    def timing(self) -> str:
        """When it acts, in words."""
        return f"switches to MSE at step {self.switch:,.10g}"

    def missed(self, steps: int) -> str:
        """What of it does not happen within `steps` steps, in words; empty if everything does."""
        return f"never switches to MSE: it {self.timing()}" if steps <= self.switch else ""

    def __call__(self, prediction: Tensor, target: Tensor, now: StepState) -> Tensor:
        """The loss of each model, shape `models`."""
        pcc = PCC(self.epsilon)(prediction, target, now)
        return torch.where(now.step < self.switch, pcc, MSE()(prediction, target, now))
