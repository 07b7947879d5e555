"""A user's own modules: what is read is what they compute, or it is said which part cannot be read."""

import contextlib

import pytest
import sympy as sp
import torch
from torch import nn
from torch.nn.utils import parametrize, prune

import nalm
from nalm.symbolic.stack import as_stack

A, B, C = sp.symbols("a b c", real=True)


def unit(cls, op, inputs=2, outputs=1, **options):
    made = cls(inputs, outputs, **options)
    made.ideal_(op)
    return made


class Net(nn.Module):
    """Only units inside: (a + b) * (a + b)."""

    def __init__(self):
        super().__init__()
        self.sums, self.product = unit(nalm.NAU, "add", 3, 2), unit(nalm.NMU, "mul")

    def forward(self, x):
        return self.product(self.sums(x))


class Reshaped(Net):
    def forward(self, x):
        if x.dim() != 2:
            raise ValueError("rows are expected")
        hidden = torch.flatten(self.sums(x.unsqueeze(1)), 1)
        return self.product(hidden.view(len(x), -1)).reshape(x.size(0), 1)


class Arithmetic(Net):
    def forward(self, x):
        both = torch.cat([self.sums(x)[:, :1], x[:, 2:]], -1)
        return self.product(both) - 2 * x[..., 0:1] / both.sum(-1, keepdim=True)


class InPlace(Net):
    def forward(self, x):
        y = super().forward(x)
        y += 1
        y[:, 0] = 3 * y[:, 0]
        return y


class Remembers(Net):
    def forward(self, x):
        self.last = self.sums(x)
        return self.product(self.last)


class SingleOnly(Net):
    def forward(self, x):
        return super().forward(x.float())


class Plus100(nn.Sequential):
    def forward(self, x):
        return super().forward(x) + 100


class OwnForward(nalm.NMU):
    def forward(self, x):
        return super().forward(x) + 100


class HalfSum(nalm.NAU):
    def compute(self, x):
        return super().compute(x) / 2


class Halved(nn.Module):
    def forward(self, w):
        return w / 2


def hooked(model, hook):
    model.register_forward_hook(hook)
    return model


def pre_hooked(model, hook):
    model.register_forward_pre_hook(hook)
    return model


def plus_100(module, inputs, output):
    return output + 100


def own_instance():
    made = unit(nalm.NMU, "mul")
    made.forward = lambda x: nalm.NMU.forward(made, x) + 100
    return made


# -- what is read is what is computed ------------------------------------------------------------


READ = {
    "only units inside": (Net, (A + B) ** 2),
    "changes of shape": (Reshaped, (A + B) ** 2),
    "columns and arithmetic": (Arithmetic, C * (A + B) - 2 * A / (A + B + C)),
    "in place": (InPlace, 3 * (A + B) ** 2 + 3),
    "keeps what it has computed": (Remembers, (A + B) ** 2),
    "one precision alone": (SingleOnly, (A + B) ** 2),
    "a Sequential with its own forward": (lambda: Plus100(Net()), (A + B) ** 2 + 100),
    "a hook on a module": (lambda: hooked(Net(), plus_100), (A + B) ** 2 + 100),
    "a hook on a Sequential": (lambda: hooked(nn.Sequential(Net()), plus_100), (A + B) ** 2 + 100),
    "flattened first": (lambda: nn.Sequential(nn.Flatten(), Net()), (A + B) ** 2),
    "dropout": (lambda: nn.Sequential(nn.Dropout(), Net()), (A + B) ** 2),
    "relu": (lambda: nn.Sequential(Net(), nn.ReLU()), sp.Max(0, (A + B) ** 2)),
    "DataParallel": (lambda: nn.DataParallel(Net()), (A + B) ** 2),
    "compiled": (lambda: torch.compile(Net()), (A + B) ** 2),
    "compiled inside": (lambda: nn.Sequential(nn.Flatten(), torch.compile(Net())), (A + B) ** 2),
}


@pytest.mark.parametrize("name", READ)
def test_modules_are_read_as_what_they_compute(name):
    make, formula = READ[name]
    model = make()
    if name == "keeps what it has computed":
        model(torch.rand(2, 3))
    explanation = nalm.explain(model, "abc")
    assert explanation.readable
    assert sp.simplify(explanation.expressions[0] - formula) == 0


