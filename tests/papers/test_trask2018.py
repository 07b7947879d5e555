"""The synthetic experiments of the NALU paper: identity, static tasks, recurrent tasks."""

import math

import numpy as np
import pytest
import torch
from in_process import InProcess, computed
from torch import nn

from nalm.errors import ArgumentError
from nalm.experiment.local import Local
from nalm.experiment.run import Run
from nalm.models.many import Models
from nalm.papers.agreement import Finding
from nalm.papers.entries import ENTRIES
from nalm.papers.published import numbers_of
from nalm.papers.reproduce import measure, result_of
from nalm.papers.scale import make_scale
from nalm.papers.shared.networks import final_model
from nalm.papers.trask2018.entries import identity as nalu_identity
from nalm.papers.trask2018.entries import recurrent as nalu_recurrent
from nalm.papers.trask2018.entries import static as nalu_static
from nalm.papers.trask2018.programs import identity, recurrent, recurrent_runs, relative
from nalm.papers.trask2018.programs.recurrent_cells import kinds
from nalm.streams import Purpose
from nalm.tasks import ArithmeticDataset, Split

TABLES = [f"trask2018:{name}" for name in ("table1", "table5", "table6", "table7", "table8", "table9")]


# -- published numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "cells"),
    [("table1", 96), ("table5", 15), ("table6", 132), ("table7", 132), ("table8", 126), ("table9", 84)],
)
def test_all_numbers_of_a_table_are_there(entry, cells):
    assert len(numbers_of(f"trask2018:{entry}")) == cells


def test_numbers_are_those_that_the_paper_prints():
    by_cell = {(n.entry, n.row, n.column, n.metric): n for t in TABLES for n in numbers_of(t)}
    tanh = by_cell["trask2018:table5", "Tanh", "-1000 to 1000", "MAE"]
    assert (tanh.value, tanh.n) == (493.65, 100)
    assert tanh.high - tanh.low == pytest.approx(0.01)
    beyond = by_cell["trask2018:table9", "NALU", "a / b", "extrapolation error"]
    assert (beyond.value, beyond.low, beyond.high) == (999.9, 999.9, 1e9)
    ratio = by_cell["trask2018:table6", "Tanh", "a × b", "extrapolation error"]
    assert ratio.value == pytest.approx(971.3 / 3647, rel=1e-5)
    least = by_cell["trask2018:table6", "NAC", "a + b", "interpolation error"]
    assert (least.value, least.low) == (0, 0)
    assert least.high == pytest.approx(0.0001 / 8.659, rel=1e-3)


def test_tables_6_and_7_say_the_same_but_for_two_misprints():
    sevenths = {(n.row, n.column, n.metric): n for n in numbers_of("trask2018:table7")}
    apart = {
        (n.row, n.column, n.metric)
        for n in numbers_of("trask2018:table6")
        if abs(100 * n.value - sevenths[n.row, n.column, n.metric].value) > 0.11
    }
    assert apart == {(row, "√a", "interpolation error") for row in ("Tanh", "Sigmoid")}


# -- identity ------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", nalu_identity.ACTIVATIONS.values())
def test_batched_products_compute_what_the_stack_of_units_does(activation):
    seeds = torch.arange(3, dtype=torch.int32)
    parameters = identity.initial(activation, seeds)
    units = Models(identity.network(activation).build(1, 1, hidden=8), torch.float32, torch.device("cpu"))
    x = torch.linspace(-30, 30, 21)[None, :, None].repeat(3, 1, 1)
    torch.testing.assert_close(identity.apply(activation, parameters, x), units.predict(parameters, x))


def test_the_error_of_zero_would_be_500():
    drawn = identity.initial("tanh", torch.zeros(1, dtype=torch.int32))
    zeros = {name: torch.zeros_like(p) for name, p in drawn.items()}
    assert identity.errors("tanh", zeros, 1000).mean() == pytest.approx(500, abs=0.3)


def test_identity_is_learnt_inside_of_training_by_tanh_and_everywhere_by_a_linear_network():
    scale = make_scale("paper", seeds=4, steps=0.05, rows=["Tanh", "None"])
    found = ENTRIES["trask2018:fig1"].measure(scale, InProcess()).findings
    inside, outside = (found["Tanh", c, "MAE"].value for c in (nalu_identity.INSIDE, nalu_identity.OUTSIDE))
    assert inside < 0.5 < 5 < outside
    assert found["None", nalu_identity.OUTSIDE, "MAE"].value < 0.05
    far = ENTRIES["trask2018:table5"].measure(scale, InProcess())
    assert far.findings["Tanh", nalu_identity.ALL, "MAE"].value > 450
    assert far.reduced == ["models: 4 instead of 100", "steps: 500 instead of 10000"]


