"""Checks that a unit describes itself and computes what it describes: values, gradients, formula."""

from __future__ import annotations

import torch
from torch import Tensor

from nalm.testing.measures import close, inputs
from nalm.testing.subject import Subject


def says_what_it_is(subject: Subject) -> None:
    """It has a name, operations, a docstring, and recipes for every operation."""
    unit = subject.unit
    assert unit.name == unit.name.lower(), "`name` must be lower case"
    assert getattr(unit, "ops", ()), "`ops` must name at least one operation"
    assert unit.__doc__, "the class must have a docstring"
    for op in unit.ops:
        for name in unit.all_recipes():
            assert unit.recipe(op, name).iterations > 0, f"recipe {name!r} for {op!r} trains for no steps"


def equals_its_reference(subject: Subject) -> None:
    """The values equal those of an independent implementation."""
    if subject.reference is None:
        return
    unit, x = subject.make(), inputs(3)
    parameters = {name: p.detach().numpy() for name, p in unit.named_parameters()}
    close(unit(x), torch.as_tensor(subject.reference(x.numpy(), parameters)), 1e-12, "forward")


def has_right_gradients(subject: Subject) -> None:
    """Gradients by input and parameters pass torch's numerical check, also at zero inputs."""
    unit = subject.make()
    names = [name for name, _ in unit.named_parameters()]

    def run(x: Tensor, *parameters: Tensor) -> Tensor:
        return torch.func.functional_call(unit, dict(zip(names, parameters)), (x,))

    parameters = [p.detach().requires_grad_() for p in unit.parameters()]
    x = inputs(3).requires_grad_()
    assert torch.autograd.gradcheck(run, (x, *parameters)), "gradcheck failed"
    # At zero inputs only gradients by parameters: |x| has none, and units in log space are steep.
    zeros = torch.tensor([[0.0, 0.0, 1.5], [0.0, 0.0, 0.0], [2.0, 0.0, 1.0]], dtype=torch.float64)
    steep = 1e-6 * (1 + float(run(zeros, *parameters).detach().abs().max()))
    right = torch.autograd.gradcheck(lambda *p: run(zeros, *p), parameters, atol=max(1e-5, steep))
    assert right, "gradcheck failed at zero inputs"


def has_its_symbolic_form(subject: Subject) -> None:
    """The symbolic form evaluates to the same as `forward`."""
    import sympy as sp

    unit, x = subject.make(), inputs(3)
    names = ["a", "b", "c"]
    formulas = unit.expression(names)
    assert len(formulas) == unit.out_features, "one expression per output is needed"
    symbols = [sp.Symbol(name, real=True) for name in names]
    values = [[float(f.subs(dict(zip(symbols, row)))) for f in formulas] for row in x.tolist()]
    close(unit(x), torch.tensor(values, dtype=torch.float64), 1e-9, "symbolic form")


def stays_finite(subject: Subject) -> None:
    """Zeros, negatives, 1e-6 and 1e6 give finite values and gradients with initial weights."""
    unit = subject.make()
    for value in (0.0, -1.0, 1e-6, -1e-6, 1e6, -1e6):
        x = torch.full((2, 3), value, dtype=torch.float64, requires_grad=True)
        y = unit(x)
        y.sum().backward()
        tensors = [y, x.grad, *(p.grad for p in unit.parameters())]
        assert all(t is None or bool(t.isfinite().all()) for t in tensors), f"not finite at input {value:g}"
