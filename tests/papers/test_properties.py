"""Tables of properties: every cell is met by our units, and each question can be answered both ways."""

from __future__ import annotations

import pytest
import torch

from nalm.papers.mistry2023.entries import properties
from nalm.papers.mistry2023.programs import (
    loss_properties,
    parameter_counts,
    solutions,
    unit_behaviour,
    unit_table,
)
from nalm.papers.published import numbers_of
from nalm.papers.reproduce import result_of
from nalm.papers.scale import Scale
from nalm.recipes.losses import Loss
from nalm.recipes.schedules import StepState
from nalm.units import NAC, NALU, NAU, NMU, NRU, RealNPU

ENTRIES = {entry.id: entry for entry in properties.ENTRIES}
APART = {("mistry2023:table2.1", "iNALU", "arbitrary power")}
"""The one cell where the thesis and our units differ."""


@pytest.mark.parametrize("name", ENTRIES)
def test_every_published_cell_is_computed_and_met(name: str) -> None:
    entry = ENTRIES[name]
    cells = result_of(entry, entry.compute(Scale()), Scale())["cells"]
    compared = {(c["row"], c["column"]): c for c in cells if c["kind"] == "number"}
    assert set(compared) == {(number.row, number.column) for number in numbers_of(name)}
    apart = {(name, *place) for place, cell in compared.items() if cell["verdict"] != "agrees"}
    assert apart == {place for place in APART if place[0] == name}
    assert all(cell["cause"] for cell in compared.values() if cell["verdict"] == "differs")
    assert all(cell["verdict"] == "agrees" for cell in cells if cell["kind"] == "claim")


def test_every_property_separates_units() -> None:
    for table in (unit_table.compute(Scale()), loss_properties.compute(Scale())):
        columns = {column for _, column, _ in table.findings} - {"batch mean"}
        for column in columns:
            answers = {f.value for (_, c, _), f in table.findings.items() if c == column}
            assert answers == {0, 1}, column


def test_an_operation_is_tried_and_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NMU, "ops", ("mul", "add"))
    addition = unit_behaviour.ARITHMETIC["addition"]
    assert not unit_behaviour.expresses(NMU, [addition], unit_behaviour.POSITIVE)


def test_powers_are_reached_by_the_units_of_powers_alone() -> None:
    assert unit_behaviour.reaches_powers(RealNPU, (0.3, -1.7))
    assert unit_behaviour.reaches_powers(NALU, (0.3,))
    assert not unit_behaviour.reaches_powers(NALU, (1.2,))
    assert not unit_behaviour.reaches_powers(NAU, (0.5,))
    assert not unit_behaviour.reaches_powers(NMU, (2.0,))


def test_clipping_needs_bounds() -> None:
    assert unit_behaviour.clips_weights(NRU)
    assert not unit_behaviour.clips_weights(NAC)


def test_a_sum_over_the_batch_is_no_mean() -> None:
    class Sum(Loss):
        def __call__(self, prediction: torch.Tensor, target: torch.Tensor, now: StepState) -> torch.Tensor:
            return (prediction - target).square().sum((-2, -1))

    assert not loss_properties.unnoticed(Sum(), loss_properties.CHANGES["batch mean"])


def test_a_gate_per_input_is_not_one_per_output() -> None:
    assert solutions.relevance_gate(RealNPU)
    assert not solutions.gate_free_of_the_input(RealNPU)


def test_parameters_by_hand() -> None:
    assert parameter_counts.count(RealNPU, 10, 5) == 10 * 5 + 10
