"""What happens to gradients between the backward pass and the optimiser: clipping and noise, per model.

Gradients are a dictionary of tensors `models x ...`; numbers may be tensors with one value per model.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.recipes.model_axis import model_sums, per_model
from nalm.recipes.schedules import StepState

Gradients = dict[str, Tensor]


@dataclass(frozen=True)
class ClipNorm:
    """Scale a model's gradients so that their common 2-norm is at most `norm`."""

    norm: float

    def __call__(self, gradients: Gradients) -> Gradients:
        """The clipped gradients."""
        squares = [model_sums(g.square()) for g in gradients.values()]
        total = torch.stack(squares).sum(0).sqrt()
        # The same 1e-6 as torch.nn.utils.clip_grad_norm_.
        factor = (self.norm / (total + 1e-6)).clamp(max=1)
        return {name: g * per_model(factor, g) for name, g in gradients.items()}


@dataclass(frozen=True)
class ClipValue:
    """Clamp every gradient to [-bound, bound]."""

    bound: float

    def __call__(self, gradients: Gradients) -> Gradients:
        """The clipped gradients."""
        clipped = {}
        for name, g in gradients.items():
            bound = per_model(self.bound, g)
            clipped[name] = torch.minimum(torch.maximum(g, -bound), bound)
        return clipped


@dataclass(frozen=True)
class GradientNoise:
    """Add normal noise of variance eta / (1 + step) ** decay (thesis, section 4.3.2; Neelakantan 2015).

    Deviations: the thesis writes epoch where its runs have steps. The noise is added after clipping.
    """

    eta: float = 1.0
    decay: float = 0.55

    def __call__(self, gradients: Gradients, noise: Gradients, now: StepState) -> Gradients:
        """The gradients with noise added; `noise` holds a standard normal number for each of them."""
        step = now.step.to(now.loss.dtype)
        deviation = (self.eta / (1 + step) ** self.decay).sqrt()
        return {name: g + per_model(deviation, g) * noise[name] for name, g in gradients.items()}
