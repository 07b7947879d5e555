"""Heim et al. 2020, tables 1 and 2, and the set-ups of the thesis's table 3.1."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from in_process import computed, computed_chunk

import nalm
from nalm.experiment.plan import make_plan
from nalm.experiment.run import Run
from nalm.papers.heim2020.programs import large as heim_large
from nalm.papers.heim2020.programs import simple as heim_simple
from nalm.papers.heim2020.programs.units import ForwardClippedNMU, InputGatedINALU
from nalm.papers.mistry2023.programs import setups
from nalm.papers.published import numbers_of
from nalm.papers.scale import Scale
from nalm.papers.shared.large_scale import BLOCK, Sums
from nalm.tasks import ArithmeticDataset, Split, Task
from nalm.tasks.sampling import sample

SEEDS = [0, 1]


def drawn(task: Task, rows: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    return sample(task, seed, Split.TRAIN, rows, dtype=torch.float32)


def exact(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([f(x[:, 0], x[:, 1]) for f in heim_simple.FUNCTIONS.values()], -1)


@pytest.mark.parametrize(("table", "module"), [("table1", heim_simple), ("table2", heim_large)])
def test_rows_and_columns_are_those_of_the_published_numbers(table, module):
    columns = (
        set(heim_simple.FUNCTIONS) if table == "table1" else {column.op for column in heim_large.COLUMNS}
    )
    published = {(number.row, number.column) for number in numbers_of(f"heim2020:{table}")}
    assert published == {(row, column) for row in module.ROWS for column in columns}


# -- table 1 ---------------------------------------------------------------------------------------


def test_the_grids_are_outside_the_training_range_and_avoid_zero():
    x = heim_simple.grid("div")
    assert x.shape == (41 * 41, 2)
    assert (x.amin().item(), x.amax().item()) == pytest.approx((-4.1, 3.9))
    assert x.abs().min().item() == pytest.approx(0.1, abs=1e-5)
    assert heim_simple.grid("sqrt").amin().item() == pytest.approx(0.1)


def test_the_error_is_the_mean_absolute_error_of_one_output():
    class Off(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return exact(x) + torch.tensor([0.5, -0.25, 0.0, 2.0])

    errors = [heim_simple.grid_error(Off(), column, k) for k, column in enumerate(heim_simple.FUNCTIONS)]
    assert errors == pytest.approx([0.5, 0.25, 0.0, 2.0], abs=1e-5)


def test_the_four_functions_are_trained_on_positive_inputs():
    x, y = drawn(heim_simple.FourFunctions(), 1000)
    assert 0.1 <= x.amin() < 0.12
    assert 1.98 < x.amax() <= 2
    torch.testing.assert_close(y, exact(x))


@pytest.mark.parametrize("label", heim_simple.ROWS)
def test_every_network_of_table_1_learns(label):
    case = heim_simple.ROWS[label].case(label, 30)
    for record in computed([Run(case, seed) for seed in SEEDS]).values():
        assert record.validation[-1] < record.validation[0]


def test_the_forward_clipped_nmu_has_no_gradient_beyond_its_bounds():
    unit = ForwardClippedNMU(2, 1)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[1.5, 0.5]]))
    unit(torch.tensor([[3.0, 5.0]])).sum().backward()
    assert unit.weight.grad is not None
    assert unit.weight.grad[0, 0] == 0
    assert unit.weight.grad[0, 1] == 3 * (5 - 1)


def test_the_gate_of_the_inalu_depends_on_the_input():
    unit = InputGatedINALU(2, 1)
    with torch.no_grad():
        for raw in (unit.w_hat, unit.m_hat, unit.w_hat_mul, unit.m_hat_mul):
            raw.fill_(30.0)
        unit.gate.copy_(torch.tensor([[30.0, 0.0]]))
    found = unit(torch.tensor([[2.0, 3.0], [-2.0, 3.0]]))
    torch.testing.assert_close(found, torch.tensor([[5.0], [-6.0]]))


# -- table 2 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "value"), [("add", 100.0), ("mul", 2500.0), ("recip", 0.02), ("sqrt", 50**0.5)]
)
def test_targets_are_operations_on_sums_of_fifty_inputs(op, value):
    task = Sums(op, "0.999:1.001=>1:2")
    x, y = drawn(task, 4)
    assert x.shape == (4, 100)
    torch.testing.assert_close(y, torch.full((4, 1), value), rtol=1e-3, atol=0)


def test_the_subsets_of_heim_overlap_by_twelve():
    rows = Sums("mul", "1:2=>2:6").chosen(0)
    assert rows.sum(-1).tolist() == [50, 50]
    assert rows.prod(0).nonzero()[0].tolist() == list(range(38, 50))


def test_the_subsets_of_schloer_are_drawn_and_do_not_overlap():
    task = Sums("mul", "1:2=>2:6", "schloer")
    rows = task.chosen(0)
    assert rows.sum(-1).tolist() == [33, 33]
    assert not rows.prod(0).any()
    assert (rows != task.chosen(1)).any()


def test_sobol_batches_fill_every_input_evenly():
    """Each of 128 cases of equal width holds exactly one of the 128 points, whatever the shift."""
    task = Sums("mul", "0:1=>0:2", sobol=True)
    x, _ = drawn(task, BLOCK)
    cases = (x * BLOCK).long().sort(0).values
    assert torch.equal(cases, torch.arange(BLOCK)[:, None].expand(BLOCK, 100))
    other, _ = drawn(task, BLOCK, seed=1)
    assert not torch.equal(x, other)


def test_initial_weights_are_small_and_gates_open():
    drawn = heim_large.initial(heim_large.ROWS["NPU"](100, 1), SEEDS)
    assert 0 <= drawn["0.weight"].min() < drawn["0.weight"].max() <= 0.1
    assert (drawn["1.gate"] == 1).all()
    assert not drawn["1.imaginary"].any()


def test_operations_of_table_2_train_in_one_program():
    cases = heim_large.cases(Scale(steps=0.00002, rows=("Real NPU",))).values()
    (chunk,) = make_plan([Run(case, 0) for case in cases], 1)
    records = computed_chunk(chunk)
    assert len(records) == len(heim_large.COLUMNS)
    assert all(np.isfinite(record.test).all() and len(record.test) == 2 for record in records)


# -- table 3.1 -------------------------------------------------------------------------------------


def test_the_threshold_is_that_of_the_arithmetic_dataset():
    ours, known = Sums("mul", "1:2=>2:6", "madsen"), ArithmeticDataset("mul", "1:2")
    for split in (Split.VALIDATION, Split.TEST):
        assert ours.threshold(split) == pytest.approx(known.threshold(split), rel=0.01)


def test_set_ups_are_those_of_the_table():
    rows = [(s.hidden, s.steps, s.seeds, s.rate) for s in setups.SETUPS]
    assert rows == [
        (2, 5_000_000, 100, 1e-3),
        (100, 50_000, 10, 5e-3),
        (2, 100_000, 10, 1e-3),
        (2, 100_000, 10, 1e-3),
    ]


def test_only_units_that_can_divide_are_asked_to():
    madsen = setups.SETUPS[0]
    assert list(madsen.columns("NAU+NMU")) == ["Madsen, a b"]
    assert list(madsen.columns("NALU")) == ["Madsen, a b", "Madsen, a/b"]


def test_recipes_take_steps_and_rate_of_the_set_up():
    madsen, heim, schloer, _ = setups.SETUPS
    task = madsen.tasks["Madsen, a b"]
    assert madsen.recipe("NAU+NMU", task) == nalm.NMU.recipe("mul", "arithmetic")
    short = schloer.recipe("NAU+NMU", schloer.tasks["Schlör U, a b"])
    assert (short.iterations, short.penalties[0].schedule.end) == (100_000, 40_000)
    assert heim.recipe("NALU", heim.tasks["Heim, 1/a"]).optimiser.learning_rate == 5e-3
