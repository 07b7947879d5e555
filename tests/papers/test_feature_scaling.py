"""Feature scaling (thesis, section 6.1): the wrapper computes its equations, and the study trains them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from in_process import computed_chunk

import nalm
from nalm.experiment.compute import initial_parameters
from nalm.experiment.plan import make_plan
from nalm.experiment.run import Case, Run
from nalm.models.many import Models
from nalm.papers.entries import ENTRIES
from nalm.papers.mistry2023.programs import feature_scaling
from nalm.papers.published import numbers_of
from nalm.papers.shared.findings import median_deviation, share
from nalm.papers.shared.networks import stacked
from nalm.tasks import SingleModule

X = torch.tensor([[1.0, 4.0], [2.0, 5.0], [6.0, 12.0]])
Y = X.prod(-1, keepdim=True)


def ideal_nmu() -> nalm.NMU:
    unit = nalm.NMU(2, 1)
    unit.ideal_("mul")
    return unit


def test_min_max_is_equation_6_1():
    model = nalm.Scaled.min_max(ideal_nmu(), X, Y)
    with torch.no_grad():
        model.w_in.copy_(torch.tensor([2.0, 3.0]))
        model.b_in.copy_(torch.tensor([0.5, -0.5]))
        model.w_out.fill_(4.0)
        model.b_out.fill_(0.25)
    hidden = 2 * (X - X.mean(0)) / (X.amax(0) - X.amin(0)) * torch.tensor([2.0, 3.0]) + torch.tensor(
        [0.5, -0.5]
    )
    expected = (hidden.prod(-1, keepdim=True) * 4 + 0.25) * (Y.amax() - Y.amin()) / 2
    torch.testing.assert_close(model(X), expected)


def test_z_score_is_equation_6_2_and_learns_the_model_alone():
    model = nalm.Scaled.z_score(ideal_nmu(), X, Y)
    expected = Y.mean() + Y.std() * ((X - X.mean(0)) / X.std(0)).prod(-1, keepdim=True)
    torch.testing.assert_close(model(X), expected)
    assert [name for name, p in model.named_parameters() if p.requires_grad] == ["model.weight"]


def test_min_max_scaling_can_hold_the_exact_product():
    """As in table 6.1, fixed NMU: shifts undo the centring, the last scale undoes the sizes."""
    model = nalm.Scaled.min_max(ideal_nmu(), X, Y)
    with torch.no_grad():
        model.b_in.copy_(model.x_centre / model.x_size)
        model.w_out.copy_(model.x_size.prod() / model.y_size)
    far = torch.tensor([[100.0, -7.0]])
    torch.testing.assert_close(model(far), far.prod(-1, keepdim=True))


@pytest.mark.parametrize("x", [X[:1], X[:, 0], torch.ones(3, 2)])
def test_data_without_spread_are_refused(x):
    with pytest.raises(nalm.ArgumentError):
        nalm.Scaled.min_max(nalm.NMU(2, 1), x, Y[: len(x)])


def test_statistics_are_those_of_each_range_and_are_not_trained():
    variant = feature_scaling.VARIANTS["min-max (reg on)"]
    cases = [replace(variant.case(name, 1), iterations=3) for name in ("1:2", "10:20")]
    (chunk,) = make_plan([Run(case, 3) for case in cases], 1)  # both ranges in one program
    before = initial_parameters(chunk.runs)
    after = stacked(record.final_parameters for record in computed_chunk(chunk))
    torch.testing.assert_close(after["x_centre"], torch.tensor([[1.5, 1.5], [15.0, 15.0]]), atol=0.2, rtol=0)
    torch.testing.assert_close(after["x_size"], torch.tensor([[0.5, 0.5], [5.0, 5.0]]), atol=0.01, rtol=0)
    assert torch.equal(after["x_centre"], before["x_centre"])
    assert not torch.equal(after["w_in"], before["w_in"])


def test_every_variant_starts_from_the_weights_of_the_benchmark():
    initial = feature_scaling.initial(nalm.Scaled.z_score(nalm.NMU(2, 1), X, Y), [0, 1])
    drawn = Models(nalm.NMU(2, 1), torch.float32, torch.device("cpu")).initial(torch.tensor([0, 1]).int())
    assert torch.equal(initial["model.weight"], drawn["weight"])


def test_without_scaling_it_is_a_run_of_the_benchmark():
    ours = feature_scaling.VARIANTS["NMU (reg on)"].case("1:2", 1)
    theirs = Case(nalm.models.ModelSpec.parse("nmu"), SingleModule("mul", "1:2"))
    assert Run(ours, 0).id == Run(theirs, 0).id


def test_the_penalty_is_what_on_and_off_differ_in():
    on, off = (feature_scaling.VARIANTS[f"NMU (reg {word})"].recipe() for word in ("on", "off"))
    assert on == nalm.NMU.recipe("mul")
    assert off.penalties == ()


def test_the_thesis_reports_no_success_with_scaling():
    claimed = numbers_of("mistry2023:fig6.1")
    assert len(claimed) == 4 * 9
    assert {(number.value, number.n, number.kind) for number in claimed} == {(0.0, 25, "claim")}
    assert {number.row for number in claimed} == {row for row in feature_scaling.VARIANTS if "NMU" not in row}
    assert "mistry2023:fig6.1" in ENTRIES


def test_numbers_become_findings():
    assert share([True, False]).value == 0.5
    found = median_deviation([1.0, 2.0, 10.0])
    assert (found.value, found.low, found.high, found.n) == (2.0, 1.0, 3.0, 3)
    assert median_deviation([float("inf")] * 3).value is None
