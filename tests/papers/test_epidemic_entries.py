"""The entries on epidemics: what is judged, what is counted, and what is drawn."""

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from torch import nn

from nalm.discover.power_laws import PowerLaws
from nalm.papers.claims import Findings
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Measured
from nalm.papers.heim2020.programs import fractional_sir
from nalm.papers.heim2020.programs.fractional_sir import Point
from nalm.papers.heim2020.programs.pareto import draw_pareto, pareto_front
from nalm.papers.mistry2023.programs import epidemic
from nalm.papers.registry import published_of
from nalm.papers.scale import Scale

FSIR = PowerLaws(
    np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    np.array([[-0.06, 0.0, 0.01], [0.06, -0.05, 0.0], [0.0, 0.05, -0.01]]),
)


class Sir(nn.Module):
    def __init__(self, beta=0.5, gamma=0.1, further=0.0):
        super().__init__()
        self.factors = (beta, gamma, further)

    def forward(self, x):
        beta, gamma, further = self.factors
        caught, cured = beta * x[..., 0] * x[..., 1], gamma * x[..., 1]
        return torch.stack([-caught, caught - cured, cured + further * x[..., 2] ** 2], -1)


@pytest.mark.parametrize(("changed", "error"), [({}, 0.0), ({"beta": 0.505}, 0.01), ({"gamma": 0.095}, 0.05)])
def test_the_error_is_that_of_the_worst_coefficient(changed, error):
    assert epidemic.coefficient_error(Sir(**changed)) == pytest.approx(error, abs=1e-9)


def test_a_further_term_is_an_error_even_if_both_others_are_right():
    assert epidemic.coefficient_error(Sir(further=0.05)) > 0.05


def test_the_true_fractional_equations_have_ten_parameters_and_no_error():
    assert FSIR.size == 10
    assert fractional_sir.whole_error(FSIR) < 1e-2


def test_a_network_is_judged_over_the_whole_epidemic_by_its_own_solver():
    class Rates(nn.Module):
        def forward(self, x):
            return torch.from_numpy(FSIR.rates(x.numpy()))

    network = fractional_sir.cases(Scale(quick=True))["NPU"][0].task.network(Rates())
    # Euler's own error, far above that of Runge-Kutta steps.
    assert 1e-3 < fractional_sir.network_error(network) < 10


def test_quick_trains_fewer_networks_and_says_so():
    full, quick = (sum(map(len, fractional_sir.cases(s).values())) for s in (Scale(), Scale(quick=True)))
    assert (full, quick) == (3 * 5 * 4 + 1, 3 * 2 * 4 + 1)


def test_weights_are_drawn_by_seed_as_the_authors_draw_them():
    (case, *_) = fractional_sir.cases(Scale(quick=True))["NPU"]
    drawn = case.initial([0, 1])
    assert (drawn["unit.0.gate"] == 0.5).all()
    assert (drawn["unit.0.imaginary"] == 0).all()
    bound = 0.2 * np.sqrt(6 / 9)
    assert 0.5 * bound < drawn["unit.0.weight"].abs().max() <= bound
    assert (drawn["unit.0.weight"][0] != drawn["unit.0.weight"][1]).any()


def test_every_published_number_has_a_cell():
    cells = {(row, column) for row in fractional_sir.ROWS for column in fractional_sir.COLUMNS}
    assert {(row, column) for row, column, _ in published_of("heim2020:section4.1")} <= cells


def test_a_front_has_what_nothing_beats_in_both():
    points = [Point(10, 1.0), Point(5, 2.0), Point(7, 3.0), Point(12, 0.5), Point(5, 4.0)]
    assert pareto_front(points) == [Point(5, 2.0), Point(10, 1.0), Point(12, 0.5)]


def test_the_figure_has_a_line_for_each_row_and_survives_networks_that_diverged():
    points = {"NPU": [Point(10, 1.0), Point(5, float("nan"))], "Dense": [Point(20, 2.0)]}
    figure = Figure()
    draw_pareto(Measured(Findings({}), [], points), figure)
    (axis,) = figure.axes
    assert [line.get_label() for line in axis.lines] == ["NPU", "Dense"]


@pytest.mark.parametrize("name", ["heim2020:section4.1", "mistry2023:appendixD.1", "mistry2023:section2.3.6"])
def test_the_entries_are_in_the_ledger(name):
    assert ENTRIES[name].note
