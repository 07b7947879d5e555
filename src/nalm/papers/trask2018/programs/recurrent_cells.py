"""Recurrent cells with a model axis, as pure functions: x `models x n x inputs`, state `models x n x size`.

LSTM, GRU and simple networks as torch defines and initialises them, with a linear layer that reads the last
state. NAC and NALU as cells: a unit maps the input concatenated with the old state to the new state, and a
second unit reads the last state (Trask et al. 2018, section 4.1 and appendix B).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nalm.recipes.initialisers import Initialiser, Uniform
from nalm.streams import Purpose, counters, key, uniform
from nalm.units import NAC, NALU
from nalm.units.nac import nac_weight
from nalm.units.nac_mul import EPSILON

Parameters = dict[str, Tensor]
State = tuple[Tensor, ...]
"""The parts of a state, each `models x n x size`; the first part is read."""
Layer = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Model:
    """A cell and the layer that reads its last state, with their parameters."""

    start: Callable[[int, int], State]
    step: Callable[[Tensor, State], State]
    read: Layer


@dataclass(frozen=True)
class RecurrentKind:
    """A kind of recurrent model.

    Attributes:
        declared: the shape and initialiser of each parameter.
        make: makes the model from parameters `models x ...`.
    """

    declared: dict[str, tuple[tuple[int, ...], Initialiser]]
    make: Callable[[Parameters], Model]

    def initial(self, seeds: Tensor, dtype: torch.dtype = torch.float32) -> Parameters:
        """Initial parameters, each model's from its own seed alone."""
        return {
            name: initialiser(uniform(key(seeds, Purpose.INIT, 0, part), counters(*shape), dtype))
            for part, (name, (shape, initialiser)) in enumerate(self.declared.items())
        }


def _affine(weight: Tensor, bias: Tensor) -> Layer:
    return lambda x: torch.baddbmm(bias[:, None], x, weight.mT)


def _zeros(parameters: Parameters, size: int, parts: int) -> Callable[[int, int], State]:
    like = next(iter(parameters.values()))
    return lambda models, n: (like.new_zeros(models, n, size),) * parts


Update = Callable[[Tensor, Tensor, State], State]
"""Computes the next state from the input's and the old state's contributions to the gates."""


def _lstm(x: Tensor, h: Tensor, state: State) -> State:
    i, f, g, o = (x + h).chunk(4, -1)
    c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def _gru(x: Tensor, h: Tensor, state: State) -> State:
    (xr, xz, xn), (hr, hz, hn) = x.chunk(3, -1), h.chunk(3, -1)
    z = torch.sigmoid(xz + hz)
    new = torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
    return ((1 - z) * new + z * state[0],)


def _tanh(x: Tensor, h: Tensor, state: State) -> State:
    return (torch.tanh(x + h),)


def _relu(x: Tensor, h: Tensor, state: State) -> State:
    return (torch.relu(x + h),)


def _gated(update: Update, gates: int, parts: int, inputs: int, size: int) -> RecurrentKind:
    """A network as in torch: all parameters start from a uniform distribution within 1 / sqrt(size)."""
    bound = Uniform(-1 / math.sqrt(size), 1 / math.sqrt(size))
    shapes = {
        "weight_x": (gates * size, inputs),
        "weight_h": (gates * size, size),
        "bias_x": (gates * size,),
        "bias_h": (gates * size,),
        "read": (1, size),
        "shift": (1,),
    }

    def make(p: Parameters) -> Model:
        of_x, of_h = _affine(p["weight_x"], p["bias_x"]), _affine(p["weight_h"], p["bias_h"])
        return Model(
            _zeros(p, size, parts),
            lambda x, state: update(of_x(x), of_h(state[0]), state),
            _affine(p["read"], p["shift"]),
        )

    return RecurrentKind({name: (shape, bound) for name, shape in shapes.items()}, make)


def _nac_layer(p: Parameters, part: str) -> Layer:
    weight = nac_weight(p[f"{part}.w_hat"], p[f"{part}.m_hat"]).mT
    return lambda x: torch.bmm(x, weight)


def _nalu_layer(p: Parameters, part: str) -> Layer:
    weight, gate = nac_weight(p[f"{part}.w_hat"], p[f"{part}.m_hat"]).mT, p[f"{part}.gate"].mT

    def apply(x: Tensor) -> Tensor:
        g = torch.sigmoid(torch.bmm(x, gate))
        product = torch.exp(torch.bmm(torch.log(x.abs() + EPSILON), weight))
        return g * torch.bmm(x, weight) + (1 - g) * product

    return apply


def _of_units(
    unit: type[NAC] | type[NALU], layer: Callable[[Parameters, str], Layer], inputs: int, size: int
) -> RecurrentKind:
    declared = {}
    for part, built in (("cell", unit(inputs + size, size)), ("read", unit(size, 1))):
        for name, initialiser in built.initialisers.items():
            declared[f"{part}.{name}"] = (tuple(built.get_parameter(name).shape), initialiser)

    def make(p: Parameters) -> Model:
        cell = layer(p, "cell")
        return Model(
            _zeros(p, size, 1),
            lambda x, state: (cell(torch.cat([x, state[0]], -1)),),
            layer(p, "read"),
        )

    return RecurrentKind(declared, make)


class RecurrentNetwork(nn.Module):
    """A model of a kind as a module: sequences `n x time x inputs` to `n x 1`.

    Args:
        kind: the name of the kind.
        size: number of values in its state.
        inputs: number of inputs per step of a sequence.
    """

    def __init__(self, kind: str, size: int, inputs: int) -> None:
        super().__init__()
        self.kind = kinds(inputs, size)[kind]
        for name, (shape, _) in self.kind.declared.items():
            part, _, own = name.rpartition(".")
            if part and part not in self._modules:
                self.add_module(part, nn.Module())
            self.get_submodule(part).register_parameter(own, nn.Parameter(torch.zeros(shape)))

    def forward(self, x: Tensor) -> Tensor:
        """The output that is read from the last state."""
        model = self.kind.make({name: p[None] for name, p in self.named_parameters()})
        state = model.start(1, len(x))
        for now in x.unbind(1):
            state = model.step(now[None], state)
        return model.read(state[0])[0]


def kinds(inputs: int, size: int) -> dict[str, RecurrentKind]:
    """The six models of tables 8 and 9, in their order."""
    return {
        "LSTM": _gated(_lstm, 4, 2, inputs, size),
        "GRU": _gated(_gru, 3, 1, inputs, size),
        "RNN-tanh": _gated(_tanh, 1, 1, inputs, size),
        "RNN-ReLU": _gated(_relu, 1, 1, inputs, size),
        "NAC": _of_units(NAC, _nac_layer, inputs, size),
        "NALU": _of_units(NALU, _nalu_layer, inputs, size),
    }
