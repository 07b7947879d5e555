"""Checks that a unit behaves like torch's own modules, and refuses input where they would guess."""

from __future__ import annotations

import copy
import pickle

import torch

from nalm.testing.measures import close, inputs, refused
from nalm.testing.subject import Subject


def obeys_the_habits_of_modules(subject: Subject) -> None:
    """state_dict, deepcopy, pickle, `.to()`, repr and the meta device work."""
    unit, x = subject.make(), inputs(3)
    other = subject.unit(3, 2, dtype=torch.float64, **subject.options).eval()
    other.load_state_dict(unit.state_dict())
    for twin in (other, copy.deepcopy(unit), pickle.loads(pickle.dumps(unit))):
        close(twin(x), unit(x), 0, "copy")
    assert unit.to(torch.float32)(x.float()).dtype == torch.float32, ".to(float32) must compute in float32"
    assert "in_features=3, out_features=2" in repr(unit), "repr must show the sizes"
    assert next(subject.unit(3, 2, device="meta").parameters()).is_meta, "parameters must be on `device`"


def draws_from_the_generator_handed_in(subject: Subject) -> None:
    """Equal generators give equal weights, and torch's global generator is not used."""
    unit = subject.make()
    before = torch.get_rng_state()
    unit.reset_parameters(torch.Generator().manual_seed(1))
    first = [p.detach().clone() for p in unit.parameters()]
    unit.reset_parameters(torch.Generator().manual_seed(1))
    same = all(torch.equal(a, b) for a, b in zip(first, unit.parameters()))
    assert same, "equal generators give different weights"
    assert torch.equal(before, torch.get_rng_state()), "torch's global generator was used"


def refuses_bad_input(subject: Subject) -> None:
    """Wrong sizes, types and operations are refused with an ArgumentError; nothing is cast silently."""
    unit = subject.make()
    batch = subject.make(3, 2, (4,))
    x = inputs(3)
    for bad in (lambda: unit(x[:, :2]), lambda: unit(x.long()), lambda: unit(x.float()), lambda: batch(x)):
        refused(bad)
    for make in (lambda: subject.unit(0, 1), lambda: subject.unit(2, -1), lambda: subject.unit(2.0, 1)):  # type: ignore[arg-type]
        refused(make)
    refused(lambda: subject.unit(2, 1, dtype=torch.int64))
    refused(lambda: unit.ideal_("no such operation", 0, 1))
    refused(lambda: unit.ideal_(unit.ops[0], 0, 3))
    refused(lambda: unit.recipe("no such operation"))


def keeps_precision_under_autocast(subject: Subject) -> None:
    """Autocast to bfloat16 changes nothing: exact weights must not be rounded silently."""
    unit, x = subject.make(), inputs(3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        close(unit(x), unit(x), 0, "autocast")
        inside = unit(x)
    close(inside, unit(x), 0, "autocast")


def exports(subject: Subject) -> None:
    """torch.export returns a program with the same values."""
    unit, x = subject.make(), inputs(3)
    program = torch.export.export(unit, (x,))
    close(program.module()(x), unit(x), 1e-12, "exported program")


def compiles(subject: Subject) -> None:
    """torch.compile in one graph gives the same values and gradients."""
    unit, x = subject.make(), inputs(3)
    torch.compiler.reset()  # units share the code of `forward`: many units would exceed torch's limit
    compiled = torch.compile(unit, fullgraph=True, backend="aot_eager")
    close(compiled(x), unit(x), 1e-12, "compiled")
    gradients = []
    for run in (unit, compiled):
        unit.zero_grad()
        run(x).square().sum().backward()
        gradients.append([p.grad.clone() for p in unit.parameters() if p.grad is not None])
    for eager, traced in zip(*gradients):
        close(traced, eager, 1e-9, "compiled gradient")
