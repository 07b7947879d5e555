"""Kernels: a step as one C++ loop computes what the step itself computes, for any company of models."""

import dataclasses

import pytest
import torch

import nalm
from nalm.engine.batch import Batch, Settings
from nalm.engine.kernel.kernel import Kernel
from nalm.engine.kernel.unsupported import Unsupported
from nalm.models import ModelSpec
from nalm.models.many import Models
from nalm.recipes import SGD, RMSProp
from nalm.recipes.gradients import ClipNorm, GradientNoise
from nalm.recipes.losses import MAPE, PCC, RMSE, PCCThenMSE
from nalm.streams import counters
from nalm.tasks import OPERATIONS, ArithmeticDataset, SingleModule, Split
from nalm.trained import RunGroup
from nalm.training.published import published_recipe
from nalm.units import UNITS

CPU = torch.device("cpu")
SAMPLES = 32


def batch(model, task, runs=5, **changes):
    """Runs of a model on a task with its published recipe, or that with some parts changed."""
    spec = ModelSpec.parse(model)
    recipe = dataclasses.replace(published_recipe(spec, task), **changes)
    module = spec.build(task.in_features, task.out_features)
    group = RunGroup(module, [task] * runs, [recipe] * runs, list(range(runs)), None)
    return Batch(Models(module, torch.float32, CPU), group, Settings(100, 100, torch.float32, CPU, True))


def assert_loops(made):
    """Both programs are loops, and their first use has not found that they differ from the eager step."""
    made.errors()
    made.loss = torch.ones_like(made.loss)
    program, inputs = made._step_program()
    program.repeat(made.state, inputs, 2)
    assert program.way == "loop"
    assert made._error_program(Split.VALIDATION)[0].way == "loop"


ARITHMETIC = [name for name, unit in UNITS.items() if set(unit.ops) & set(OPERATIONS)]


@pytest.mark.parametrize("inputs", [2, 10])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_every_unit_with_few_inputs_is_a_loop(name, inputs):
    op = next(op for op in OPERATIONS if op in UNITS[name].ops)
    assert_loops(batch(name, SingleModule(op, range="-2:2", inputs=inputs)))


STACKS = [
    "nau+nmu",
    "nau+nau",
    "nac+nac",
    "nac+nac-mul",
    "nalu+nalu",
    "linear+nmu",
    "inac+nmu",
    "nau+npu",
    "nau+nmru",
]


@pytest.mark.parametrize("name", STACKS)
def test_stacks_of_many_inputs_are_loops(name):
    op = next(op for op in OPERATIONS if op in ModelSpec.parse(name).units[-1].ops)
    assert_loops(batch(name, ArithmeticDataset(op)))


@pytest.mark.parametrize("name", ["nau", "nalu", "realnpu"])
def test_units_of_many_inputs_are_loops(name):
    assert_loops(batch(name, SingleModule(UNITS[name].ops[0], inputs=100)))


