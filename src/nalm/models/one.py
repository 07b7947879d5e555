"""One model at a time, applied as it is, for networks that are too large to compute side by side."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.func import functional_call

from nalm.models.many import DRAWING, WITH_STATISTICS, Models, Parameters, mixing_module
from nalm.units._base import units_of

_OF_THE_NETWORK = 1 << 16
"""The part of the noise stream that seeds torch's generator; the parts of units are their indices."""
_PER_TIME = 1 << 17
"""How far apart the parts are that a unit uses when it is applied several times per step."""


class OneModel(Models):
    """An architecture that is applied with parameters `1 x ...`, without a model axis.

    Modules that draw random numbers, such as dropout, are allowed: torch's generator is seeded before every
    step from the run's own stream, so that a step can be repeated.
    """

    refused: ClassVar[tuple[type[nn.Module], ...]] = WITH_STATISTICS
    single: ClassVar[bool] = True

    def __init__(self, model: nn.Module, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(model, dtype, device)
        self.draws = mixing_module(model, DRAWING) is not None

    def predict(
        self,
        parameters: Parameters,
        x: Tensor | tuple[Tensor, ...],
        source: Callable[[int], Any] | None = None,
    ) -> Tensor:
        """Apply the model: x `1 x n x ...` to `1 x n x ...`; see `Models.predict`.

        A network of a task may take several inputs, each with the leading axis of one model.
        """
        if self.native and isinstance(x, Tensor):
            return super().predict(parameters, x, source)
        inputs = (x,) if isinstance(x, Tensor) else x
        self.skeleton.train(source is not None)
        units = units_of(self.skeleton) if source is not None else []
        for index, unit in enumerate(units):
            unit.uniform_source = _of_one(source, index)  # type: ignore[arg-type]
        held = {name: p[0] for name, p in parameters.items()}
        try:
            with self._seeded(source, inputs[0].device):
                return functional_call(
                    self.skeleton, held, tuple(each[0] for each in inputs), tie_weights=self.tied
                )[None]
        finally:
            for unit in units:
                unit.uniform_source = None

    @contextlib.contextmanager
    def _seeded(self, source: Callable[[int], Any] | None, device: torch.device) -> Iterator[None]:
        """Seed torch's generator from the stream of this step, and restore its state afterwards."""
        if source is None or not self.draws:
            yield
            return
        u = source(_OF_THE_NETWORK)(torch.Size((1, 1)), torch.float64, device)
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(u.item() * 2**53))
            yield


def _of_one(
    source: Callable[[int], Any], unit: int
) -> Callable[[torch.Size, torch.dtype, torch.device], Tensor]:
    """A source of noise for a unit without a model axis.

    A recurrent cell applies its unit several times per step: each time draws other numbers.
    """
    times = itertools.count()

    def draw(shape: torch.Size, dtype: torch.dtype, device: torch.device) -> Tensor:
        part = unit + next(times) * _PER_TIME
        drawn: Tensor = source(part)(torch.Size((1, *shape)), dtype, device)
        return drawn[0]

    return draw
