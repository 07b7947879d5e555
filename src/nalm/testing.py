"""Conformance: what every unit must satisfy, for our own units and for users'.

    import nalm.testing
    nalm.testing.check(MyUnit)

runs all checks and raises an AssertionError that lists every fault, with file, line and a hint at the cure.
`faults` gives them as data; `CHECKS` holds the checks one by one, for parametrising a test suite.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from nalm.errors import ArgumentError
from nalm.units._base import Unit

Reference = Callable[[Any, dict[str, Any]], Any]
"""From inputs `n x in` and parameters by name, both numpy arrays, to outputs `n x out`."""


@dataclass(frozen=True)
class Subject:
    """A unit under test.

    Attributes:
        unit: its class.
        reference: an independent implementation in numpy, if there is one.
        exact: relative error allowed at ideal weights, beside that of an `epsilon` attribute.
        options: options to make it with.
    """

    unit: type[Unit]
    reference: Reference | None = None
    exact: float = 1e-12
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self, inputs: int = 3, outputs: int = 2, batch_shape: tuple[int, ...] = ()) -> Unit:
        """A unit in float64 with reproducible weights."""
        unit = self.unit(inputs, outputs, batch_shape=batch_shape, dtype=torch.float64, **self.options)
        unit.reset_parameters(torch.Generator().manual_seed(7))
        return unit.eval()


@dataclass(frozen=True)
class Fault:
    """What a unit does not keep of the contract.

    Attributes:
        check: the name of the check that found it.
        what: what is wrong.
        place: file and line: those of the unit's own code that led to it, or of its class.
        hint: what to do about it.
    """

    check: str
    what: str
    place: str
    hint: str

    def __str__(self) -> str:
        return f"{self.place}: {self.check}: {self.what.rstrip('.')}. {self.hint}".rstrip()


def check(unit: type[Unit], **about: Any) -> None:
    """Run all conformance checks on a unit; see `Subject` for the further arguments."""
    found = faults(unit, **about)
    if found:
        number = "1 fault" if len(found) == 1 else f"{len(found)} faults"
        listed = "\n".join(f"- {fault}" for fault in found)
        raise AssertionError(f"{unit.__name__}: {number} in {len(CHECKS)} checks\n{listed}")


def faults(unit: type[Unit], **about: Any) -> list[Fault]:
    """Everything that a unit does not keep of the contract; see `Subject` for the further arguments."""
    if not (isinstance(unit, type) and issubclass(unit, Unit)):
        raise ArgumentError("unit", "a subclass of nalm.Unit", repr(unit))
    subject, found = Subject(unit, **about), []
    for one in CHECKS:
        try:
            one(subject)
        except Exception as error:  # a user's unit may raise anything: all of it is a fault to be listed
            found.append(_fault(unit, one.__name__, error))
    return list({(fault.what, fault.place): fault for fault in reversed(found)}.values())[::-1]


def _fault(unit: type[Unit], check: str, error: Exception) -> Fault:
    text = str(error).partition("\n")[0]
    what = (
        text
        if isinstance(error, (AssertionError, NotImplementedError)) and text
        else f"{type(error).__name__}: {text}"
    )
    hint = _HINTS.get(check, "")
    if isinstance(error, NotImplementedError):
        hint = "The table in docs/units.md says what it is to give."
    if isinstance(error, (pickle.PicklingError, AttributeError, TypeError)) and "pickle" in text:
        hint = "Use a function or class of the module's own instead of a lambda or a class inside a function."
    return Fault(check, what, _place(unit, error), hint)


def _place(unit: type[Unit], error: Exception) -> str:
    """The last line in the unit's file that led to the error, or the line of its class."""
    try:
        file, line = inspect.getsourcefile(unit), inspect.getsourcelines(unit)[1]
    except (OSError, TypeError):
        return unit.__name__  # typed in, not in a file
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file and frame.lineno is not None:
            line = frame.lineno
    return f"{file}:{line}"


