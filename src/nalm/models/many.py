"""Many models of one architecture, computed as one.

A model that consists only of units has a native model axis. Any other `nn.Module` gets it by
`torch.func.vmap`.
"""

from __future__ import annotations

import copy
import itertools
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from nalm.errors import ArgumentError
from nalm.recipes.initialise import Initialise
from nalm.streams import Purpose, counters, key, uniform
from nalm.units._base import Unit, outer_units, units_of
from nalm.units._remarks import REMARKS

Parameters = dict[str, Tensor]

WITH_STATISTICS = (
    *(nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm),
    *(nn.LazyBatchNorm1d, nn.LazyBatchNorm2d, nn.LazyBatchNorm3d),
)
"""Modules that keep statistics from batch to batch."""
DRAWING = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
"""Modules that draw random numbers in training."""
_MIXING = (*WITH_STATISTICS, *DRAWING)
_DRAWING = threading.Lock()
UNIT_NAME = "unit"
"""The name of the unit under test in the network that a task makes around it."""
MOST_FOLLOWED = 512
"""At most this many parameters of a model are kept over time: more would fill the store unread."""
_OURS = ("nalm", "torch")
"""Packages whose modules are known to compile."""


class Models:
    """An architecture that is applied with given parameters `models x ...`.

    Args:
        model: one model; it is copied and never changed.
        dtype: precision to train in.
        device: where to train.
    """

    refused: ClassVar[tuple[type[nn.Module], ...]] = _MIXING
    """Modules whose result depends on other models, or on random numbers that no seed determines."""

    single: ClassVar[bool] = False
    """Whether there is always one model, applied as it is."""

    def __init__(self, model: nn.Module, dtype: torch.dtype, device: torch.device) -> None:
        check_weights(model)
        mixing = mixing_module(model, self.refused)
        if mixing is not None:
            expected = "made of modules whose result depends only on the model's own weights and inputs"
            raise ArgumentError("model", expected, type(mixing).__name__)
        if any(unit.batch_shape for unit in units_of(model)):
            hint = "To train many at once, give `seeds`."
            raise ArgumentError("model", "one model, without a batch_shape", "units with one", hint)
        self.native = is_native(model)
        self.tied = has_tied_weights(model)
        self.foreign = not all(map(is_ours, model.modules()))
        self.frozen = [name for name, p in model.named_parameters() if not p.requires_grad]
        self.skeleton = copy.deepcopy(model).to(device=device, dtype=dtype)
        self.dtype, self.device = dtype, device
        if self.native:
            for unit in units_of(self.skeleton):
                # Only its length is used: the number of models is that of the weights.
                unit.batch_shape = torch.Size((1,))
        self.programs: dict[Hashable, Any] = {}
        self.names = [name for name, _ in model.named_parameters()]
        if not self.names:
            raise ArgumentError("model", "a module with parameters to train", type(model).__name__)

    def check_fit(self, input_shape: Sequence[int], output_shape: Sequence[int]) -> None:
        """Refuse a model that does not turn inputs of one shape into outputs of the other."""
        expected = f"a module from {_words(input_shape)} inputs to {_words(output_shape)} outputs"
        if self.native:
            inputs, outputs = input_shape[-1], output_shape[-1]
            units = outer_units(self.skeleton)
            sizes = (units[0].in_features, units[-1].out_features)
            if sizes != (inputs, outputs):
                raise ArgumentError("model", expected, f"{sizes[0]} inputs to {sizes[1]} outputs")
            for before, after in itertools.pairwise(units):
                if before.out_features != after.in_features:
                    got = f"{before.out_features} outputs before {after.in_features} inputs"
                    raise ArgumentError("model", "made of layers that fit each other", got)
            return
        if self.foreign:
            return  # its rehearsal checks it more closely
        rows = torch.zeros(2, *input_shape, dtype=self.dtype, device=self.device)
        try:
            shape = tuple(self.skeleton(rows).shape)
        except (RuntimeError, AttributeError) as error:
            raise ArgumentError("model", expected, f"an error: {str(error).splitlines()[0]}") from error
        if shape != (2, *output_shape):
            got = f"output of shape {shape} for input of shape {tuple(rows.shape)}"
            raise ArgumentError("model", expected, got)

    def key(self) -> Hashable:
        """What determines the computation, to find a program compiled before; None if that is not known."""
        options = [_options(module) for module in self.skeleton.modules()]
        if not self.native or None in options:
            return None
        parts = tuple((type(module), found) for module, found in zip(self.skeleton.modules(), options))
        return (parts, tuple(self.frozen))

    def shapes(self) -> dict[str, torch.Size]:
        """The shape of each parameter of one model."""
        return {name: p.shape for name, p in self.skeleton.named_parameters()}

    def followed_names(self) -> list[str]:
        """Names of the parameters to keep over time: all of a small model, those of the unit of a network.

        A network that a task makes around a unit holds it under the name `unit`.
        """
        of_unit = [name for name in self.names if UNIT_NAME in name.split(".")]
        for names in (self.names, of_unit):
            if sum(self.skeleton.get_parameter(name).numel() for name in names) <= MOST_FOLLOWED:
                return names
        return []

    def first_names(self) -> list[str]:
        """Names of the parameters of the first unit, if it can only add and subtract inputs; else none."""
        units = [(path, m) for path, m in self.skeleton.named_modules() if isinstance(m, Unit)]
        if not self.native or not set(units[0][1].ops) <= {"add", "sub"}:
            return []
        return [name for name in self.names if name.rpartition(".")[0] == units[0][0]]

    def initial(
        self,
        seeds: Tensor,
        purpose: Purpose = Purpose.INIT,
        step: int = 0,
        others: Sequence[Initialise] = (),
    ) -> Parameters:
        """Initial parameters, drawn for each model from its own seed only; frozen ones are the model's own.

        Args:
            seeds: one per model.
            purpose: the stream: initialisation, or reinitialisation.
            step: the step at which they are drawn.
            others: initialisers that replace the units' own.
        """
        drawn = (
            self._initial_by_units(seeds, purpose, step, others)
            if self.native
            else self._initial_by_torch(seeds, step)
        )
        for name in self.frozen:
            drawn[name] = self.skeleton.get_parameter(name).detach().expand(drawn[name].shape).clone()
        return drawn

    def _initial_by_units(
        self, seeds: Tensor, purpose: Purpose, step: int, others: Sequence[Initialise]
    ) -> Parameters:
        parameters, part = {}, 0
        for path, unit in self.skeleton.named_modules():
            if isinstance(unit, Unit):
                for name, own in unit.initialisers.items():
                    found = (other.initialiser(unit, name) for other in others)
                    initialiser = next(filter(None, found), own)
                    elements = counters(*unit.get_parameter(name).shape, device=self.device)
                    u = uniform(key(seeds, purpose, step, part), elements, self.dtype)
                    parameters[f"{path}.{name}" if path else name] = initialiser(u)
                    part += 1
        return {name: parameters[name].contiguous() for name in self.names}

    def predict(
        self, parameters: Parameters, x: Tensor, source: Callable[[int], Any] | None = None
    ) -> Tensor:
        """Apply all models: x `models x n x in` to `models x n x out`.

        Args:
            parameters: `models x ...` by name.
            x: the inputs.
            source: returns a unit's source of noise by the unit's index; None evaluates without noise.
        """
        self.skeleton.train(source is not None)
        if not self.native:
            return vmap(lambda p, rows: functional_call(self.skeleton, p, (rows,), tie_weights=self.tied))(
                parameters, x
            )
        units = units_of(self.skeleton) if source is not None else []
        for index, unit in enumerate(units):
            unit.uniform_source = source(index)  # type: ignore[misc]
        try:
            return functional_call(self.skeleton, parameters, (x,), tie_weights=self.tied)
        finally:
            for unit in units:
                unit.uniform_source = None

    def apply(self, parameters: Parameters, question: Callable[[nn.Module], Any]) -> Any:
        """What `question` returns for the model with these parameters.

        Parameters that `question` changes in place are changed in the dictionary.
        """
        return apply(self.skeleton, parameters, question, tied=self.tied)

    def _initial_by_torch(self, seeds: Tensor, step: int) -> Parameters:
        """Draw by torch's modules from the global generator, whose state is restored afterwards.

        Only one of nalm's threads draws at a time. If another thread draws from the generator meanwhile,
        neither its numbers nor those drawn here are the ones of their seeds.
        """
        drawn = []
        with _DRAWING, torch.random.fork_rng(devices=[]):
            for seed in seeds.tolist():
                # At the start like `made_by_seed`: most modules given by name or as objects then start alike.
                torch.manual_seed(seed if step == 0 else seed * 1_000_003 + step)
                fresh = copy.deepcopy(self.skeleton)
                _reset(fresh)
                drawn.append(dict(fresh.named_parameters()))
        return {name: torch.stack([p[name].detach() for p in drawn]) for name in self.names}


