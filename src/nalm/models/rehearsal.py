"""A rehearsal: a user's module takes its first step eagerly, on a few rows, before anything is compiled.

A module that would fail deep in the compiler, or train only to NaN, is refused at once in a sentence that
names the module and the cause. Runs that fail later, or only for some seeds, are results.
"""

from __future__ import annotations

import copy
import inspect
import random
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

import nalm.errors
from nalm.errors import ArgumentError
from nalm.models.many import Models, Parameters, is_ours
from nalm.units._base import units_of

ROWS, LANES = 16, 32
"""The number of rows to compute, and of models to try, of which at least one must be finite."""
APART = 0.01
"""The relative difference above which a model's output next to other models differs from its output alone."""

_PACKAGES = (Path(torch.__file__).parent, Path(nalm.errors.__file__).parent)
"""The folders of code that is not a user's."""

IN_OTHER_WORDS = {
    "data-dependent control flow": "a branch depends on data, which differ between models computed at once",
    "vmap: It looks like you're calling .item()": "`.item()` needs one number, but many models have many",
    "vmap: called random operation": "random numbers are drawn that the seed does not determine",
    "vmap: inplace arithmetic": "a tensor that all models share is changed in place in forward",
}
"""Plain words for torch's errors about modules that cannot be computed for many models at once."""


class _Step(NamedTuple):
    """The output and the gradients of one step of one model."""

    output: Tensor
    gradients: dict[str, Tensor | None]

    @property
    def fault(self) -> str | None:
        """What is not finite; None if everything is finite."""
        if not self.output.isfinite().all():
            return "whose output is NaN or infinite"
        wrong = [name for name, g in self.gradients.items() if g is not None and not g.isfinite().all()]
        return f"whose gradient by `{wrong[0]}` is NaN or infinite" if wrong else None


def rehearse(
    models: Models,
    parameters: Parameters,
    x: Tensor,
    output_shape: Sequence[int],
    *,
    name: str = "",
    argument: str = "model",
) -> None:
    """Refuse a model that cannot train, before any work.

    Args:
        models: the architecture.
        parameters: initial parameters `models x ...` by name.
        x: inputs of the task, `models x n x in`.
        output_shape: the shape of the output for one input.
        name: what to call the model; by default its class and where that is defined.
        argument: the name of the argument that the model was given as.
    """
    name = name or _name(models.skeleton)
    sizes = (" x ".join(map(str, shape)) for shape in (x.shape[2:], output_shape))
    expected = "a module from {} inputs to {} outputs that trains".format(*sizes)
    x, lanes = x[:, :ROWS], min(len(x), LANES)
    try:
        with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
            first = _alone(models, parameters, x, 0)
            cause = _wrong_result(first, x[0], output_shape) or _changed(first, x[0])
            cause = cause or _never_finite(models, parameters, x, lanes) or _mixed(models, parameters, x)
    except ArgumentError:
        raise
    except Exception as error:  # a user's module may raise anything
        cause = f"which fails: {located(error)}"
    if cause is not None:
        raise ArgumentError(argument, expected, f"{name}, {cause}")


def located(error: BaseException) -> str:
    """An error in a sentence, with the last line of the user's code that led to it."""
    text = str(error).partition("\n")[0].rstrip(".")
    text = next((said for phrase, said in IN_OTHER_WORDS.items() if phrase in str(error)), text)
    lines = [
        f" ({frame.filename}:{frame.lineno})"
        for frame in traceback.extract_tb(error.__traceback__)
        if not _is_package_file(frame.filename)
    ]
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__) + (lines or [""])[-1]


def _alone(models: Models, parameters: Parameters, x: Tensor, lane: int) -> nn.Module:
    """One of the models, as an ordinary module."""
    module = copy.deepcopy(models.skeleton)
    generator = torch.Generator(x.device).manual_seed(0)
    for unit in units_of(module):
        unit.batch_shape = torch.Size(())
        unit.uniform_source = lambda shape, dtype, device: torch.rand(
            shape, generator=generator, dtype=dtype, device=device
        )
    with torch.no_grad():
        for name, p in module.named_parameters():
            p.copy_(parameters[name][lane])
    return module.train()