@pytest.mark.parametrize(
    ("make", "formula"),
    [
        (lambda: hooked(unit(nalm.NMU, "mul"), plus_100), A * B + 100),
        (lambda: pre_hooked(unit(nalm.NMU, "mul"), lambda m, given: (2 * given[0],)), 4 * A * B),
        (lambda: unit(OwnForward, "mul"), A * B + 100),
        (own_instance, A * B + 100),
        (lambda: nn.Sequential(Plus100(unit(nalm.NMU, "mul"))), A * B + 100),
    ],
    ids=["hook", "pre-hook", "own forward", "forward of an instance", "inside a Sequential"],
)
def test_units_that_do_more_are_read_with_it(make, formula):
    assert nalm.explain(make(), "ab").expressions == [formula]


def test_a_hook_that_only_looks_changes_nothing():
    seen = []
    model = hooked(unit(nalm.NMU, "mul"), lambda m, x, y: seen.append(y.mean().item()))
    assert nalm.explain(model, "ab").expressions == [A * B]
    assert all(isinstance(value, float) for value in seen)


def test_several_units_side_by_side_have_an_expression_each():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.sums, self.product = unit(nalm.NAU, "add"), unit(nalm.NMU, "mul")

        def forward(self, x):
            return torch.cat([self.sums(x[:, :2]), self.product(x[:, 1:])], 1)

    assert nalm.explain(Two(), "abc").expressions == [A + B, B * C]
    assert [str(e) for e in nalm.explain(Two()).expressions] == ["x1 + x2", "x2*x3"]


def test_distributed_models_are_looked_through(tmp_path):
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        model = nn.parallel.DistributedDataParallel(Net())
        assert str(nalm.explain(model, "abc")) == "(a + b)**2"
    finally:
        dist.destroy_process_group()


def test_a_batch_of_modules_gives_a_list():
    model = nn.Sequential(nn.Identity(), nalm.NAU(2, 1, batch_shape=(2,)))
    with torch.no_grad():
        model[1].weight.copy_(torch.tensor([[[1.0, 1.0]], [[1.0, -1.0]]]))
    assert [e.expressions for e in nalm.explain(model, "ab")] == [[A + B], [A - B]]


@pytest.mark.parametrize("make", [Net, lambda: nn.Sequential(nn.Flatten(), Net())])
def test_the_module_is_not_changed(make):
    model = make().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    keys = [set(vars(module)) for module in model.modules()]
    nalm.explain(model)
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert keys == [set(vars(module)) for module in model.modules()]
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad, contextlib.nullcontext])
def test_modules_are_read_in_any_mode(mode):
    with mode():
        assert nalm.explain(Net(), "abc").expressions == [(A + B) ** 2]
        assert nalm.explain(unit(nalm.NMU, "mul"), "ab").expressions == [A * B]


@pytest.mark.parametrize("names", ["ab", "abcd"])
def test_a_wrong_number_of_names_is_refused(names):
    with pytest.raises(nalm.ArgumentError, match=f"`names` must be 3 names, .*, but got {len(names)}"):
        nalm.explain(Net(), names)


# -- weights that torch computes -----------------------------------------------------------------


def test_parametrized_weights_are_read_as_they_are_used():
    made = nalm.NMU(2, 1)
    with torch.no_grad():
        made.weight.fill_(2.0)
    parametrize.register_parametrization(made, "weight", Halved())
    assert nalm.explain(made, "ab").expressions == [A * B]
    assert nalm.explain(nn.Sequential(made), "ab").expressions == [A * B]
    with torch.no_grad():
        made.parametrizations.weight.original.fill_(1.0)
    explanation = nalm.explain(made, "ab")
    assert not explanation.readable
    assert "W[0, 0] is 0.5, 0.5 away from 0" in str(explanation)


def test_pruned_weights_are_read_as_they_are_used():
    made = unit(nalm.NAU, "add", 3)
    prune.custom_from_mask(made, "weight", torch.tensor([[1.0, 0.0, 1.0]]))
    assert nalm.explain(made, "abc").expressions == [A]


# -- what cannot be read is said -----------------------------------------------------------------


class Clamped(Net):
    def forward(self, x):
        return super().forward(x).clamp(max=10)


class MixesRows(Net):
    def forward(self, x):
        return super().forward(x - x.mean(0))


class GivesTwo(Net):
    def forward(self, x):
        return self.sums(x), super().forward(x)


class TakesTwo(Net):
    def forward(self, x, y):
        return super().forward(x + y)