def made_by_seed(make: Callable[[], nn.Module], seeds: Sequence[int]) -> Parameters:
    """The parameters of a plain module, made once per seed with torch's generator seeded: `runs x ...`."""
    made: dict[int, nn.Module] = {}
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            if seed not in made:
                torch.manual_seed(seed)
                made[seed] = make()
    held = [dict(made[seed].named_parameters()) for seed in seeds]
    return {name: torch.stack([each[name].detach() for each in held]) for name in held[0]}


def with_initialisers(
    model: nn.Module, drawn: Parameters, seeds: Sequence[int], others: Sequence[Initialise]
) -> Parameters:
    """Parameters `runs x ...` of a network, with those of its units that a recipe initialises drawn anew."""
    runs, made = torch.tensor(seeds, dtype=torch.int32), dict(drawn)
    for part, (path, name) in enumerate(_of_units(model)):
        unit = model.get_submodule(path)
        found = (other.initialiser(cast("Unit", unit), name) for other in others)
        initialiser = next(filter(None, found), None)
        full = f"{path}.{name}" if path else name
        if initialiser is not None:
            elements = counters(*drawn[full].shape[1:])
            u = uniform(key(runs, Purpose.INIT, 0, part), elements, drawn[full].dtype)
            made[full] = initialiser(u)
    return made


