r"""The four layers that the iNALU's authors compare (Schlör, Ring, Hotho 2020, section 3), as pure functions.

With the weights of the NAC, :math:`W = \tanh \hat W \odot \sigma(\hat M)`, and without biases:

- NALU: :math:`a = W x`, :math:`m = \exp(W \log(|x| + \epsilon))`, :math:`y = g a + (1 - g) m` with
  :math:`g = \sigma(G x)`. The matrix gate has one row of G for every output, the vector gate one for all.
- iNALU: :math:`m = \exp(\min(W \log \max(|x|, \epsilon), 20))` with the sign
  :math:`s_o = \prod_i (\mathrm{sign}(x_i) |W_{oi}| + 1 - |W_{oi}|)`, and :math:`g = \sigma(G)` independent of
  the input: :math:`y = g a + (1 - g) m s`. Product and sign share W with the sum, or have their own weights.

Shapes: x is `datasets x 1 or tasks x in x samples`, weights are `datasets x tasks x out x in`, so that many
models train side by side, several of them on the same inputs.

Deviations: where a layer has several outputs, the authors' program orders the weights of the sign differently
from those of the product; here, as in the paper, both belong to the same inputs.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Tensors = dict[str, Tensor]

_EPSILON = 1e-7
_CAP = 20.0
_FEW = 4
"""Sums over up to this many inputs are written out, so that the compiler fuses them with what follows."""
_TINY = 1e-30


@dataclass(frozen=True)
class LayerKind:
    """A kind of layer.

    Attributes:
        name: its name in the authors' tables.
        gate: the shape of G for given numbers of inputs and outputs.
        pairs: number of pairs of W^ and M^.
        output: computes y from x, the weights and G.
    """

    name: str
    gate: Callable[[int, int], tuple[int, int]]
    pairs: int
    output: Callable[[Tensor, list[Tensor], Tensor], Tensor]

    def shapes(self, sizes: tuple[int, ...]) -> dict[str, tuple[int, int]]:
        """The shapes of the variables of layers of these sizes, by name: `out x in`."""
        made: dict[str, tuple[int, int]] = {}
        for layer, (n_in, n_out) in enumerate(itertools.pairwise(sizes)):
            for pair in range(self.pairs):
                made |= {f"w{layer}{pair}": (n_out, n_in), f"m{layer}{pair}": (n_out, n_in)}
            made[f"g{layer}"] = self.gate(n_in, n_out)
        return made

    def forward(self, variables: Tensors, x: Tensor) -> Tensor:
        """The output of all layers: `datasets x tasks x out x samples`."""
        for layer in range(sum(name.startswith("g") for name in variables)):
            pairs = [(variables[f"w{layer}{k}"], variables[f"m{layer}{k}"]) for k in range(self.pairs)]
            weights = [torch.tanh(w) * torch.sigmoid(m) for w, m in pairs]
            x = self.output(x, weights, variables[f"g{layer}"])
        return x


def _nalu(x: Tensor, weights: list[Tensor], gate: Tensor) -> Tensor:
    (weight,) = weights
    g = torch.sigmoid(_sum(x, gate))
    return g * _sum(x, weight) + (1 - g) * torch.exp(_sum(torch.log(x.abs() + _EPSILON), weight))


def _inalu(x: Tensor, weights: list[Tensor], gate: Tensor) -> Tensor:
    g = torch.sigmoid(gate)
    logs = torch.log(x.abs().clamp(min=_EPSILON))
    product = torch.exp(_sum(logs, weights[-1]).clamp(max=_CAP)) * sign(x, weights[-1])
    return g * _sum(x, weights[0]) + (1 - g) * product


def _sum(x: Tensor, weight: Tensor) -> Tensor:
    """Weighted sums of the inputs: `datasets x tasks x out x samples`."""
    n_in = x.shape[-2]
    if n_in <= _FEW:
        return functools.reduce(torch.add, (weight[..., i, None] * x[..., i, None, :] for i in range(n_in)))
    # All tasks have the same inputs: one matrix product per dataset.
    return torch.matmul(weight.flatten(1, 2), x[:, 0]).unflatten(1, weight.shape[1:3])


def sign(x: Tensor, weight: Tensor) -> Tensor:
    """The sign of the product, in [-1, 1]: inputs below 0 multiply it by 1 - 2|W|, others leave it unchanged.

    Many factors are multiplied by adding their logarithms, which needs only matrix products. There an exact 0
    is replaced by a tiny number, so that its gradient is the product of the other factors, as it should be.
    """
    negative, factor = (x < 0).to(x.dtype), 1 - 2 * weight.abs()
    if x.shape[-2] <= _FEW:
        each = (1 + (factor[..., i, None] - 1) * negative[..., i, None, :] for i in range(x.shape[-2]))
        return functools.reduce(torch.mul, each)
    safe = factor + _TINY * (factor == 0)
    odd = torch.remainder(_sum(negative, (safe < 0).to(x.dtype)), 2)
    return torch.exp(_sum(negative, safe.abs().log())) * (1 - 2 * odd)


KINDS: tuple[LayerKind, ...] = (
    LayerKind("NALU(matrix gate)", lambda n_in, n_out: (n_out, n_in), 1, _nalu),
    LayerKind("NALU(vector gate)", lambda n_in, n_out: (1, n_in), 1, _nalu),
    LayerKind("iNALU(shared W)", lambda n_in, n_out: (n_out, 1), 1, _inalu),
    LayerKind("iNALU(independent W)", lambda n_in, n_out: (n_out, 1), 2, _inalu),
)
"""The kinds of layers, in the order of the authors' tables."""
