"""The contract of a unit: what every arithmetic unit says about itself.

A subclass declares its parameters with `declare`, computes in `compute`, and defines the methods below.
Everything works with a leading model axis: `batch_shape` models are held and computed side by side.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_choice, check_positive
from nalm.recipes import SECOND_ORDER, Recipe
from nalm.recipes.distances import distance_to_integer_sign
from nalm.recipes.initialisers import Initialiser
from nalm.recipes.subject import Subject, subjects_of
from nalm.units._input import checked_input
from nalm.units._options import check_device, check_dtype, check_options, signature_of
from nalm.units._symbolic import Followed, as_number, as_truth

if TYPE_CHECKING:
    import numpy as np
    import sympy as sp

UniformSource = Callable[[torch.Size, torch.dtype, torch.device], Tensor]
"""Returns uniform numbers in [0, 1) of the given shape."""


_TRUTH = 0.02
"""How far a number may be from 0 or 1 and still be a truth value: comparisons give almost 0 and 1."""

COMMON_RECIPES = ("second-order",)
"""Recipes that every unit accepts, because they need nothing from the unit."""


class Unit(Subject):
    """Base of all units. See the module's docstring for the contract.

    Args:
        in_features: number of inputs, the size of the last dimension of the input.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side; `()` is one ordinary layer.
        device: where the parameters live.
        dtype: precision of the parameters; the input must have the same.
    """

    name: ClassVar[str] = "unit"
    """Name on the command line; by default the name of the class in lower case."""
    ops: tuple[str, ...]
    """Operations that the unit can express with ideal weights; options of an instance may exclude some."""
    unary: ClassVar[tuple[str, ...]] = ()
    """The operations that have a single operand, input i."""
    positive: ClassVar[bool] = False
    """Whether the ideal weights are right for positive inputs only."""
    largest: ClassVar[float] = float("inf")
    """Magnitude of the largest result that the unit can give."""
    papers: ClassVar[tuple[str, ...]] = ()
    """Keys of the papers that define it (see `nalm list papers`)."""
    bias_names: ClassVar[tuple[str, ...]] = ()
    """Which of the `weights` are biases: the sparsity error does not count them."""
    reading: str = ""
    """Where the idealised expression holds, if not everywhere."""
    logical: ClassVar[bool] = False
    """Whether inputs are truth values: idealised expressions then take and return sympy booleans."""
    unreadable: ClassVar[str] = "a gate that depends on the input is neither open nor closed"
    """The reason given where `readable` is False."""
    recipes: ClassVar[tuple[str, ...]] = ("published",)
    """Names of the unit's own recipes; `recipe` also accepts those of `COMMON_RECIPES`."""
    __signature__: ClassVar[inspect.Signature]
    """The constructor's arguments, including the options that every unit has."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = cls.__name__.lower()
        cls.__signature__ = signature_of(cls, Unit.__signature__)

    def __new__(cls, /, *sizes: Any, **options: Any) -> Self:
        """Refuse unknown options before anything is created."""
        check_options(cls.__signature__, options)
        return super().__new__(cls)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        batch_shape: Sequence[int] = (),
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features = check_positive("in_features", in_features)
        self.out_features = check_positive("out_features", out_features)
        if not isinstance(batch_shape, Sequence):
            raise ArgumentError("batch_shape", "a tuple of sizes", repr(batch_shape))
        self.batch_shape = torch.Size(check_positive("batch_shape", size) for size in batch_shape)
        self.initialisers: dict[str, Initialiser] = {}
        self.uniform_source: UniformSource | None = None
        self._factory: dict[str, Any] = {"device": check_device(device), "dtype": check_dtype(dtype)}
        self.build()
        self.reset_parameters()

    def build(self) -> None:
        """Declare the parameters. A subclass sets its own options before it calls `super().__init__`."""

    # -- parameters and randomness ---------------------------------------------------------------

    def declare(self, name: str, shape: Sequence[int], initialiser: Initialiser) -> None:
        """Add a parameter of shape `*batch_shape x *shape` with the given initial distribution."""
        self.register_parameter(name, nn.Parameter(torch.empty(*self.batch_shape, *shape, **self._factory)))
        self.initialisers[name] = initialiser

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all parameters again, from torch's default generator or from the given one."""
        for name, initialiser in self.initialisers.items():
            parameter = self.get_parameter(name)
            if not parameter.is_meta:
                u = torch.rand(
                    parameter.shape, generator=generator, dtype=parameter.dtype, device=parameter.device
                )
                parameter.copy_(initialiser(u))

    def draw(self, shape: Sequence[int], like: Tensor) -> Tensor:
        """Uniform numbers for noise: from `uniform_source` if there is one, otherwise from torch."""
        size = torch.Size(shape)
        if self.uniform_source is not None:
            return self.uniform_source(size, like.dtype, like.device)
        return torch.rand(size, dtype=like.dtype, device=like.device)

    # -- forward ---------------------------------------------------------------------------------

    def forward(self, input: Tensor) -> Tensor:
        """Apply the unit to `*batch_shape x n x in`, or to any `... x in` if `batch_shape` is ()."""
        x = checked_input(self, next(self.parameters()), input)
        if isinstance(input, Followed):
            return input.through(self)
        if self.batch_shape:
            return self._exact(x)
        rows = x.reshape(-1, self.in_features)
        return self._exact(rows).reshape(*x.shape[:-1], self.out_features)

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself, on checked input `*batch_shape x n x in`."""
        raise NotImplementedError(f"{type(self).__name__} must define `compute`")

    def _exact(self, x: Tensor) -> Tensor:
        """Compute in the parameters' precision: autocast would silently round exact weights and sums."""
        if not torch.is_autocast_enabled(x.device.type):
            return self.compute(x)
        with torch.autocast(x.device.type, enabled=False):
            return self.compute(x)

    # -- what the unit says about itself ---------------------------------------------------------

    def weights(self) -> dict[str, Tensor]:
        """The effective weights: what should end up discrete. Each `*batch_shape x ...`."""
        raise NotImplementedError(f"{type(self).__name__} must define `weights`")

    def gates(self) -> dict[str, Tensor]:
        """Gates that are parameters, not those computed from the input. Each `*batch_shape x ...`."""
        return {}

    def discrete(self) -> dict[str, Tensor]:
        """Everything that should end up discrete: weights and gates, also those of a composite's parts."""
        return {**self.weights(), **self.gates()}

    def penalty(self) -> Tensor:
        """The published penalty, a mean over weights without strength: shape `batch_shape`."""
        parameter = next(self.parameters())
        return parameter.new_zeros(parameter.shape[: len(self.batch_shape)])

    def project_(self) -> None:
        """Move the parameters back into the admissible set, in place. By default there are no bounds."""

    def select_(self, weight: Tensor) -> None:
        """Set the effective weights to this matrix of {-1, 0, 1}, `*batch_shape x out x in`, in place."""
        raise NotImplementedError(f"{type(self).__name__} must define `select_`")

    def snap_(self) -> None:
        """Move every weight and gate to the nearest discrete value, in place."""
        self.select_(self.weights()["W"].round())

    def decisive_mask(self) -> dict[str, Tensor]:
        """Which weights and gates decide the output of a snapped unit, by name; unnamed tensors all do.

        The weights of a path whose gate is closed may have any value, and so may the gate of an input that
        no output uses: they do not prevent a formula from being read.
        """
        return {}

    def readable(self) -> bool:
        """Whether everything but weights and gates can be read, such as gates computed from the input."""
        return True

    def holds(self, x: Tensor) -> Tensor:
        """For which rows of x, `n x in`, the idealised expression holds: bool, shape `n`.

        By default all rows; rows of truth values if the unit is `logical`; rows of positive inputs if it has
        a `reading`.
        """
        if self.logical:
            return ((x - x.round()).abs() < _TRUTH).all(-1) & (x.round().abs() == x.round().square()).all(-1)
        return (x > 0).all(-1) if self.reading else torch.ones_like(x[..., 0], dtype=torch.bool)

    def sparsity_error(self, *, gates: bool = False, biases: bool = False) -> Tensor:
        """Largest distance of a weight from {-1, 0, 1}: shape `batch_shape` (Madsen & Johansen 2020, eq. 17).

        With `gates`, gates are included, and with `biases`, biases; the papers leave them out.
        """
        left_out = () if biases else self.bias_names
        weights = [value for name, value in self.weights().items() if name not in left_out]
        counted = [*weights, *(self.gates().values() if gates else ())]
        lead = len(self.batch_shape)
        errors = [distance_to_integer_sign(value).flatten(lead).amax(-1) for value in counted]
        return torch.stack(errors).amax(0)

    def ideal_(self, op: str, i: int = 0, j: int = 1) -> None:
        """Set the weights that compute `op` on inputs i and j, for every output, in place."""
        _check_op(op, self)
        needed = (("i", i),) if op in self.unary else (("i", i), ("j", j))
        for argument, index in needed:
            if not isinstance(index, int) or not 0 <= index < self.in_features:
                raise ArgumentError(argument, f"an input from 0 to {self.in_features - 1}", repr(index))
        if i == j and op not in self.unary:
            raise ArgumentError("j", f"an input other than i = {i}", repr(j))
        with torch.no_grad():
            self.set_ideal_(op, i, j)

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """Do the work of `ideal_` after its arguments have been checked."""
        self.select_(selection(torch.zeros_like(self.weights()["W"]), op, i, j))

    @classmethod
    def check_op(cls, op: str) -> None:
        """Refuse an operation that the unit cannot express."""
        _check_op(op, cls)

    @classmethod
    def recipe(cls, op: str, name: str = "published", *, inputs: int = 2) -> Recipe:
        """The published training recipe for an operation on `inputs` inputs."""
        cls.check_op(op)
        check_choice("recipe", name, cls.all_recipes())
        if name in COMMON_RECIPES:
            return SECOND_ORDER
        return cls.make_recipe(op, name, inputs)

    @classmethod
    def all_recipes(cls) -> tuple[str, ...]:
        """The names that `recipe` accepts."""
        return tuple(dict.fromkeys((*cls.recipes, *COMMON_RECIPES)))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Return the recipe after the arguments of `recipe` have been checked. The default is plain Adam."""
        return Recipe()

    def expression(self, names: Sequence[Any], *, idealised: bool = False) -> list[Any]:
        """One sympy expression per output; nested lists under `batch_shape`.

        Args:
            names: a name or a sympy expression per input.
            idealised: whether to drop the epsilons that keep logarithms finite, and to read saturated gates
                as 0 or 1.
        """
        import sympy as sp

        if isinstance(names, str) or not isinstance(names, Sequence):
            raise ArgumentError("names", f"a list of {self.in_features} names, one per input", repr(names))
        if len(names) != self.in_features:
            raise ArgumentError("names", f"{self.in_features} names, one per input", f"{len(names)}")
        given = [sp.Symbol(name, real=True) if isinstance(name, str) else name for name in names]
        symbols = [as_truth(s) if self.logical and idealised else as_number(s) for s in given]
        values = self.parameter_values()

        def at(index: tuple[int, ...]) -> list[Any]:
            if len(index) < len(self.batch_shape):
                return [at((*index, k)) for k in range(self.batch_shape[len(index)])]
            return self.symbolic({name: value[index] for name, value in values.items()}, symbols, idealised)

        return at(())

    def parameter_values(self) -> dict[str, np.ndarray]:
        """The values of the parameters by name, as they are used: some may be computed from other tensors."""
        held = {name: p for name, p in self.named_parameters() if not name.startswith("parametrizations.")}
        held |= {name: getattr(self, name) for name in self.initialisers}
        return {name: p.detach().cpu().double().numpy() for name, p in held.items()}

    def symbolic(
        self, values: dict[str, np.ndarray], symbols: list[sp.Expr], idealised: bool
    ) -> list[sp.Expr]:
        """The outputs of one model as expressions, given its parameters' values."""
        raise NotImplementedError(f"{type(self).__name__} must define `symbolic`")

    def extra_repr(self) -> str:
        """Sizes, and the batch shape if there is one."""
        batch = f", batch_shape={tuple(self.batch_shape)}" if self.batch_shape else ""
        return f"in_features={self.in_features}, out_features={self.out_features}{batch}{self.options_repr()}"

    def options_repr(self) -> str:
        """The unit's own options that differ from their defaults, as `, name=value`."""
        return ""


Unit.__signature__ = signature_of(Unit)


def selection(weight: Tensor, op: str, i: int, j: int) -> Tensor:
    """Set input i to 1 and input j to 1 or -1 in a matrix of zeros; for the reciprocal, input i to -1."""
    weight[..., i] = -1 if op == "reciprocal" else 1
    if op != "reciprocal":
        weight[..., j] = -1 if op in ("sub", "div") else 1
    return weight


def units_of(model: nn.Module, name: str | None = None) -> list[Unit]:
    """All units in a model, or those of this name, in the order of `model.modules()`.

    The parts of a composite are among them, after the composite: each unit answers for its own parameters.
    """
    return [part for part in subjects_of(model, name) if isinstance(part, Unit)]


def outer_units(model: nn.Module) -> list[Unit]:
    """The units of a model that are not part of another unit: its layers, if it is a stack."""
    if isinstance(model, Unit):
        return [model]
    found = (unit for child in model.children() for unit in outer_units(child))
    return list(dict.fromkeys(found))


def _check_op(op: str, unit: Unit | type[Unit]) -> None:
    if op not in unit.ops:
        raise ArgumentError("op", f"one that {unit.name} can express ({', '.join(unit.ops)})", repr(op))
