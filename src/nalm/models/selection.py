r"""Selecting one of several numbers in the forward pass with the gradient of a soft selection.

Straight-through softmax: a one-hot vector of the largest logit, with the gradient of
:math:`\mathrm{softmax}(w / \tau)`. Straight-through Gumbel softmax: the same for :math:`w_i + z_i` with
:math:`z_i = -\ln(-\ln u_i)` and uniform :math:`u_i` (equation 7.2). Softargmax, the index itself in soft form
(equation 7.3):

.. math:: \mathrm{softargmax}(y) = \sum_{i=1}^K \frac{e^{y_i/\tau}}{\sum_j e^{y_j/\tau}}\, i

Module selection (algorithm 1), of outputs :math:`x`, with a learnt gate :math:`g_{ml}` between the
deterministic and the stochastic selection:

.. math::
    p = \sigma(g_{ml}), \qquad m_d = x \cdot \mathrm{st\_softmax}(w, \tau), \qquad
    m_s = x \cdot \mathrm{st\_gumbel\_softmax}(w, \tau), \\
    \mathrm{soft} = p\, m_d + (1 - p)\, m_s, \qquad
    \mathrm{hard} = [p > 0.5]\, m_d + [p \le 0.5]\, m_s

Thesis, section 7.2.5; Bengio et al. 2013; Jang et al. 2017; Maddison et al. 2017. Evaluation uses the
deterministic selection alone.

Deviations: the text of the thesis and its algorithm 1 contradict each other. The text writes
`(hard - soft).detach() + soft`, so that all gradients come from the soft result (`gradient="soft"`, the
default); line 13 of the algorithm detaches only the soft result, `hard - soft.detach() + soft`, so that the
gradients of the hard result are added (`gradient="both"`). Both are computed as `hard + (soft -
soft.detach())`, whose value is exactly that of the hard result. Equal logits select the first of them, which
the thesis leaves open. One vector of noise serves all rows of a batch, because the algorithm's weights have
no axis of samples. Softmax and one-hot vectors are written as elementary operations, which the engine's loop
knows.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from nalm.units._functional import weighted_sum

TEMPERATURE = 10.0
"""Algorithm 1: by how much logits are damped."""
THRESHOLD = 0.5
"""The probability from which on the deterministic selection is used."""
GRADIENTS = ("soft", "both")
"""Which results of algorithm 1 have gradients: the soft one (text), or the hard one too (line 13)."""


def straight_through(hard: Tensor, soft: Tensor, gradient: str = "soft") -> Tensor:
    """The value of `hard` with the gradient of `soft`, or with the sum of both gradients."""
    return (hard if gradient == "both" else hard.detach()) + (soft - soft.detach())


def one_hot_argmax(logits: Tensor) -> Tensor:
    """1 at the largest of the last axis and 0 elsewhere, without gradient; of equals the first is taken."""
    each = logits.detach().unbind(-1)
    top = functools.reduce(torch.maximum, each)
    taken, hot = torch.zeros_like(top, dtype=torch.bool), []
    for one in each:
        here = torch.logical_and(one == top, torch.logical_not(taken))
        taken = torch.logical_or(taken, here)
        hot.append(here.to(logits.dtype))
    return torch.stack(hot, -1)


def softmax(logits: Tensor, temperature: float = 1.0) -> Tensor:
    """exp(logits / temperature), divided by their sum along the last axis."""
    scaled = logits / temperature
    top = functools.reduce(torch.maximum, scaled.detach().unbind(-1))
    size = torch.exp(scaled - top[..., None])
    return size / size.sum(-1, keepdim=True)


def st_softmax(logits: Tensor, temperature: float = 1.0) -> Tensor:
    """One-hot vector of the largest logit with the gradient of the softmax, along the last axis."""
    return straight_through(one_hot_argmax(logits), softmax(logits, temperature))


def gumbel(u: Tensor) -> Tensor:
    """Standard Gumbel variates made of uniform numbers in [0, 1)."""
    return -torch.log(-torch.log(u.clamp(min=torch.finfo(u.dtype).tiny)))


def st_gumbel_softmax(logits: Tensor, u: Tensor, temperature: float = 1.0) -> Tensor:
    """`st_softmax` of logits with Gumbel noise, made of uniform numbers `u` of the same shape."""
    return st_softmax(logits + gumbel(u), temperature)


def softargmax(logits: Tensor, temperature: float = 1.0) -> Tensor:
    """The index of the largest of the last axis, counted from 1, in soft form (equation 7.3)."""
    places = torch.arange(1, logits.shape[-1] + 1, dtype=logits.dtype, device=logits.device)
    return (softmax(logits, temperature) * places).sum(-1)


def select_in_training(
    outputs: Tensor, logits: Tensor, g_ml: Tensor, u: Tensor, *, gradient: str = "soft"
) -> Tensor:
    """Algorithm 1: one of the modules' outputs, `*batch x n x 1`.

    Args:
        outputs: the modules' outputs, `*batch x n x modules`.
        logits: the modules' logits, `*batch x modules`.
        g_ml: the logit of the deterministic selection, `*batch`.
        u: uniform numbers for the noise, `*batch x modules`.
        gradient: "soft" or "both", see the module's docstring.
    """
    p = torch.sigmoid(g_ml)[..., None, None]
    certain = (p > THRESHOLD).to(p.dtype)
    drawn = st_gumbel_softmax(logits, u, TEMPERATURE)
    m_det = weighted_sum(outputs, st_softmax(logits, TEMPERATURE)[..., None, :])
    m_stoch = weighted_sum(outputs, drawn[..., None, :])
    soft = p * m_det + (1 - p) * m_stoch
    hard = certain * m_det + (1 - certain) * m_stoch
    return straight_through(hard, soft, gradient)


def select_in_evaluation(outputs: Tensor, logits: Tensor) -> Tensor:
    """The output of the module with the largest logit, `*batch x n x 1`; the others may even be infinite."""
    chosen = one_hot_argmax(logits)[..., None, :] > 0
    return torch.where(chosen, outputs, 0.0).sum(-1, keepdim=True)
