"""`nalm.solve`: a user's own model and table."""

import numpy as np
import pytest
import torch
from torch import nn

import nalm
from nalm.errors import ArgumentError
from nalm.second_order.solution import Found


def rows(n=400, inputs=6, low=-2.0, high=2.0, seed=0):
    u = torch.rand(n, inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return low + (high - low) * u


def noise(n, seed=1):
    return torch.randn(n, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_a_unit_ends_exact_in_place_and_can_be_read():
    x, unit = rows(), nalm.NMRU(6, 1)
    solution = nalm.solve(unit, x, x[:, 3] / x[:, 5])
    assert solution.model is unit
    assert solution.found is Found.EXACT
    assert solution.unique
    assert str(nalm.explain(unit, [f"x{k}" for k in range(6)])) == "x3/x5"


def test_drawn_starts_alone_find_what_can_be_reached_by_steps():
    x, unit = rows(low=1, high=2), nalm.NMU(6, 1)
    solution = nalm.solve(unit, x, x[:, 3] * x[:, 5], grow=False)
    assert solution.found is Found.EXACT
    assert solution.cost.start == "drawn"
    assert solution.cost.steps > 0
    assert unit.weight.tolist() == [[0, 0, 0, 1, 0, 1]]


def test_a_stack_learns_sums_and_their_product():
    x, model = rows(inputs=12, low=1, high=2), nn.Sequential(nalm.NAU(12, 2), nalm.NMU(2, 1))
    solution = nalm.solve(model, x, x[:, :5].sum(1) * x[:, 3:8].sum(1))
    assert solution.found is Found.EXACT
    assert sorted(model[0].weight.abs().sum(1).tolist()) == [5, 5]


def test_redundant_hidden_values_are_left_out():
    x, model = rows(inputs=8, low=1, high=2), nn.Sequential(nalm.NAU(8, 5), nalm.NMU(5, 1))
    assert nalm.solve(model, x, x[:, :3].sum(1) * x[:, 3:6].sum(1)).found is Found.EXACT
    assert model[1].weight.sum() == 2


def test_a_quotient_of_sums_is_learnt_by_a_unit_that_divides():
    x, model = rows(inputs=6, low=1, high=2), nn.Sequential(nalm.NAU(6, 2), nalm.NRU(2, 1))
    assert nalm.solve(model, x, x[:, :3].sum(1) / x[:, 3:5].sum(1)).found is Found.EXACT


def test_powers_between_whole_numbers_are_learnt_by_steps():
    x, unit = rows(low=0.1, high=2), nalm.RealNPU(6, 1)
    solution = nalm.solve(unit, x, x[:, 1].sqrt() / x[:, 4] ** 2)
    assert solution.found is Found.EXACT
    assert solution.cost.steps > 0
    assert unit.weight[0].tolist() == [0, 0.5, 0, 0, -2, 0]


def test_disturbed_targets_still_give_the_right_structure():
    x, unit = rows(low=1, high=2), nalm.NRU(6, 1)
    y = x[:, 0] / x[:, 1] * (1 + 0.01 * noise(len(x)))
    solution = nalm.solve(unit, x, y)
    assert solution.found is Found.DISCRETE
    assert unit.weight.tolist() == [[1, -1, 0, 0, 0, 0]]
    assert 1e-5 < solution.error < 1e-3


def test_weights_that_are_not_discrete_are_approximate():
    x, unit = rows(), nalm.NAU(6, 1)
    solution = nalm.solve(unit, x, 2.5 * x[:, 0])
    assert solution.found is Found.APPROXIMATE
    assert solution.error < 1e-12
    assert unit.weight[0, 0].item() == pytest.approx(2.5)


def test_targets_that_have_nothing_to_do_with_the_inputs_fail():
    assert nalm.solve(nalm.NMU(6, 1), rows(), noise(400)).found is Found.FAILED


def test_any_small_module_can_be_fitted():
    x, module = rows(), nn.Linear(6, 1)
    solution = nalm.solve(module, x, 3 * x[:, 0] + 1)
    assert solution.found is Found.APPROXIMATE
    assert module.bias.item() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("frozen", [[[0.0, 1.0]], [[0.5, 0.5]]])
def test_frozen_parameters_stay(frozen):
    model = nn.Sequential(nalm.NAU(4, 2), nalm.NMU(2, 1))
    model[1].weight.requires_grad_(False).copy_(torch.tensor(frozen))
    x = rows(inputs=4)
    solution = nalm.solve(model, x, x[:, 0] - x[:, 1])
    assert model[1].weight.tolist() == frozen
    assert (solution.found is Found.EXACT) == (frozen == [[0, 1]])


def test_a_frozen_first_unit_leaves_the_second_to_be_learnt():
    model = nn.Sequential(nalm.NAU(3, 2), nalm.NMU(2, 1))
    model[0].weight.requires_grad_(False).copy_(torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    x = rows(inputs=3)
    assert nalm.solve(model, x, (x[:, 0] + x[:, 1]) * x[:, 2]).found is Found.EXACT
    assert model[1].weight.tolist() == [[1, 1]]


def test_what_is_right_for_most_rows_or_outputs_is_not_exact():
    x = rows(1000, 4)
    rare = x.clone()
    rare[:800, 2] = 0
    with_rare = rare[torch.randperm(1000, generator=torch.Generator().manual_seed(0))]
    cases = [
        (nalm.NAU(4, 1), with_rare, with_rare[:, 0] + 0.5 * with_rare[:, 2]),
        (nalm.NMU(4, 1), x, torch.where(x[:, 2] > 1.2, -1, 1) * x[:, 0] * x[:, 1]),
        (nalm.NMU(4, 2), x, torch.stack([x[:, 0] * x[:, 1], x[:, 0].exp()], 1)),
        (nalm.NAU(4, 1), x + 1e6, x[:, 0] + 1e6 + 0.5 * x[:, 1]),
    ]
    for unit, inputs, y in cases:
        assert nalm.solve(unit, inputs, y).found is not Found.EXACT, y


def test_weights_that_leave_noise_unexplained_are_discrete_and_say_how_much():
    x = rows(low=1, high=2)
    solution = nalm.solve(nalm.NMU(6, 1), x, x[:, 0] * x[:, 1] * (1 + 0.01 * noise(len(x))))
    assert solution.found is Found.DISCRETE
    assert solution.unique
    assert str(solution).startswith("discrete, 0.15 % unexplained: ")


@pytest.mark.parametrize("size", [1e-7, 1e-4, 1e-2])
def test_noise_of_any_size_is_never_exact(size):
    x = rows(low=1, high=2, inputs=3)
    solution = nalm.solve(nalm.NMU(3, 1), x, x[:, 0] * x[:, 1] * (1 + size * noise(len(x))))
    assert solution.found is Found.DISCRETE
    assert solution.cost.unexplained == pytest.approx(12 * size**2, rel=0.5)


def test_a_target_outside_the_language_is_approximate_and_carries_its_r2():
    x, model = rows(1000, 3), nalm.Linear(3, 1)
    solution = nalm.solve(model, x, 1000 * x[:, 0].sin())
    assert solution.found is Found.APPROXIMATE
    assert solution.r2 == pytest.approx(0.95, abs=0.02)
    assert str(solution).startswith(f"approximate, R2 {solution.r2:.3g}: ")
    assert not solution.unique


def test_a_law_with_a_factor_that_the_model_does_not_have_is_not_exact():
    part = rows(400, 3, 0, 1)
    gas = torch.stack([0.5 + part[:, 0], 250 + 250 * part[:, 1], 0.001 + 0.049 * part[:, 2]], 1)
    model = nn.Sequential(nalm.RealNPU(3, 1), nalm.Linear(1, 1))
    solution = nalm.solve(model, gas, 8.314 * gas[:, 0] * gas[:, 1] / gas[:, 2], starts=1)
    assert solution.found in (Found.APPROXIMATE, Found.FAILED)


def test_a_unit_that_cannot_be_read_is_not_exact():
    x, unit = rows(low=1, high=3, inputs=3), nalm.NALU(3, 1)
    solution = nalm.solve(unit, x, x[:, 0] * x[:, 1])
    assert (solution.found is Found.EXACT) <= nalm.explain(unit).readable


@pytest.mark.parametrize("count", [4, 5, 10])
def test_rows_that_contradict_each_other_are_not_exact(count):
    for seed in range(6):
        generator = torch.Generator().manual_seed(seed)
        table = torch.randint(1, 10, (count, 4), generator=generator).double()
        assert nalm.solve(nalm.NAU(3, 1), table[:, :3], table[:, 3], starts=1).found is not Found.EXACT


def test_rows_that_could_not_have_contradicted_a_formula_do_not_make_it_exact():
    x, unit = rows(5, 6), nalm.NAU(6, 1)
    solution = nalm.solve(unit, x, x[:, 0] + x[:, 1])
    assert solution.found is not Found.EXACT
    assert not solution.unique
    assert "fewer rows (5) than columns (6)" in str(solution)


def test_few_rows_that_could_have_contradicted_it_are_enough():
    x, unit = rows(10, 3), nalm.NAU(3, 1)
    assert nalm.solve(unit, x, x[:, 0] - x[:, 2]).found is Found.EXACT


def test_repeated_rows_count_once():
    x = rows(4, 4).repeat(10, 1)
    assert nalm.solve(nalm.NAU(4, 1), x, x[:, 0] - x[:, 2]).found is not Found.EXACT


@pytest.mark.parametrize("size", [3.0, 1e3])
def test_a_wrong_row_is_named_wherever_it_is_split_to(size):
    x = rows(1000, 4)
    for row in (3, 500):
        y, unit = x[:, 0] * x[:, 1], nalm.NMU(4, 1)
        y[row] += size
        for seed in range(3):
            solution = nalm.solve(unit, x, y, seed=seed)
            assert solution.found is Found.DISCRETE
            assert solution.notes == (
                f"The formula fits all but 1 of 1,000 rows to the data's precision; the other row is {row}.",
            )
            assert unit.weight.tolist() == [[1, 1, 0, 0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision_is_that_of_the_numbers_given(dtype):
    x = rows(inputs=3).to(dtype)
    assert nalm.solve(nalm.NMRU(3, 1), x, x[:, 0] / x[:, 1]).found is Found.EXACT


def test_targets_rounded_to_places_or_digits_are_met_to_those():
    x = rows(inputs=3, low=1, high=9)
    y = x[:, 0] * x[:, 1]
    digits = torch.tensor([float(f"{value:.5g}") for value in y.tolist()], dtype=torch.float64)
    for given in (y.round(decimals=3), digits):
        assert nalm.solve(nalm.NMU(3, 1), x, given).found is Found.EXACT


def copied_to_digits(x):
    return x[:, 0].round(decimals=3)


def product(x):
    return x[:, 0] * x[:, 1]


def copy(x):
    return x[:, 1]


@pytest.mark.parametrize("column", [copied_to_digits, product, copy])
def test_columns_that_others_could_stand_for_are_not_unique(column):
    x = rows(inputs=4)
    x[:, 3] = column(x)
    solution = nalm.solve(nalm.NMU(4, 1), x, x[:, 0] * x[:, 1])
    assert solution.found is Found.EXACT
    assert not solution.unique
    assert len(solution.notes) == 1


def test_a_module_with_parameters_outside_units_is_never_exact():
    x, model = rows(inputs=3), nn.Sequential(nalm.NMU(3, 1), nn.Linear(1, 1))
    assert nalm.solve(model, x, 2.37 * x[:, 0] * x[:, 1] + 0.5).found is Found.APPROXIMATE


def test_logic_is_learnt():
    truths = (rows(inputs=3) > 0).double()
    assert nalm.solve(nalm.NLRL(3, 1), truths, truths[:, 0] * truths[:, 1]).found is not Found.FAILED


@pytest.mark.parametrize("scale", [1e-30, 1e30, 1e200])
def test_numbers_of_any_size_end_without_an_error(scale):
    x, unit = rows(inputs=3) * scale, nalm.NAU(3, 1)
    assert nalm.solve(unit, x, x[:, 0] - x[:, 1]).found in tuple(Found)


def test_a_scalar_parameter_can_be_fitted():
    class Times(nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.Parameter(torch.tensor(1.0))

        def reset_parameters(self):
            nn.init.uniform_(self.factor)

        def forward(self, x):
            return self.factor * x

    x, module = rows(inputs=1), Times()
    assert nalm.solve(module, x, 2.5 * x[:, 0]).found is Found.APPROXIMATE
    assert module.factor.item() == pytest.approx(2.5)


def test_few_rows_held_back_that_are_met_by_luck_are_no_r2():
    for seed in range(12):
        generator = np.random.default_rng(seed)
        x, y = generator.normal(size=(10, 8)), generator.normal(size=10)
        solution = nalm.solve("nau", x, y, starts=1)
        with torch.no_grad():
            left = (solution.model(torch.from_numpy(x))[:, 0].numpy() - y).var() / y.var()
        assert solution.r2 <= 1 - left + 1e-9
        assert solution.found is Found.FAILED or solution.r2 >= 0.5


def test_a_constant_target_has_an_r2_that_can_be_read():
    assert nalm.solve("nau", rows(inputs=3), np.ones(400)).r2 > -1


def test_the_same_seed_gives_the_same():
    x = rows(low=1, high=2)
    found = []
    for _ in range(2):
        torch.rand(3)
        unit = nalm.NMU(6, 1)
        nalm.solve(unit, x, (x[:, 0] * x[:, 1]).sin(), seed=3)
        found.append(unit.weight.detach().clone())
    assert torch.equal(*found)


class Frame:
    """Like a table of pandas: numbers with column names."""

    columns = ("mass", "speed", "again")

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


def test_arrays_and_tables_with_column_names_are_taken():
    values = rows(inputs=3).numpy()
    values[:, 2] = values[:, 0]
    solution = nalm.solve(nalm.NMU(3, 1), Frame(values), values[:, 0] * values[:, 1])
    assert not solution.unique
    assert solution.notes == ("Columns mass and again are equal: either could replace the other.",)
    assert "mass and again are equal" in str(solution)


def test_a_model_can_be_given_by_its_name():
    x = rows(inputs=3)
    solution = nalm.solve("nau", x, x[:, 0] - x[:, 2], names=["a", "b", "c"])
    assert solution.found is Found.EXACT
    assert isinstance(solution.model, nalm.NAU)
    assert str(nalm.explain(solution.model, solution.names)) == "a - c"
    stack = nalm.solve("nau+nmu", x + 3, (x[:, 0] + x[:, 1] + 6) * (x[:, 2] + 3), hidden=3).model
    assert stack[0].out_features == 3


class Passes(nn.Module):
    """A module of one's own that passes rows from unit to unit."""

    def __init__(self):
        super().__init__()
        self.sums, self.shape, self.product = nalm.NAU(4, 2), nn.Flatten(), nalm.NMU(2, 1)

    def forward(self, x):
        return self.product(self.shape(self.sums(x)))


def test_a_module_of_ones_own_that_passes_rows_on_is_solved_like_a_stack():
    x, model = rows(inputs=4, low=1, high=2), Passes()
    y = (x[:, 0] + x[:, 1]) * (x[:, 2] - x[:, 3])
    own, stack = nalm.solve(model, x, y), nalm.solve(nn.Sequential(nalm.NAU(4, 2), nalm.NMU(2, 1)), x, y)
    assert own.found is stack.found is Found.EXACT
    assert own.cost.steps == stack.cost.steps
    assert own.model is model
    assert torch.allclose(model(x.float())[:, 0].double(), y, rtol=1e-5, atol=1e-5)


def test_a_hook_is_part_of_the_model():
    x, unit = rows(inputs=3), nalm.NMU(3, 1)
    unit.register_forward_hook(lambda module, given, result: result + 100)
    nalm.solve(unit, x, x[:, 0] * x[:, 1] + 100)
    assert unit.weight.tolist() == [[1, 1, 0]]
    unit = nalm.NMU(3, 1)
    unit.register_forward_hook(lambda module, given, result: result + 100)
    assert nalm.solve(unit, x, x[:, 0] * x[:, 1]).found is Found.FAILED


def test_the_formula_of_a_solution_that_is_not_exact_says_so():
    x, unit = rows(inputs=3), nalm.NMU(3, 1)
    nalm.solve(unit, x, noise(len(x)))
    assert "`nalm.solve` found it failed, R2 " in str(nalm.explain(unit))
    nalm.solve(unit, x, x[:, 0] * x[:, 1])
    assert str(nalm.explain(unit)) == "x1*x2"


def test_tables_made_under_inference_mode_are_solved():
    with torch.inference_mode():
        x, unit = rows(inputs=3).clone(), nalm.NMU(3, 1)
        assert nalm.solve(unit, x, x[:, 0] * x[:, 2]).found is Found.EXACT


def test_what_is_no_data_is_refused():
    x, y = rows(), rows()[:, 0]
    unit = nalm.NMU(6, 1)
    bad = x.clone()
    bad[5, 1] = torch.inf
    cases = [
        ((unit, bad, y), "inf in row 5 in column x2"),
        ((unit, x, y[:-1]), "`y` must be of 400 rows"),
        ((unit, x[:3], y[:3]), "four rows or more"),
        ((unit, x[0], y), "`x` must be of shape n x in"),
        ((unit, [["a", "b"]] * 5, y), "`x` must be a table of numbers"),
        ((nalm.NMU(4, 1), x, y), "a module from 6 inputs to 1 outputs"),
        ((3, x, y), "`model` must be an nn.Module or the name of one"),
        (("nmv", x, y), "Did you mean 'nmu'"),
        (("nmu@unclipped", x, y), "recipe"),
        ((unit, x.to("meta"), y), "meta device"),
        ((nalm.NMU(6, 1, device="meta"), x, y), "meta device"),
        ((nalm.NAU(5000, 1), x, y), "at most 4,096 parameters"),
        ((unit, x.numpy() + 1j, y), "`x` must be real numbers"),
    ]
    for arguments, words in cases:
        with pytest.raises(ArgumentError, match=words):
            nalm.solve(*arguments)
    with pytest.raises(ArgumentError, match="cannot grow"):
        nalm.solve(nn.Linear(6, 1), x, y, starts=0)
    for wrong in ({"starts": -1}, {"steps": 0}, {"seed": -1}, {"names": ["a"]}, {"starts": 0, "grow": False}):
        with pytest.raises(ArgumentError):
            nalm.solve(unit, x, y, **wrong)
