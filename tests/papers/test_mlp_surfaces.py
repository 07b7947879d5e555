"""Surfaces of MLPs (thesis, section 1.4.1)."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings
from nalm.papers.entries import ENTRIES
from nalm.papers.mistry2023.programs import mlp_surfaces
from nalm.papers.mistry2023.programs.mlp_surfaces import Learnt, Network, true_surface
from nalm.papers.scale import Scale


def test_initial_weights_are_kaiming_then_xavier_with_shifts_at_zero():
    network = Network(100, 50)
    drawn = network.initial(network.module(), range(50))
    hidden, output = drawn["layers.0.weight"], drawn["layers.2.weight"]
    assert hidden.shape == (50, 100, 2)
    assert hidden.abs().max().item() == pytest.approx(math.sqrt(3), rel=1e-2)
    assert output.abs().max().item() == pytest.approx(math.sqrt(6 / 101), rel=1e-2)
    assert not drawn["layers.0.bias"].any()
    assert not drawn["layers.2.bias"].any()


def test_initial_weights_of_a_seed_do_not_depend_on_other_seeds():
    network = Network(4, 50, bias=False)
    together, alone = (network.initial(network.module(), seeds) for seeds in ([3, 8], [8]))
    assert set(alone) == {"layers.0.weight", "layers.2.weight"}
    assert all(torch.equal(together[name][1:], p) for name, p in alone.items())


def test_true_surfaces_have_the_first_input_along_the_last_axis():
    assert true_surface("sub")[0, -1] == 12
    assert true_surface("sub")[-1, 0] == -12
    assert true_surface("mul")[0, 0] == 36
    assert np.isnan(true_surface("div")[60]).all()
    assert np.isfinite(np.delete(true_surface("div"), 60, 0)).all()


def test_meeting_both_ranges_is_not_the_true_function():
    """relu(x1 + x2) is right in both ranges, and wrong where the sum is below zero (figure 1.4)."""
    narrow, exact = np.maximum(true_surface("add"), 0), true_surface("add")
    learnt = Learnt("add", [True, True, True], [True, True, False], np.stack([narrow, exact, narrow]))
    measures = learnt.measures()
    assert measures["success"].value == pytest.approx(2 / 3)
    assert measures["interpolation success"].value == 1
    assert measures["true function"].value == pytest.approx(1 / 3)
    assert [s.label for s in learnt.outcomes("MLP (1)")] == ["MLP (1)(TT), 2 of 3", "MLP (1)(TF), 1 of 3"]


def test_a_quotient_has_no_threshold_over_the_whole_surface():
    assert "true function" not in Learnt("div", [True], [False], true_surface("div")[None]).measures()


def test_the_quick_protocol_says_that_the_wide_network_trains_less():
    networks = (Network(1, 50_000), Network(100, 2_000_000, quick=0.01))
    assert mlp_surfaces._reduced(networks, Scale(quick=True)) == [
        "MLP (100): 20,000 steps instead of 2,000,000"
    ]
    assert mlp_surfaces._reduced(networks, Scale()) == []


@pytest.mark.parametrize(("solved", "holds"), [(0.0, True), (1.0, False)])
def test_the_claim_on_width_1_fails_where_it_extrapolates_on_a_product(solved, holds):
    rates = {("MLP (1)", op, "success"): Finding(0.0, 0.0, 0.13, 25) for op in ("sub", "div")}
    rates["MLP (1)", "mul", "success"] = Finding(solved, 0.87 * solved, 1.0, 25)
    claim = next(c for c in ENTRIES["mistry2023:fig1.3"].claims if c.text == "extrapolates on nothing else")
    assert claim.answer(Findings(rates)).holds is holds
