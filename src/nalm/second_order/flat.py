"""Models as functions of one vector of parameters each, with their Jacobians.

Vectors are `members x parameters`: all members of a population are computed together.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from nalm.models.many import Models, Parameters
from nalm.units._base import Unit, units_of

BLOCK = 64 << 20
"""Bytes of a Jacobian held at once; more rows are processed in pieces."""


class Row(NamedTuple):
    """A row of a weight matrix: its unit, or None if it belongs to none, and its position in the vector."""

    unit: int | None
    place: slice


class Flat:
    """One architecture, its parameters laid out in one vector.

    Args:
        models: the architecture, in float64.
    """

    def __init__(self, models: Models) -> None:
        self.models = models
        self.shapes = models.shapes()
        self.sizes = [shape.numel() for shape in self.shapes.values()]
        self.size = sum(self.sizes)

    def flatten(self, parameters: Parameters) -> Tensor:
        """Vectors from parameters `members x ...` by name."""
        return torch.cat([p.reshape(len(p), -1) for p in (parameters[name] for name in self.shapes)], -1)

    def named(self, vectors: Tensor) -> Parameters:
        """Parameters `members x ...` by name from vectors."""
        parts = vectors.split(self.sizes, -1)
        return {name: p.reshape(-1, *s) for (name, s), p in zip(self.shapes.items(), parts, strict=True)}

    def rows(self) -> list[Row]:
        """The position of each row of each weight matrix; a parameter without rows counts as one row."""
        units = {path: k for k, path in enumerate(self._unit_paths())}
        found, at = [], 0
        for name, shape in self.shapes.items():
            unit = units.get(name.rpartition(".")[0])
            length = shape[-1] if len(shape) > 1 else shape.numel()
            found += [Row(unit, slice(at + k, at + k + length)) for k in range(0, shape.numel(), length)]
            at += shape.numel()
        return found

    def _unit_paths(self) -> list[str]:
        return [path for path, module in self.models.skeleton.named_modules() if isinstance(module, Unit)]

    def trainable(self) -> Tensor:
        """Which parameters may change: those that the user did not freeze. Shape `parameters`, bool."""
        frozen = set(self.models.frozen)
        parts = [torch.full((size,), name not in frozen) for name, size in zip(self.shapes, self.sizes)]
        return torch.cat(parts)

    def changed(self, vectors: Tensor, question: Callable[[nn.Module], Any]) -> Tensor:
        """The vectors after an in-place change of the models, such as snapping, except frozen parameters."""
        return torch.where(self.trainable(), self.changed_all(vectors, question), vectors)

    def changed_all(self, vectors: Tensor, question: Callable[[nn.Module], Any]) -> Tensor:
        """The vectors after an in-place change of the models, including frozen parameters."""
        parameters = {name: p.clone() for name, p in self.named(vectors).items()}
        self.models.apply(parameters, question)
        return self.flatten(parameters)

    def single(self, vector: Tensor) -> nn.Module:
        """A copy of the architecture with these parameters, without the member axis."""
        model = copy.deepcopy(self.models.skeleton)
        for name, value in self.named(vector[None]).items():
            path, _, own = name.rpartition(".")
            setattr(model.get_submodule(path), own, nn.Parameter(value[0].clone()))
        for unit in units_of(model):
            unit.batch_shape = torch.Size(())
        return model

    def predict(self, vectors: Tensor, x: Tensor) -> Tensor:
        """Apply all members to the same inputs: x `n x in`, result `members x n x out`."""
        return self.models.predict(self.named(vectors), x.expand(len(vectors), *x.shape))

    def jacobian(self, vectors: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Predictions `members x n x out` and their derivatives `members x n x out x parameters`.

        Every row of every member is treated as a separate model with one sample: one backward pass per
        output then gives the derivatives of all rows.
        """
        members, n = len(vectors), len(x)
        with torch.enable_grad():
            each = vectors[:, None].expand(-1, n, -1).reshape(members * n, -1).requires_grad_()
            single = x.expand(members, *x.shape).reshape(members * n, 1, -1)
            outputs = self.models.predict(self.named(each), single)[:, 0]
            columns = [
                torch.autograd.grad(output.sum(), each, retain_graph=True)[0] for output in outputs.unbind(-1)
            ]
        derivatives = torch.stack(columns, 1).reshape(members, n, -1, self.size)
        return outputs.detach().reshape(members, n, -1), derivatives

    def slopes(self, vector: Tensor, x: Tensor) -> Tensor:
        """Derivatives of one member's outputs by its inputs, `n x out x in`."""
        with torch.enable_grad():
            held = x.detach().clone().requires_grad_()
            outputs = self.predict(vector[None], held)[0]
            parts = [
                torch.autograd.grad(output.sum(), held, retain_graph=True, allow_unused=True)[0]
                for output in outputs.unbind(-1)
            ]
        return torch.stack([torch.zeros_like(x) if part is None else part for part in parts], 1)

    def effective(self, vectors: Tensor, x: Tensor) -> Tensor:
        """Which parameters have an effect on the output of any member. Shape `parameters`, bool."""
        _, derivatives = self.jacobian(vectors, x)
        return (derivatives != 0).flatten(0, 2).any(0)

    def pieces(self, members: int, rows: int, outputs: int) -> list[slice]:
        """Rows in pieces whose Jacobians fit into memory."""
        at_once = max(1, BLOCK // (8 * members * outputs * self.size))
        return [slice(k, k + at_once) for k in range(0, rows, at_once)]
