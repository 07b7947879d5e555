"""Sums that the units share. Shapes: x `*batch x n x in`, weight `*batch x out x in`.

Internally, samples are the last axis (`features x n`): a compiled program vectorises that axis, and a small
batched matrix product is fastest in this orientation (4 times, measured for 100 inputs). Transposes are
written `transpose(-1, -2)` and not `.mT`, which torch's older ONNX exporter does not support.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

UNROLLED = 20
"""Up to this many inputs (ten and their reciprocals), sums and products are written out so that they fuse."""


Inputs = Tensor | tuple[Tensor, ...]
"""Inputs `*batch x n x in` in one tensor or in several, which stay separate because joining does not fuse."""


def columns(x: Inputs) -> list[Tensor]:
    """The inputs one by one, each `*batch x 1 x n`."""
    parts = x if isinstance(x, tuple) else (x,)
    return [part.transpose(-1, -2)[..., i, None, :] for part in parts for i in range(part.shape[-1])]


def joined(x: Inputs) -> Tensor:
    """The inputs in one tensor."""
    return torch.cat(x, -1) if isinstance(x, tuple) else x


def weighted_sum(
    x: Tensor, weight: Tensor, of: Callable[..., Tensor] | None = None, *features: Tensor
) -> Tensor:
    """Sum over inputs of weight * of(x, *features). Shape `*batch x n x out`.

    Args:
        x: the inputs.
        weight: the weights.
        of: an elementwise function; by default the identity.
        features: further arguments of `of`, one value per input, each `*batch x in`.
    """
    if weight.dim() == 2:
        return F.linear(x if of is None else of(x, *features), weight)
    rows, inputs = x.transpose(-1, -2), weight.shape[-1]
    sides = [feature[..., None] for feature in features]

    def value(which: slice) -> Tensor:
        picked = rows[..., which, :]
        return picked if of is None else of(picked, *(side[..., which, :] for side in sides))

    if inputs > UNROLLED:
        return torch.matmul(weight, value(slice(None))).transpose(-1, -2)
    terms = [weight[..., i, None] * value(slice(i, i + 1)) for i in range(inputs)]
    return sum(terms[1:], terms[0]).transpose(-1, -2)


def cosine_of_sum(chosen: Inputs, angle: Tensor) -> Tensor:
    """Cosine of the sum of the angles of the chosen inputs. Shape `*batch x n x out`.

    Args:
        chosen: which inputs of each sample are included, bool, `*batch x n x in`.
        angle: an angle per output and input, `*batch x out x in`.
    """
    if angle.shape[-1] > UNROLLED:
        return torch.cos(weighted_sum(joined(chosen).to(angle.dtype), angle))
    if angle.shape[-1] == 1:
        return torch.where(columns(chosen)[0], torch.cos(angle), 1.0).transpose(-1, -2)
    # By the addition theorem: sine and cosine once per weight instead of once per sample and output.
    cosine, sine = torch.stack([torch.cos(angle), torch.sin(angle)]).unbind()
    real = imaginary = None
    for i, picked in enumerate(columns(chosen)):
        c = torch.where(picked, cosine[..., i, None], 1.0)
        s = torch.where(picked, sine[..., i, None], 0.0)
        if real is None or imaginary is None:
            real, imaginary = c, s
        else:
            real, imaginary = real * c - imaginary * s, real * s + imaginary * c
    assert real is not None
    return real.transpose(-1, -2)
