"""Illustrations: programs against equations written out by hand, claims against what breaks them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from in_process import InProcess, computed
from matplotlib.figure import Figure

from nalm.experiment.run import Run
from nalm.papers.agreement import Finding, Reason
from nalm.papers.claims import Claim, Findings
from nalm.papers.entry import Measured, Study
from nalm.papers.madsen2020.entries import illustrations as of_madsen
from nalm.papers.madsen2020.programs import taylor
from nalm.papers.mistry2023.entries import illustrations as of_thesis
from nalm.papers.mistry2023.programs import (
    bases,
    batch_noise,
    gold,
    learnt_scales,
    nmu_landscape,
    penalties,
    relevance,
    selection,
    starts,
)
from nalm.papers.published import numbers_of
from nalm.papers.reproduce import result_of
from nalm.papers.scale import Scale
from nalm.papers.shared import stacks
from nalm.units import GNALU, NALU

ENTRIES = {entry.id: entry for entry in (*of_madsen.ENTRIES, *of_thesis.ENTRIES)}
PAPER = Scale()
QUICK_ONES = [
    "madsen2020:fig2",
    "mistry2023:fig2.11",
    "mistry2023:fig2.12",
    "mistry2023:fig2.13",
    "mistry2023:fig4.1",
    "mistry2023:fig4.9",
    "mistry2023:fig5.18",
    "mistry2023:table6.2",
]


def tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.fixture(scope="module")
def measured() -> dict[str, Measured]:
    return {name: ENTRIES[name].compute(PAPER) for name in QUICK_ONES}


@pytest.mark.parametrize("name", QUICK_ONES)
def test_is_computed_in_full_and_drawn(name: str, measured: dict[str, Measured]) -> None:
    entry, figure = ENTRIES[name], Figure()
    result = result_of(entry, measured[name], PAPER)
    assert result["protocol"] == "paper"
    assert any(cell["verdict"] in ("agrees", "differs") for cell in result["cells"])
    assert entry.draw is not None
    entry.draw(measured[name], figure)
    figure.canvas.draw()
    assert figure.axes


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_published_numbers_belong_to_a_measure(entry: Study) -> None:
    names = {metric.name for metric in entry.metrics}
    assert entry.claims
    assert {number.metric for number in numbers_of(entry.id)} <= names


def test_all_published_numbers_of_the_worked_examples_are_met(measured: dict[str, Measured]) -> None:
    for name, count in (("mistry2023:table6.2", 12), ("mistry2023:fig4.1", 4)):
        cells = result_of(ENTRIES[name], measured[name], PAPER)["cells"]
        compared = [cell for cell in cells if cell["kind"] == "number" and cell["paper"] is not None]
        assert len(compared) == count
        assert {cell["verdict"] for cell in compared} == {"agrees"}


def test_two_layers_by_hand() -> None:
    wrong = selection.output("selection ✗ weights ✗", (1.11, 1.12, 1.13, 1.14))
    assert float(wrong) == pytest.approx((1.13 + 0.9 * 1.14) * (1.13 + 1.14))


def test_penalties_by_hand() -> None:
    assert penalties.curve("NAU", tensor(-1, -0.7, 0.2)).tolist() == pytest.approx([0, 0.3, 0.2])
    assert penalties.curve("iNALU", tensor(-5, 0, 21)).tolist() == pytest.approx([0.75, 1, 0])
    assert penalties.curve("ramp", tensor(3, 4.5, 7)).tolist() == pytest.approx([0, 0.25, 1])


def test_weight_to_the_golden_base() -> None:
    phi, raw = (1 + math.sqrt(5)) / 2, torch.tensor([[0.7, -0.4]], dtype=torch.float64)
    golden = (phi**1.4 - 1) / (phi**1.4 + 1) / (1 + phi**0.4)
    assert float(bases.surface(GNALU, raw)[0]) == pytest.approx(golden)
    weight, slope = bases.surface(NALU, torch.zeros(1, 2, dtype=torch.float64))
    assert (float(weight), float(slope)) == pytest.approx((0, 0.5))


@pytest.mark.parametrize("epsilon", [1e-7, 0.1, 1.0])
def test_sum_then_power_product_by_hand(epsilon: float) -> None:
    stack = stacks.NAC_STACKS[f"ε = {epsilon:g}"]
    w1, w2 = -0.3, -0.6
    output = ((0.3 * 2.2 + epsilon) * (0.3 * 6 + epsilon)) ** w2
    loss = stack.loss(torch.tensor([[w1, w2]], dtype=torch.float64))
    assert float(loss) == pytest.approx(abs(output - 13.2))


def test_reciprocal_stacks_by_hand() -> None:
    point = torch.tensor([[0.5, 0.25]], dtype=torch.float64)
    nmru = (0.25 * 1.1 + 0.75) * (0.25 * 3 + 0.75)
    nru = (1.1**0.25 * 0.25 + 0.75) * (3**0.25 * 0.25 + 0.75)
    assert float(stacks.NAU_STACKS["NAU-NMRU"].loss(point)) == pytest.approx(13.2 - nmru)
    assert float(stacks.NAU_STACKS["NAU-NRU"].loss(point)) == pytest.approx(13.2 - nru)


def test_a_loss_that_explodes_is_not_bounded() -> None:
    places = {"w1 = 0.001, w2 lowest": 1e5, "w1 = 0.001, w2 = 0": 12.2}
    found = Findings({("A", place, "loss"): Finding(v, None, None, 1) for place, v in places.items()})
    assert stacks.explodes("A")(found)
    assert not stacks.bounded("A")(found)


def test_minima_lie_on_a_hyperbola() -> None:
    w1 = tensor(-0.5, 0.8)
    w2 = (1 - 3.6 / (1 - 3 * w1)) / 2.8
    assert nmu_landscape.loss(torch.stack([w1, w2], -1)).tolist() == pytest.approx([0, 0], abs=1e-20)


def test_starts_end_where_plain_gradient_descent_ends() -> None:
    steps = 40
    case = starts.case("NMU", "-2 x -1.8", steps)
    for run, record in computed([Run(case, seed) for seed in range(0, 441, 97)]).items():
        w, end = starts.starts()[run.seed].numpy(), record.final_parameters["weight"][0]
        for _ in range(steps):
            factors = np.array([1 - 3 * w[0], 1 - 2.8 * w[1]])
            slope = 2 * (factors.prod() - 3.6) * np.array([-3 * factors[1], -2.8 * factors[0]])
            w = np.clip(w - 1e-3 * slope, 0, 1)
        assert end.tolist() == pytest.approx(w.tolist(), abs=1e-9)


def test_fewer_steps_are_called_reduced() -> None:
    found = ENTRIES["mistry2023:fig4.3"].measure(Scale(steps=2 / 2500), InProcess())
    assert found.reduced == ["steps: 2 instead of 2500"]
    assert found.findings["NMU", "-2 x -1.8", "success"].n == 441


def test_noise_is_bounded_by_the_deviation() -> None:
    assert float(batch_noise.bound(0.25)) == pytest.approx(5)
    assert float(batch_noise.bound(0.25, 0.0)) == 1


def test_gradient_of_the_naive_unit_by_differences() -> None:
    x, y = relevance.samples()
    point, step = torch.tensor([[0.6, 0.3]], dtype=torch.float64), 1e-6

    def loss(w1: float, w2: float) -> float:
        epsilon = torch.finfo(torch.float32).eps
        return float(((x[:, 0] + epsilon) ** w1 * (x[:, 1] + epsilon) ** w2 - y[:, 0]).abs().mean())

    first = (loss(0.6 + step, 0.3) - loss(0.6 - step, 0.3)) / (2 * step)
    second = (loss(0.6, 0.3 + step) - loss(0.6, 0.3 - step)) / (2 * step)
    assert float(relevance.gradient_norm(point, None)) == pytest.approx(math.hypot(first, second), rel=1e-3)


def test_gates_are_trained_from_a_half() -> None:
    scale = Scale(seeds=2, steps=3 / 50_000)
    _, gates = ENTRIES["mistry2023:fig2.14"].measure(scale, InProcess()).data
    assert gates.shape == (2, 2)
    assert (gates - 0.5).abs().max() < 0.1
    assert not torch.equal(gates, torch.full((2, 2), 0.5))


def test_gold_errors_of_an_epsilon() -> None:
    task = gold.tasks("reciprocal, 1 input")["0:1"]
    with_epsilon = gold.gold_errors("realnpu", task, 2)
    without = gold.gold_errors("realnpu(epsilon=1e-30)", task, 2)
    assert len(with_epsilon) == 2
    assert max(without) < min(with_epsilon)


def test_estimate_is_near_for_small_weights() -> None:
    mean, deviation = taylor.sampled(0.1, 20.0, 20_000, 0)
    estimated = taylor.estimate(torch.tensor(0.1), torch.tensor(20.0))
    assert float(estimated) == pytest.approx(1 + 0.01 / 6 * math.log(10) ** 2, rel=1e-5)
    assert float(mean) == pytest.approx(float(estimated), abs=0.01)
    assert 0 < float(deviation) < 0.01


def test_scaled_unit_is_equation_6_1_and_learns_to_multiply() -> None:
    x, y = learnt_scales.batch()
    model, error = learnt_scales.fit(learnt_scales.MinMaxScaled(x, y, fixed=True), seed=0)
    assert error < 1e-20
    assert model.nmu.weight.tolist() == [[1, 1]]
    inner = 2 * (x - x.mean(0)) / (x.amax(0) - x.amin(0)) * model.w_in + model.b_in
    outer = (inner.prod(-1, keepdim=True) * model.w_out + model.b_out) * (y.max() - y.min()) / 2
    assert torch.allclose(model(x), outer)
    assert model.terms().tolist() == pytest.approx([1, 0, 0, 0], abs=1e-9)


def test_table_of_other_data_is_not_compared() -> None:
    entry = ENTRIES["mistry2023:table6.1"]
    found = entry.measure(Scale(seeds=1, steps=0.01), InProcess())
    whole = result_of(entry, Measured(found.findings), PAPER)
    numbers = [cell for cell in whole["cells"] if cell["kind"] == "number" and cell["paper"] is not None]
    assert len(numbers) == 16
    assert {cell["reason"] for cell in numbers} == {Reason.DATA}


def failing(claims: tuple[Claim, ...], found: Findings) -> list[str]:
    return [claim.text for claim in claims if not claim.check(found)]


def test_claims_notice_a_wrong_number(measured: dict[str, Measured]) -> None:
    for name in ("mistry2023:fig2.11", "mistry2023:fig4.1", "mistry2023:fig5.18", "madsen2020:fig2"):
        right = measured[name].findings
        wrong = Findings({key: Finding((f.value or 0) + 30, None, None, 1) for key, f in right.items()})
        claims = ENTRIES[name].claims
        assert not failing(claims, right)
        assert failing(claims, wrong)