def test_figure_1_is_drawn():
    figure = pytest.importorskip("matplotlib.figure").Figure(layout="constrained")
    entry = ENTRIES["trask2018:fig1"]
    entry.draw(entry.measure(make_scale("paper", seeds=2, steps=0.001, rows=["Tanh"]), InProcess()), figure)
    (axis,) = figure.axes
    assert len(axis.lines) == 1
    assert len(axis.lines[0].get_ydata()) == 41


# -- static tasks --------------------------------------------------------------------------------


def test_extrapolation_is_beyond_all_that_training_can_show():
    task = nalu_static.TASKS["a + b"]
    assert isinstance(task, ArithmeticDataset)
    ((_, highest),), ((lowest, _),) = task.train_range.segments, task.test_range.segments
    assert lowest >= highest


def test_all_eleven_models_train_on_all_six_operations_by_one_recipe():
    places = ENTRIES["trask2018:table7"].places.values()
    assert len(places) == 11 * 6
    assert {place.cases[0].recipe for place in places} == {nalu_static.RECIPE}


def test_untrained_models_are_those_of_step_0():
    task = ArithmeticDataset("add", "0:1=>1:2", inputs=8)
    errors = relative.untrained_errors(task, 3)
    # Targets are about 2 and 6, and the outputs of untrained models of mean zero.
    assert 0.5 < errors[Split.VALIDATION] < 40
    assert errors[Split.TEST] > errors[Split.VALIDATION]


def test_errors_are_scaled_with_their_intervals():
    assert relative.scaled(Finding(2.0, 1.0, None, 5), 50) == Finding(100.0, 50.0, None, 5)


def test_tables_6_and_7_share_runs_and_differ_by_a_factor(tmp_path):
    scale = make_scale("paper", seeds=1, steps=0.0002, rows=["None"])
    results = []
    for name in ("trask2018:table6", "trask2018:table7"):
        entry = ENTRIES[name]
        measured = measure(entry, scale, tmp_path / "x.sqlite", Local(1))
        assert result_of(entry, measured, scale)["protocol"] == "quick"
        results.append(measured.findings)
    share, percent = results
    for cell, finding in share.items():
        assert percent[cell].value == pytest.approx(100 * finding.value)


# -- recurrent tasks -----------------------------------------------------------------------------

SIZE, INPUTS = 3, 4
NETWORKS = {
    "LSTM": nn.LSTM(INPUTS, SIZE),
    "GRU": nn.GRU(INPUTS, SIZE),
    "RNN-tanh": nn.RNN(INPUTS, SIZE),
    "RNN-ReLU": nn.RNN(INPUTS, SIZE, nonlinearity="relu"),
}


def last_state(model, x):
    """From `time x models x n x inputs` to the last state."""
    state = model.start(x.shape[1], x.shape[2])
    for now in x:
        state = model.step(now, state)
    return state[0]


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_are_those_of_torch(name):
    network = NETWORKS[name]
    names = {
        "weight_x": "weight_ih_l0",
        "weight_h": "weight_hh_l0",
        "bias_x": "bias_ih_l0",
        "bias_h": "bias_hh_l0",
    }
    given = {ours: getattr(network, theirs)[None].detach() for ours, theirs in names.items()}
    given |= {"read": torch.ones(1, 1, SIZE), "shift": torch.zeros(1, 1)}
    x = torch.randn(6, 1, 5, INPUTS)
    expected, _ = network(x[:, 0])
    torch.testing.assert_close(last_state(kinds(INPUTS, SIZE)[name].make(given), x)[0], expected[-1].detach())


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_start_like_those_of_torch(name):
    drawn = kinds(INPUTS, SIZE)[name].initial(torch.arange(200, dtype=torch.int32))
    values = torch.cat([p.flatten() for p in drawn.values()])
    assert values.abs().max() <= 1 / math.sqrt(SIZE)
    assert values.std() == pytest.approx(1 / math.sqrt(3 * SIZE), rel=0.05)


@pytest.mark.parametrize("name", ["NAC", "NALU"])
def test_cells_of_units_are_the_units_in_time(name):
    import nalm

    kind = kinds(INPUTS, SIZE)[name]
    p = kind.initial(torch.tensor([5], dtype=torch.int32), torch.float64)
    cell, read = (
        getattr(nalm, name)(a, b, dtype=torch.float64) for a, b in ((INPUTS + SIZE, SIZE), (SIZE, 1))
    )
    for unit, part in ((cell, "cell"), (read, "read")):
        unit.load_state_dict({n: p[f"{part}.{n}"][0] for n in unit.initialisers})
    model = kind.make(p)
    x = torch.rand(6, 1, 5, INPUTS, dtype=torch.float64)
    _, state = nalm.Recurrent(nalm.Cell(cell, INPUTS, SIZE))(x[:, 0])
    torch.testing.assert_close(last_state(model, x)[0], state[0].detach())
    torch.testing.assert_close(model.read(last_state(model, x))[0], read(state[0]).detach())