_HINTS = {
    "says_what_it_is": "Set `ops` and write a docstring for the class; `name` is its name in lower case.",
    "equals_its_reference": "One of the two is wrong.",
    "has_right_gradients": "A detached tensor or `.data` in `compute` cuts the gradient off.",
    "is_exact_at_ideal_weights": "`select_` must set parameters at which `compute` is exact; "
    "`epsilon`, `positive` and `largest` declare limits.",
    "has_its_symbolic_form": "`symbolic` must follow `compute` term by term, with the same parameters.",
    "computes_models_side_by_side": "`compute` must work with leading model axes: count dimensions from the "
    "end, as in `unsqueeze(-2)` and `.mT`; `penalty` and `weights` keep them.",
    "takes_any_leading_shape": "Override `compute`, which is given rows, instead of `forward`.",
    "handles_many_inputs": "`compute` must not depend on how many inputs there are.",
    "stays_finite": "Add an epsilon in logarithms and divisions, or `torch.where` before them.",
    "projects_and_snaps": "`project_` must clamp, `snap_` round, and both leave ideal weights alone.",
    "obeys_the_habits_of_modules": "Declare parameters with `declare` in `build`, and keep no tensors beside "
    "parameters and buffers.",
    "draws_from_the_generator_handed_in": "An initialiser must use the uniform numbers that it is given.",
    "refuses_bad_input": "Override `compute` instead of `forward`, which checks the input.",
    "keeps_precision_under_autocast": "Override `compute` instead of `forward`, which leaves autocast.",
    "exports": "`compute` must be made of tensor operations, without branches on values.",
    "compiles": "`compute` must be made of tensor operations, without branches on values.",
}
"""What helps against a fault, by the check that found it."""


def says_what_it_is(subject: Subject) -> None:
    """Name, operations, citation-ready docstring, and a recipe for every operation."""
    unit = subject.unit
    assert unit.name == unit.name.lower(), "`name` must be lower case"
    assert getattr(unit, "ops", ()), "`ops` must name at least one operation"
    assert unit.__doc__, "the class must have a docstring"
    for op in unit.ops:
        for name in unit.all_recipes():
            assert unit.recipe(op, name).iterations > 0, f"recipe {name!r} for {op!r} trains for no steps"


def equals_its_reference(subject: Subject) -> None:
    """The value is that of an independent implementation."""
    if subject.reference is None:
        return
    unit, x = subject.make(), _inputs(3)
    parameters = {name: p.detach().numpy() for name, p in unit.named_parameters()}
    _close(unit(x), torch.as_tensor(subject.reference(x.numpy(), parameters)), 1e-12, "forward")


def has_right_gradients(subject: Subject) -> None:
    """Gradients by input and by parameters pass torch's numerical check, zero inputs among them."""
    unit = subject.make()
    names = [name for name, _ in unit.named_parameters()]

    def run(x: Tensor, *parameters: Tensor) -> Tensor:
        return torch.func.functional_call(unit, dict(zip(names, parameters)), (x,))

    parameters = [p.detach().requires_grad_() for p in unit.parameters()]
    x = _inputs(3).requires_grad_()
    assert torch.autograd.gradcheck(run, (x, *parameters)), "gradcheck failed"
    # At zero inputs only the parameters' gradients: |x| has none there. Units in log space are steep there.
    zeros = torch.tensor([[0.0, 0.0, 1.5], [0.0, 0.0, 0.0], [2.0, 0.0, 1.0]], dtype=torch.float64)
    steep = 1e-6 * (1 + float(run(zeros, *parameters).detach().abs().max()))
    right = torch.autograd.gradcheck(lambda *p: run(zeros, *p), parameters, atol=max(1e-5, steep))
    assert right, "gradcheck failed at zero inputs"


