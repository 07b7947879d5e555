"""Statements without training: worked examples and closed forms by hand, claims against what breaks them."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings
from nalm.papers.entry import Measured
from nalm.papers.madsen2020.entries import appendices
from nalm.papers.madsen2020.programs import moments
from nalm.papers.mistry2023.entries import examples
from nalm.papers.mistry2023.programs import exact_mlp, other_thresholds, redundant_inputs, run_times
from nalm.papers.published import published
from nalm.papers.reproduce import result_of
from nalm.papers.scale import Scale
from nalm.tasks import SingleModule
from nalm.units import NMRU, NMU, NRU

ENTRIES = {entry.id: entry for entry in (*examples.ENTRIES, *appendices.ENTRIES)}
TIMED = ("mistry2023:appendixE.1.2", "mistry2023:tableE.6")
APART = {
    "mistry2023:fig1.4": 2,
    "mistry2023:section3.3.1.1": 4,
    "mistry2023:section5.9": 1,
    "mistry2023:appendixH": 1,
    "madsen2020:appendixB": 3,
}
"""How many cells differ, each with a known cause."""


@pytest.fixture(scope="module")
def measured() -> dict[str, Measured]:
    return {name: entry.compute(Scale()) for name, entry in ENTRIES.items() if name not in TIMED}


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in TIMED])
def test_cells_agree_but_for_those_with_a_cause(name: str, measured: dict[str, Measured]) -> None:
    cells = result_of(ENTRIES[name], measured[name], Scale())["cells"]
    assert any(cell["verdict"] == "agrees" for cell in cells)
    apart = [cell for cell in cells if cell["verdict"] in ("differs", "better")]
    assert len(apart) == APART.get(name, 0)
    assert all(cell["cause"] for cell in apart)


def test_claims_notice_wrong_numbers(measured: dict[str, Measured]) -> None:
    for name, found in measured.items():
        claims = [claim for claim in ENTRIES[name].claims if claim.check(found.findings)]
        held = found.findings.items()
        wrong = [
            Findings(
                {key: Finding(change(k, f.value or 0.0), None, None, 1) for k, (key, f) in enumerate(held)}
            )
            for change in (
                lambda k, v: v + 30,
                lambda k, v: 0.0,
                lambda k, v: float(-k),
                lambda k, v: float(k % 2),
            )
        ]
        for claim in claims:
            assert not all(claim.check(each) for each in wrong), (name, claim.text)


def test_one_hidden_unit_adds_on_a_half_plane() -> None:
    x = torch.tensor([[4.0, 2.0], [1.0, 1.0]], dtype=torch.float64)
    outputs = exact_mlp.narrow(0.5, 2.0)(x).detach().flatten().tolist()
    assert outputs == pytest.approx([6, 4])  # 0.5 * 6 is above b = 2; 0.5 * 2 is not, and b / w = 4


def test_four_hidden_units_by_hand() -> None:
    x = torch.tensor([[-4.0, 2.5]], dtype=torch.float64)
    assert [exact_mlp.wide(op)(x).item() for op in ("add", "sub")] == [-1.5, -6.5]


def test_thresholds_in_log_space_by_hand() -> None:
    x = torch.tensor([[-2.0, 3.0]], dtype=torch.float64)
    assert float(other_thresholds.log_prediction("mul", x)) == pytest.approx(-(6 ** (1 - 1e-5)), rel=1e-12)
    assert float(other_thresholds.close_prediction("sub", x)) == pytest.approx(-5 - 5e-5, rel=1e-12)
    plain = other_thresholds.thresholds("mul", "1:2")["MSE, ε = 1e-5"]
    assert plain == SingleModule("mul", "1:2").threshold()


def test_reciprocals_cancel_in_the_nmru_alone() -> None:
    assert redundant_inputs.solved(redundant_inputs.solutions(NMRU)) == 256
    assert redundant_inputs.solved(redundant_inputs.solutions(NRU)) == 1


def test_closed_forms_are_the_published_numbers() -> None:
    def of(row: str, column: str) -> float:
        return published()["madsen2020:appendixB", row, column, "value"].value

    for h in (2, 4):
        assert of(f"NMU, {h} to 3", "output mean") == pytest.approx(moments.nmu_mean(h))
        assert of(f"NMU, {h} to 3", "output variance") == pytest.approx(moments.nmu_variance(h, 1 / 48, 1))
        assert of(f"NMU, {h} to 3", "gradient variance") == pytest.approx(
            moments.nmu_gradient(h, 3, 1 / 48, 1)
        )
    row, u = "NAC•, 10 to 1", 2 / 11
    assert of(row, "output mean") == pytest.approx(moments.nac_mul_mean(10, u, 1.5))
    assert of(row, "output variance") == pytest.approx(moments.nac_mul_variance(10, u, 1.5))
    assert of(row, "gradient variance") == pytest.approx(moments.nac_mul_gradient(10, 1, u, 1.5, 1 / 12))
    # The raw weights' range for 10 inputs and 1 output, from the initialisation of the NAC.
    assert moments.nac_weight(2.260) == pytest.approx(of("NAC+, 10 to 1", "weight variance"), rel=1e-3)


def test_moments_of_a_wrong_start_are_noticed() -> None:
    class Wide(NMU):
        def reset_parameters(self, generator: torch.Generator | None = None) -> None:
            super().reset_parameters(generator)
            with torch.no_grad():
                self.weight.mul_(2).sub_(0.5)  # mean 1/2, but four times the variance

    right, wrong = (moments.Drawn(kind, (2, 3)).moments(20_000, 0) for kind in (NMU, Wide))
    expected = moments.nmu_variance(2, 1 / 48, 1)
    assert (right["output variance"].low or 0) < expected < (right["output variance"].high or 0)
    assert (wrong["output variance"].low or 0) > expected


def test_interval_of_a_mean_by_hand() -> None:
    found = moments.mean_of(torch.tensor([1.0, 3.0, 1.0, 3.0], dtype=torch.float64))
    assert found.value == 2
    assert (found.high or 0) - 2 == pytest.approx(3 * math.sqrt(4 / 3) / 2)


def test_times_are_extrapolated_from_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def train_runs(*_: object, iterations: int) -> None:
        steps.append(iterations)

    ticks = itertools.count()
    monkeypatch.setattr(run_times, "train_runs", train_runs)
    timed = run_times.Timed("nmu", (SingleModule("mul", "1:2"),), seeds=2)
    # The clock counts steps: 5 to begin with, and 3 for each of the steps trained.
    seconds = timed.seconds(lambda: 5.0 + 3.0 * sum(steps) + 0 * next(ticks), repeats=2)
    assert steps == [1, 1000, 2000, 1000, 2000]
    assert seconds == [3.0 * 50_000 / 2] * 2
    assert run_times.spread([3.0, 1.0, 2.0]) == Finding(2.0, 1.0, 3.0, 3)


def test_everything_timed_is_published() -> None:
    for name, timed in zip(TIMED, (run_times.BENCHMARK, run_times.DIVISION)):
        numbers = {(n.row, n.column) for n in published().values() if n.entry == name}
        assert numbers == set(timed)
