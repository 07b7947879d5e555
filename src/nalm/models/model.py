"""What a benchmark needs to know of a model, given as text on the command line or made by a paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from nalm.errors import ArgumentError
from nalm.models.many import Parameters, is_native, made_by_seed


class Model:
    """Base of descriptions of models: hashable, picklable, and with a text that identifies them in tables."""

    made_of_units: bool
    """Whether it consists of units, whose weights can be read."""
    is_single_unit: bool
    """Whether it is one unit, whose ideal weights may be known."""
    is_users: bool = False
    """Whether a part of it is a user's own unit."""

    @property
    def name(self) -> str:
        """Its name without options and recipe."""
        raise NotImplementedError

    @property
    def architecture(self) -> str:
        """Models with an equal architecture can be trained in one program."""
        raise NotImplementedError

    @property
    def all_options(self) -> dict[str, Any]:
        """Its options by name."""
        raise NotImplementedError

    def build(
        self, in_features: int, out_features: int, *, hidden: int = 2, batch_shape: Sequence[int] = ()
    ) -> nn.Module:
        """The module; `hidden` is the number of values between the units of a stack."""
        raise NotImplementedError

    def identity(self) -> list[dict[str, Any]]:
        """What determines its numbers, as plain data, one entry per layer."""
        raise NotImplementedError

    def recipe_name(self, of_stacks: str) -> str:
        """The name of its recipe; a stack takes the recipe `of_stacks` if it has it."""
        raise NotImplementedError

    def initial(self, build: Callable[[], nn.Module], seeds: Sequence[int]) -> Parameters | None:
        """Initial parameters `seeds x ...` of a network; None if the units' initialisers draw them."""
        return None if is_native(build()) else made_by_seed(build, seeds)

    def explain_failure(self, error: BaseException) -> BaseException:
        """The error itself, or a more informative one."""
        return error


@dataclass(frozen=True)
class GivenModel(Model):
    """A network that a package makes by a function, such as one of a paper. Its runs store its name.

    Attributes:
        given_name: the name, such as `heim2020:NPU`; a network that computes something else needs another.
        make: makes the network from the numbers of inputs and outputs; a module-level function, or a
            `functools.partial` of one, so that it can be sent to other processes.
        draw: returns initial parameters `seeds x ...` of the network; None for those that it is made with.
        options: pairs of name and value that distinguish it from others of its name.
    """

    given_name: str
    make: Callable[[int, int], nn.Module] = field(compare=False)
    draw: Callable[[nn.Module, Sequence[int]], Parameters] | None = field(default=None, compare=False)
    options: tuple[tuple[str, Any], ...] = ()

    made_of_units = False
    is_single_unit = False

    def __str__(self) -> str:
        inner = ";".join(f"{name}={value}" for name, value in self.options)
        return f"{self.given_name}({inner})" if inner else self.given_name

    @property
    def name(self) -> str:
        """Its name without options."""
        return self.given_name

    @property
    def architecture(self) -> str:
        """Its name with options."""
        return str(self)

    @property
    def all_options(self) -> dict[str, Any]:
        """Its options by name."""
        return dict(self.options)

    def build(
        self, in_features: int, out_features: int, *, hidden: int = 2, batch_shape: Sequence[int] = ()
    ) -> nn.Module:
        """The network; it ignores `hidden`."""
        if batch_shape:
            raise ArgumentError("batch_shape", "(), because a given network has none", repr(batch_shape))
        return self.make(in_features, out_features)

    def identity(self) -> list[dict[str, Any]]:
        """Its name and its options."""
        return [{"given": self.given_name, "options": dict(self.options)}]

    def recipe_name(self, of_stacks: str) -> str:
        """Always "own"."""
        return "own"

    def initial(self, build: Callable[[], nn.Module], seeds: Sequence[int]) -> Parameters | None:
        """The parameters from `draw`; without it, those of any other model."""
        return super().initial(build, seeds) if self.draw is None else self.draw(build(), seeds)