def _of_units(model: nn.Module) -> list[tuple[str, str]]:
    """The path of each unit in a network with the name of each of its parameters."""
    units = ((path, unit) for path, unit in model.named_modules() if isinstance(unit, Unit))
    return [(path, name) for path, unit in units for name in unit.initialisers]


def apply(
    model: nn.Module, parameters: Parameters, question: Callable[[nn.Module], Any], *, tied: bool = True
) -> Any:
    """What `question` returns for a model with these parameters in place of its own.

    Args:
        model: the model.
        parameters: its parameters by name.
        question: the function of the model.
        tied: whether some of its parameters may have two names; to find out takes time.
    """
    named = {f"model.{name}": p for name, p in parameters.items()}
    return functional_call(_Caller(model), named, (question,), tie_weights=tied)


class _Caller(nn.Module):
    """Calls any function of a model in `forward`, because `functional_call` calls only that."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, question: Callable[[nn.Module], Any]) -> Any:
        return question(self.model)


def is_ours(module: nn.Module) -> bool:
    """Whether a module's class is nalm's or torch's, not a user's."""
    return type(module).__module__.partition(".")[0] in _OURS


def has_tied_weights(model: nn.Module) -> bool:
    """Whether a parameter is in the model under two names."""
    return sum(1 for _ in model.named_parameters(remove_duplicate=False)) > sum(1 for _ in model.parameters())


def is_native(model: nn.Module) -> bool:
    """Whether the model consists of units and of containers that pass tensors on unchanged."""
    return all(isinstance(m, Unit) or type(m) in (nn.Sequential, nn.Identity) for m in model.modules())


_OF_EVERY_UNIT = {*vars(nn.Module()), "_factory", "initialisers", "ops", "uniform_source", REMARKS}


def _options(module: nn.Module) -> tuple[tuple[str, Any], ...] | None:
    """A unit's options; None if one is neither a number nor a text, such as a function."""
    own = sorted((k, v) for k, v in vars(module).items() if k not in _OF_EVERY_UNIT)
    simple = all(isinstance(v, (bool, int, float, str, torch.Size, type(None))) for _, v in own)
    return tuple(own) if simple and not module._buffers else None


def _words(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))


def check_weights(model: nn.Module) -> None:
    """Refuse weights that hold no numbers."""
    if any(p.is_meta for p in model.parameters()):
        raise ArgumentError("model", "one whose weights hold numbers", "weights on the meta device")


def check_changeable(model: nn.Module) -> None:
    """Refuse weights that cannot be changed in place in the caller's inference mode."""
    if any(p.is_inference() for p in model.parameters()) and not torch.is_inference_mode_enabled():
        raise ArgumentError("model", "one whose weights can be changed", "weights made under inference_mode")


def mixing_module(model: nn.Module, kinds: tuple[type[nn.Module], ...] = _MIXING) -> nn.Module | None:
    """The first module whose result depends on other models, or on random numbers that no seed determines."""
    return next((module for module in model.modules() if isinstance(module, kinds)), None)


def _reset(model: nn.Module) -> None:
    for module in model.modules():
        held = list(module.parameters(recurse=False))
        reset = getattr(module, "reset_parameters", None)
        if held and not callable(reset):
            expected = "made of modules with a `reset_parameters` method, to draw initial weights by seed"
            raise ArgumentError("model", expected, type(module).__name__)
        if held:
            reset()  # type: ignore[misc]