class WritesIntoItsOwn(Net):
    def forward(self, x):
        result = torch.zeros(len(x), 1, dtype=x.dtype)
        result[:] = super().forward(x)
        return result


REFUSED = {
    r"`1` \(Linear\) is not a nalm unit": lambda: nn.Sequential(Net(), nn.Linear(1, 1)),
    r"`inner.1` \(BatchNorm1d\) is not a nalm unit": lambda: nn.Sequential(
        nn.Sequential(Net(), nn.BatchNorm1d(1))
    ),
    r"the model \(Clamped\) uses `clamp` in its forward": Clamped,
    r"the model \(NMU\) has its own `forward` or a hook with `sin`": lambda: hooked(
        unit(nalm.NMU, "mul", 3), lambda m, x, y: y.sin()
    ),
    "result for a row depends on other rows": MixesRows,
    "returns a tuple instead of a tensor": GivesTwo,
    "missing 1 required positional argument: 'y'": TakesTwo,
    r"\(WritesIntoItsOwn\) uses `setitem`": WritesIntoItsOwn,
    'NotImplementedError: Module .ModuleList. is missing the required "forward"': lambda: nn.ModuleList(
        [Net()]
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_the_part_that_cannot_be_read_is_named(reason):
    model = REFUSED[reason]()
    if "inner" in reason:
        model = nn.Sequential()
        model.add_module("inner", nn.Sequential(Net(), nn.BatchNorm1d(1)))
    with pytest.raises(nalm.ArgumentError, match=f"`model` must be made of nalm units.*{reason}"):
        nalm.explain(model, "abc")


def test_a_unit_that_does_not_compute_its_formula_is_named():
    explanation = nalm.explain(nn.Sequential(unit(HalfSum, "add", 2, 2), unit(nalm.NMU, "mul")), "ab")
    assert not explanation.readable
    assert explanation.expressions == []
    assert "`0` (HalfSum) does not compute its own formula" in str(explanation)
    fresh = nalm.explain(HalfSum(2, 1), "ab")
    assert fresh.expressions == []
    assert "the HalfSum does not compute its own formula" in str(fresh)


def test_a_module_that_does_otherwise_for_other_inputs_is_noticed():
    class Branches(Net):
        def forward(self, x):
            return super().forward(x) if x.sum() > 0 else -super().forward(x)

    explanation = nalm.explain(Branches(), "abc")
    assert not explanation.readable
    assert explanation.expressions == []
    assert "the model gives" in str(explanation)


# -- the stack that a module is ------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["only units inside", "changes of shape", "flattened first", "dropout", "compiled", "DataParallel"],
)
def test_a_module_that_only_passes_on_is_a_stack_of_its_own_units(name):
    model = READ[name][0]()
    stack = as_stack(model)
    assert [type(layer) for layer in stack] == [nalm.NAU, nalm.NMU]
    own = {id(parameter) for parameter in model.parameters()}
    assert {id(parameter) for parameter in stack.parameters()} == own


def test_a_plain_sequential_is_its_own_stack():
    model = nn.Sequential(nn.Sequential(nalm.NAU(3, 2)), nalm.NMU(2, 1))
    assert list(as_stack(model)) == [model[0][0], model[1]]


@pytest.mark.parametrize("name", ["columns and arithmetic", "in place", "a hook on a module", "relu"])
def test_a_module_that_does_more_is_no_stack(name):
    assert as_stack(READ[name][0]()) is None


@pytest.mark.parametrize("model", [nn.Linear(2, 1), nn.Sequential(nn.Linear(2, 2), nalm.NAU(2, 1))])
def test_a_module_of_other_layers_is_no_stack(model):
    assert as_stack(model) is None


def test_a_module_that_branches_on_its_input_is_no_stack():
    class Branches(Net):
        def forward(self, x):
            return super().forward(x) if x.sum() > 0 else -super().forward(x)

    assert as_stack(Branches()) is None


def test_a_module_with_weights_of_its_own_is_no_stack():
    class Unused(Net):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1))

    assert as_stack(Unused()) is None


class RowByRow(nn.Module):
    def __init__(self):
        super().__init__()
        self.unit = nalm.NAU(2, 1)
        self.unit.ideal_("add", 0, 1)

    def forward(self, x):
        return torch.stack([self.unit(row) for row in x])


def test_a_module_that_takes_its_rows_one_by_one_is_read():
    assert str(nalm.explain(RowByRow(), ["a", "b"])) == "a + b"