def test_a_nac_with_ideal_weights_sums_over_any_length():
    seeds = range(2)
    lanes = recurrent.Lanes(seeds)
    kind = recurrent.KINDS["NAC"]
    p = kind.initial(lanes.all_seeds())
    weight = torch.cat([lanes.subsets, torch.eye(2).expand(2, 2, 2)], -1).repeat(len(recurrent.TARGETS), 1, 1)
    p["cell.w_hat"], p["cell.m_hat"] = 120 * weight, 120 * (2 * weight - 1)
    p["read.w_hat"], p["read.m_hat"] = torch.full((14, 1, 2), 120.0), torch.full((14, 1, 2), 120.0)
    for length in (recurrent.SHORT, 50):
        errors = lanes.by_target(recurrent.test_error(kind, p, seeds, length, 20))
        targets = list(recurrent.TARGETS)
        assert errors[targets.index("a + b")].max() < 1e-18
        assert errors[targets.index("a - b")].min() > 1


def test_targets_are_the_seven_functions():
    lanes = recurrent.Lanes([0])
    totals = lanes.subsets[:, :1] * 2  # every input of a's part is 2, of b's part that they share
    a, b = 4.0, 2.0
    expected = [a, a + b, a - b, a * b, a / b, a * a, math.sqrt(a)]
    assert lanes.targets(totals)[:, 0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("name", recurrent.KINDS)
def test_a_module_computes_what_was_trained(name, short):
    case = recurrent_runs.case(name, "a - b", 2)
    (record,) = computed([Run(case, 1)]).values()
    x = recurrent.Lanes([1], torch.float64)
    now = torch.stack([x.inputs(Purpose.VALIDATION, time, 5)[0] for time in range(recurrent.SHORT)], 1)
    target = x.targets(now.sum(1)[None])[list(recurrent.TARGETS).index("a - b")]
    with torch.no_grad():
        found = final_model(case, record).double()(now)[:, 0]
    assert record.validation[-1] == pytest.approx(float((found - target).square().mean()), rel=1e-9)


def test_a_diverged_model_counts_with_the_largest_error_and_alone():
    lanes = recurrent.Lanes([0, 1])
    errors = torch.ones(14)
    errors[3] = torch.nan
    assert np.flatnonzero(lanes.by_target(errors) == recurrent.OVERFLOW).tolist() == [3]
    parameters = {"w": torch.zeros(2, 3).requires_grad_()}
    parameters["w"].grad = torch.tensor([[3.0, 4.0, 0.0], [torch.inf, 0.0, 0.1]])
    recurrent.clip_(parameters)
    torch.testing.assert_close(parameters["w"].grad, torch.tensor([[0.6, 0.8, 0.0], [0.0, 0.0, 0.1]]))


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN-tanh", "RNN-ReLU", "NAC"])
def test_training_lowers_the_error(name):
    # The NALU is left out: so early its losses still have peaks, from powers of values close to zero.
    _, first = recurrent.train(recurrent.KINDS[name], range(2), 1)
    _, last = recurrent.train(recurrent.KINDS[name], range(2), 120)
    assert last.median() < first.median()


@pytest.fixture
def short(monkeypatch):
    """Few and short sequences, and nothing kept from or for other tests."""
    monkeypatch.setattr(recurrent, "SAMPLES", 5)
    monkeypatch.setattr(recurrent, "LONG", 20)
    recurrent.untrained_errors.cache_clear()
    yield
    recurrent.untrained_errors.cache_clear()


def test_the_recurrent_tables_have_their_cells(short):
    scale = make_scale("paper", seeds=1, steps=0.0002, rows=["NAC"])
    eight = ENTRIES["trask2018:table8"].measure(scale, InProcess())
    nine = ENTRIES["trask2018:table9"].measure(scale, InProcess())
    assert len(eight.findings) == 21
    cell = ("NAC", "a²", "extrapolation error")
    assert nine.findings[cell].value == pytest.approx(100 * eight.findings[cell].value)
    assert "models: 1 instead of 10" in nine.reduced


def test_table_1_takes_static_and_recurrent_rows(short, tmp_path):
    entry = ENTRIES["trask2018:table1"]
    rows = {n.row for n in numbers_of("trask2018:table1")}
    assert rows == {*(s.label for s in nalu_recurrent._STATIC), *nalu_recurrent._RECURRENT}
    halves = entry.experiments(make_scale("paper", rows=["NAC (static)", "LSTM (recurrent)"]))
    assert [len(experiment.cases) for experiment in halves] == [6, 7]
    scale = make_scale("paper", seeds=1, steps=0.0002, rows=["LSTM (recurrent)"])
    measured = measure(entry, scale, tmp_path / "x.sqlite", Local(1))
    cells = result_of(entry, measured, scale)["cells"]
    assert [cell["row"] for cell in cells if cell["kind"] == "number"] == ["LSTM (recurrent)"] * 12
    with pytest.raises(ArgumentError, match="rows"):
        measure(entry, make_scale(rows=["GRU (recurrent)"]), tmp_path / "x.sqlite", Local(1))