CHANGES = {
    "correlation": {"loss": PCC()},
    "root": {"loss": RMSE()},
    "percent": {"loss": MAPE()},
    "one after the other": {"loss": PCCThenMSE(switch=1.0)},
    "descent": {"optimiser": SGD(momentum=0.9)},
    "root of squares": {"optimiser": RMSProp()},
    "noise": {"gradient_noise": GradientNoise()},
    "norm": {"clip_norm": ClipNorm(1.0)},
    "four lanes": {"batch_size": 60},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize(
    ("name", "task"),
    [("nmu", SingleModule("mul")), ("nau+nmu", ArithmeticDataset("mul"))],
    ids=["unit", "stack"],
)
def test_every_part_of_a_recipe_is_in_the_loop(name, task, changes):
    """Losses that need sums before they have gradients go over the samples several times."""
    assert_loops(batch(name, task, **changes))


@pytest.mark.parametrize("drawn", ["mixed-1", "tn-0", "benford", "-6:-2|2:6=>6:8"])
def test_every_kind_of_range_is_in_the_loop(drawn):
    assert_loops(batch("nmru", SingleModule("mul", range=drawn, inputs=10)))


def test_thousands_of_inputs_do_not_need_a_large_stack():
    assert_loops(batch("nau+nmu", ArithmeticDataset("mul", inputs=3000), runs=2))


@pytest.mark.parametrize("name", ["nmu", "nau+nmu", "snmu"])
def test_a_run_has_the_same_bits_in_any_company_and_in_any_portions(name):
    task = ArithmeticDataset("mul") if "+" in name else SingleModule("mul")
    many, few = batch(name, task, runs=21), batch(name, task, runs=3)
    many.advance(0, 20)
    few.advance(0, 7)
    few.advance(7, 13)
    for key, value in few.state.items():
        assert torch.equal(value, many.state[key][:3]), key


def test_returning_to_python_between_steps_changes_no_bit(monkeypatch):
    whole, parts = (batch("nau", SingleModule("add"), runs=3) for _ in range(2))
    whole.advance(0, 50)
    monkeypatch.setattr("nalm.engine.kernel.kernel.AT_ONCE", 20)
    parts.advance(0, 50)
    assert all(torch.equal(value, parts.state[name]) for name, value in whole.state.items())


def test_a_step_with_ragged_samples_is_left_to_torch():
    made = batch("nmu", SingleModule("mul"), batch_size=30)
    assert made._step_program()[0].way == "torch"


# -- what a kernel refuses -----------------------------------------------------------------------------


def kernel(function, state, inputs=()):
    return Kernel(function, list(state), list(inputs), [], SAMPLES)


def drawn(x):
    """Numbers `models x samples` that depend on the model and on the sample."""
    return (counters(SAMPLES) ^ x[:, None].int()).to(x.dtype)


REFUSED = {
    "a sum over models": lambda x: [x - x.sum()],
    "random numbers of torch": lambda x: [x + torch.rand(x.shape)],
    "an unknown operation": lambda x: [torch.cumsum(drawn(x), -1).sum(-1)],
    "a cut through samples": lambda x: [drawn(x)[:, :7].sum(-1)],
    "one sample": lambda x: [drawn(x)[:, 3]],
    "a constant per model": lambda x: [x + torch.arange(len(x))],
    "samples in the state": lambda x: [drawn(x)],
    "double precision per sample": lambda x: [drawn(x.double()).sum(-1).float()],
}


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_loop_over_models_is_refused(function):
    with pytest.raises(Unsupported):
        kernel(function, [torch.ones(3)])


def test_reading_through_a_view_after_writing_is_refused():
    def function(x):
        fresh = x + 1
        view = fresh[:, :1]
        fresh.clamp_(0, 1)
        return [fresh + view]

    with pytest.raises(Unsupported, match="view"):
        kernel(function, [torch.ones(3, 2)])


def test_writing_into_a_tensor_is_followed():
    def function(x):
        fresh = x + 1
        fresh.clamp_(0, 1.5)
        return [fresh * 2]

    found = kernel(function, [torch.ones(3, 2)]).repeat([torch.tensor([[0.1, 0.7]])], [], 1)
    torch.testing.assert_close(found[0], torch.tensor([[2.2, 3.0]]))


def test_an_axis_that_looks_like_models_is_traced_again_with_another_number():
    def function(x):
        return [(x[:, None] * torch.linspace(0, 1, 37)).sum(-1)]

    found = kernel(function, [torch.ones(3)]).repeat([torch.tensor([1.0, 2.0])], [], 1)
    torch.testing.assert_close(found[0], torch.tensor([18.5, 37.0]))


def test_no_steps_change_nothing():
    state = [torch.rand(3)]
    assert torch.equal(kernel(lambda x: [x + 1], state).repeat(state, [], 0)[0], state[0])


def test_a_trained_model_is_the_same_whichever_way_it_was_compiled(monkeypatch):
    """The loop and torch's compiler differ by rounding: after some steps they still agree to many digits."""
    ways = []
    for refuse in (False, True):
        monkeypatch.setattr("nalm.engine.batch._PROGRAMS", {})
        if refuse:
            monkeypatch.setattr("nalm.engine.program.Program._compile_as_loop", lambda *_: False)
        ways.append(nalm.train("nau", SingleModule("add"), iterations=50, log_interval=50))
    torch.testing.assert_close(ways[0].validation, ways[1].validation, rtol=1e-3, atol=1e-6)


class Product(torch.nn.Module):
    """A user's own module, without a model axis."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(2))
        self.reset_parameters()

    def reset_parameters(self):
        torch.nn.init.uniform_(self.weight, 0.25, 0.75)

    def forward(self, x):
        return (self.weight * x + 1 - self.weight).prod(-1, keepdim=True)


class Sorted(Product):
    """One with an operation that the loop does not know."""

    def forward(self, x):
        return super().forward(x.sort(-1).values)


@pytest.mark.parametrize(("module", "way"), [(Product, "loop"), (Sorted, "torch")])
def test_a_module_of_the_users_own(module, way):
    models = Models(module(), torch.float32, CPU)
    recipe = nalm.NMU.recipe("mul")
    group = RunGroup(module(), [SingleModule("mul")] * 3, [recipe] * 3, [0, 1, 2], None)
    made = Batch(models, group, Settings(10, 10, torch.float32, CPU, True))
    made.advance(0, 2)
    assert made._step_program()[0].way == way