ARITHMETIC: dict[str, Callable[..., Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "reciprocal": lambda a, b: 1 / a,
}
LOGIC: dict[str, Callable[..., Tensor]] = {
    "and": torch.logical_and,
    "or": torch.logical_or,
    "not": lambda a, b: a == 0,
    "nand": lambda a, b: ~torch.logical_and(a, b),
    "nor": lambda a, b: ~torch.logical_or(a, b),
    "implies": lambda a, b: torch.logical_or(a == 0, b),
}
COMPARISONS: dict[str, Callable[..., Tensor]] = {
    "lt": torch.lt,
    "gt": torch.gt,
    "le": torch.le,
    "ge": torch.ge,
    "eq": torch.eq,
    "ne": torch.ne,
}


def is_exact_at_ideal_weights(subject: Subject) -> None:
    """With ideal weights every operation is right, but for a declared epsilon.

    Arithmetic from 1e-6 to 1e6, logic on truth values, comparisons on whole numbers from -1e6 to 1e6.
    """
    sizes = 10.0 ** torch.linspace(-6, 6, 25, dtype=torch.float64)
    signed = sizes if subject.unit.positive else torch.cat([sizes, -sizes])
    whole = torch.tensor([-1e6, -7, -1, 0, 1, 2, 1e6], dtype=torch.float64)
    for op in subject.make().ops:
        unit = subject.make(4, 2)
        unit.ideal_(op, 1, 3)
        epsilon = getattr(unit, "epsilon", 0.0)
        if op in ARITHMETIC:
            x, a, b = _pairs(signed)
            target = ARITHMETIC[op](a, b)
            allowed = subject.exact + 2 * epsilon * (1 / a.abs() + 1 / b.abs())
        else:
            x, a, b = _pairs(torch.tensor([0.0, 1.0], dtype=torch.float64) if op in LOGIC else whole)
            target = ({**LOGIC, **COMPARISONS}[op](a, b)).double()
            target, allowed = target + 1, torch.full_like(a, subject.exact + 3 * epsilon)
        output = unit(x).detach() + (
            op not in ARITHMETIC
        )  # truth values are compared with 1 and 2, not 0 and 1
        error = ((output - target[:, None]) / target[:, None].abs().clamp(min=1e-300)).abs()
        counted = (target != 0) & (target.abs() <= subject.unit.largest)
        worst = float(error[counted].max())
        assert bool((error <= allowed[:, None])[counted].all()), f"{op} is off by {worst:.3g}"
        if not epsilon:
            assert float(unit.sparsity_error().detach()) < 1e-12, f"ideal weights for {op} are not discrete"


def _pairs(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """All pairs of these values as inputs 1 and 3 of four, and the two of each pair."""
    a, b = torch.cartesian_prod(values, values).T
    return torch.stack([values[:1].expand(len(a)), a, 3 * b, b], -1), a, b


def has_its_symbolic_form(subject: Subject) -> None:
    """The symbolic form evaluates to what forward gives."""
    import sympy as sp

    unit, x = subject.make(), _inputs(3)
    names = ["a", "b", "c"]
    formulas = unit.expression(names)
    assert len(formulas) == unit.out_features, "one expression per output is needed"
    symbols = [sp.Symbol(name, real=True) for name in names]
    values = [[float(f.subs(dict(zip(symbols, row)))) for f in formulas] for row in x.tolist()]
    _close(unit(x), torch.tensor(values, dtype=torch.float64), 1e-9, "symbolic form")


def computes_models_side_by_side(subject: Subject) -> None:
    """A batch of models gives what a loop over single ones gives, penalties and sparsity included."""
    batch = subject.make(3, 2, (4,))
    x = torch.stack([_inputs(3) + 0.1 * k for k in range(4)])
    outputs, penalties, sparsity = batch(x), batch.penalty(), batch.sparsity_error(gates=True)
    assert outputs.shape == (4, x.shape[1], 2), f"output has shape {tuple(outputs.shape)}"
    assert penalties.shape == (4,), f"penalty has shape {tuple(penalties.shape)}"
    for k in range(4):
        single = subject.make()
        single.load_state_dict({name: p[k] for name, p in batch.state_dict().items()})
        _close(outputs[k], single(x[k]), 1e-12, f"model {k}")
        _close(penalties[k], single.penalty(), 1e-12, f"penalty of model {k}")
        _close(sparsity[k], single.sparsity_error(gates=True), 1e-12, f"sparsity of model {k}")


def takes_any_leading_shape(subject: Subject) -> None:
    """Without a batch shape, input may be one vector or have any leading dimensions, even none in number."""
    unit, x = subject.make(), _inputs(3)
    flat = unit(x)
    _close(unit(x[0]), flat[0], 1e-12, "one vector")
    _close(unit(x.reshape(2, -1, 3)), flat.reshape(2, -1, 2), 1e-12, "two leading dimensions")
    assert unit(x[:0]).shape == (0, 2), "an empty batch must give an empty result"


def handles_many_inputs(subject: Subject) -> None:
    """More inputs than are unrolled give what fewer give when the others are switched off."""
    op = subject.make().ops[0]
    wide, narrow = subject.make(40, 1, (2,)), subject.make(2, 1)
    wide.ideal_(op, 5, 30)
    narrow.ideal_(op, 0, 1)
    x = torch.rand(2, 6, 40, dtype=torch.float64, generator=torch.Generator().manual_seed(3)) + 0.5
    _close(wide(x)[1], narrow(x[1][:, [5, 30]]), 1e-9, op)


def stays_finite(subject: Subject) -> None:
    """Zeros, negatives, 1e-6 and 1e6 give finite values and gradients with freshly drawn weights."""
    unit = subject.make()
    for value in (0.0, -1.0, 1e-6, -1e-6, 1e6, -1e6):
        x = torch.full((2, 3), value, dtype=torch.float64, requires_grad=True)
        y = unit(x)
        y.sum().backward()
        tensors = [y, x.grad, *(p.grad for p in unit.parameters())]
        assert all(t is None or bool(t.isfinite().all()) for t in tensors), f"not finite at input {value:g}"


def projects_and_snaps(subject: Subject) -> None:
    """Projection is idempotent and leaves ideal weights alone; snapping gives weights that can be read."""
    unit = subject.make()
    with torch.no_grad():
        for p in unit.parameters():
            p.mul_(3)
    unit.project_()
    once = _weights(unit)
    unit.project_()
    assert all(torch.equal(a, b) for a, b in zip(once, _weights(unit))), "a second projection changes weights"
    unit.snap_()
    distance = float(unit.sparsity_error(gates=True).detach())
    assert min(distance % 0.5, 0.5 - distance % 0.5) < 1e-6, "snapped weights are not discrete"
    for op in unit.ops:
        unit.ideal_(op, 0, 1)
        ideal = _weights(unit)
        unit.project_()
        unit.snap_()
        assert all(torch.equal(a, b) for a, b in zip(ideal, _weights(unit))), f"ideal weights for {op} move"


def obeys_the_habits_of_modules(subject: Subject) -> None:
    """state_dict, deepcopy, pickle, `.to()`, repr, meta device."""
    unit, x = subject.make(), _inputs(3)
    other = subject.unit(3, 2, dtype=torch.float64, **subject.options).eval()
    other.load_state_dict(unit.state_dict())
    for twin in (other, copy.deepcopy(unit), pickle.loads(pickle.dumps(unit))):
        _close(twin(x), unit(x), 0, "copy")
    assert unit.to(torch.float32)(x.float()).dtype == torch.float32, ".to(float32) must compute in float32"
    assert "in_features=3, out_features=2" in repr(unit), "repr must show the sizes"
    assert next(subject.unit(3, 2, device="meta").parameters()).is_meta, "device must be obeyed"


def draws_from_the_generator_handed_in(subject: Subject) -> None:
    """Equal generators give equal weights, and torch's own state is left alone."""
    unit = subject.make()
    before = torch.get_rng_state()
    unit.reset_parameters(torch.Generator().manual_seed(1))
    first = [p.detach().clone() for p in unit.parameters()]
    unit.reset_parameters(torch.Generator().manual_seed(1))
    assert all(torch.equal(a, b) for a, b in zip(first, unit.parameters())), "weights depend on more than it"
    assert torch.equal(before, torch.get_rng_state()), "torch's global generator was used"


def refuses_bad_input(subject: Subject) -> None:
    """Wrong sizes, types and operations are refused in a sentence; nothing is cast silently."""
    unit = subject.make()
    batch = subject.make(3, 2, (4,))
    x = _inputs(3)
    for bad in (lambda: unit(x[:, :2]), lambda: unit(x.long()), lambda: unit(x.float()), lambda: batch(x)):
        _refused(bad)
    for make in (lambda: subject.unit(0, 1), lambda: subject.unit(2, -1), lambda: subject.unit(2.0, 1)):  # type: ignore[arg-type]
        _refused(make)
    _refused(lambda: subject.unit(2, 1, dtype=torch.int64))
    _refused(lambda: unit.ideal_("no such operation", 0, 1))
    _refused(lambda: unit.ideal_(unit.ops[0], 0, 3))
    _refused(lambda: unit.recipe("no such operation"))


def keeps_precision_under_autocast(subject: Subject) -> None:
    """Autocast to bfloat16 changes nothing: exact weights must not be rounded silently."""
    unit, x = subject.make(), _inputs(3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        _close(unit(x), unit(x), 0, "autocast")
        inside = unit(x)
    _close(inside, unit(x), 0, "autocast")


def exports(subject: Subject) -> None:
    """torch.export gives a program with the same values."""
    unit, x = subject.make(), _inputs(3)
    program = torch.export.export(unit, (x,))
    _close(program.module()(x), unit(x), 1e-12, "exported program")


def compiles(subject: Subject) -> None:
    """torch.compile in one graph gives the same values and gradients."""
    unit, x = subject.make(), _inputs(3)
    torch.compiler.reset()  # units share the code of `forward`: many of them would exceed torch's limit
    compiled = torch.compile(unit, fullgraph=True, backend="aot_eager")
    _close(compiled(x), unit(x), 1e-12, "compiled")
    gradients = []
    for run in (unit, compiled):
        unit.zero_grad()
        run(x).square().sum().backward()
        gradients.append([p.grad.clone() for p in unit.parameters() if p.grad is not None])
    for eager, traced in zip(*gradients):
        _close(traced, eager, 1e-9, "compiled gradient")


CHECKS: tuple[Callable[[Subject], None], ...] = (
    says_what_it_is,
    equals_its_reference,
    has_right_gradients,
    is_exact_at_ideal_weights,
    has_its_symbolic_form,
    computes_models_side_by_side,
    takes_any_leading_shape,
    handles_many_inputs,
    stays_finite,
    projects_and_snaps,
    obeys_the_habits_of_modules,
    draws_from_the_generator_handed_in,
    refuses_bad_input,
    keeps_precision_under_autocast,
    exports,
    compiles,
)
"""All checks, in the order in which `check` runs them."""


def _inputs(features: int) -> Tensor:
    """Eight rows of either sign, away from zero."""
    generator = torch.Generator().manual_seed(11)
    sizes = 0.5 + 2 * torch.rand(8, features, dtype=torch.float64, generator=generator)
    signs = torch.where(torch.rand(8, features, generator=generator) < 0.5, -1.0, 1.0).double()
    return sizes * signs


def _weights(unit: Unit) -> list[Tensor]:
    return [value.detach().clone() for value in (*unit.weights().values(), *unit.gates().values())]


def _close(actual: Tensor, expected: Tensor, tolerance: float, what: str) -> None:
    actual, expected = actual.detach(), expected.detach()
    assert actual.shape == expected.shape, (
        f"{what}: shape {tuple(actual.shape)} is not {tuple(expected.shape)}"
    )
    error = (
        float(((actual - expected).abs() / expected.abs().clamp(min=1.0)).max()) if actual.numel() else 0.0
    )
    assert error <= tolerance, f"{what}: off by {error:.3g}, more than {tolerance:g}"


def _refused(action: Callable[[], Any]) -> None:
    try:
        action()
    except ArgumentError:
        return
    raise AssertionError("bad input was accepted")