def _wrong_result(module: nn.Module, x: Tensor, output_shape: Sequence[int]) -> str | None:
    """What is wrong with the output or the gradient of a single model; None if nothing is."""
    module, chance = copy.deepcopy(module), _chance()
    output = module(x)
    if not isinstance(output, Tensor):
        return f"whose forward returns {type(output).__name__}, not a tensor"
    if tuple(output.shape) != (len(x), *output_shape):
        return f"which gives shape {tuple(output.shape)} for input of shape {tuple(x.shape)}"
    if not _same_chance(chance, _chance()):
        return "whose forward draws random numbers: a unit must use `self.draw`, which draws them by seed"
    if not output.requires_grad:
        return "whose output depends on no trained parameter, or is detached from them"
    if all(g is None for g in _gradients(output, module).values()):
        return "whose parameters get no gradient"
    return None


def _changed(module: nn.Module, x: Tensor) -> str | None:
    """Which parameter or buffer forward changes, with the given weights or far larger ones; None if none."""
    for factor in (1, 100):  # a clamp is noticed only if there is something to clamp
        tried = copy.deepcopy(module)
        with torch.no_grad():
            for p in tried.parameters():
                p.mul_(factor)
        before = {name: value.clone() for name, value in tried.state_dict().items()}
        try:
            tried(x)
        except Exception:
            if factor == 1:
                raise
            return None  # a module may refuse such large weights
        after = tried.state_dict()
        names = [name for name, value in before.items() if name not in after or not _same(value, after[name])]
        if names:
            hint = "a bound on weights belongs in `project_` of a unit"
            return f"whose forward changes `{names[0]}` in place: {hint}"
    return None


def _never_finite(models: Models, parameters: Parameters, x: Tensor, lanes: int) -> str | None:
    """What is not finite in the first step of every model, on the task's data and on inputs from 1 to 2."""
    ordinary = 1 + torch.rand(x.shape[1:], generator=torch.Generator().manual_seed(0)).to(x)
    fault = None
    for lane in range(lanes):
        for rows in (x[lane], ordinary):
            module = _alone(models, parameters, x, lane)
            output = module(rows)
            fault = _Step(output.detach(), _gradients(output, module)).fault
            if fault is None:
                return None
    return f"{fault} in the first step, for every model and also for inputs between 1 and 2"


def _mixed(models: Models, parameters: Parameters, x: Tensor) -> str | None:
    """How a model's output next to another model differs from its output alone; None if it does not."""
    last = len(x) - 1
    pair = {name: p[[0, last]] for name, p in parameters.items()}
    beside = models.predict(pair, x[[0, last]])
    shape = (2, *_alone(models, parameters, x, 0)(x[0]).shape)
    if beside.shape != shape:
        return f"which gives shape {tuple(beside.shape)} for two models at once, not {shape}"
    for place, lane in enumerate((0, last)):
        alone = _alone(models, parameters, x, lane).eval()(x[lane])
        apart = (beside[place] - alone).abs() > APART * (1 + alone.abs())
        if bool((apart & alone.isfinite()).any()):
            return "whose output changes next to other models, as if a branch depended on data"
    return None


def _gradients(output: Tensor, module: nn.Module) -> dict[str, Tensor | None]:
    held = {name: p for name, p in module.named_parameters() if p.requires_grad}
    found = torch.autograd.grad(output.square().mean(), list(held.values()), allow_unused=True)
    return dict(zip(held, found, strict=True))


def _same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are equal, where NaN equals NaN."""
    return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())


def _chance() -> tuple[Any, ...]:
    """The states of all random number generators that a forward may use."""
    numpys = np.random.get_state()  # noqa: NPY002  a user's forward may draw from it
    return torch.get_rng_state().numpy(), str(random.getstate()), np.copy(numpys[1]), numpys[2]  # type: ignore[index]


def _same_chance(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def _name(model: nn.Module) -> str:
    """The first of the user's own classes in a model, and where it is defined if that is known."""
    kind = next((type(m) for m in model.modules() if not is_ours(m)), type(model))
    try:
        file, line = inspect.getsourcefile(kind), inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):  # typed into a console
        return kind.__name__
    return f"{kind.__name__} ({file}:{line})"


def _is_package_file(file: str) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in _PACKAGES)
