"""The tables of the iNALU's authors: what they train, and what their claims check."""

import pytest
import torch
from in_process import InProcess, computed

from nalm.evaluate.intervals import success_interval
from nalm.experiment.run import Run
from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings
from nalm.papers.entries import ENTRIES
from nalm.papers.published import numbers_of
from nalm.papers.scale import Scale
from nalm.papers.schloer2020.entries import layouts
from nalm.papers.schloer2020.entries.variations import named, rises, unordered
from nalm.papers.schloer2020.programs import runs
from nalm.papers.schloer2020.programs.tasks import INITIALISATION, MAGNITUDE, MAGNITUDES, SIMPLE_ARITHMETIC
from nalm.papers.schloer2020.programs.training import ADAM, BEST, RMSPROP, EpochPlan, Start
from nalm.papers.shared.networks import final_model
from nalm.streams import Purpose

ALL = [f"schloer2020:exp{number}" for number in range(1, 6)]
OWN = "iNALU(independent W)"
SMALL = EpochPlan(samples=64)


@pytest.mark.parametrize("id", ALL)
def test_every_published_rate_has_one_of_ours_and_what_is_reduced_is_said(id, monkeypatch):
    monkeypatch.setattr(layouts, "WHOLE", SMALL)
    measured = ENTRIES[id].measure(Scale(seeds=1, steps=0.01), InProcess())
    assert set(measured.findings) >= {(n.row, n.column, n.metric) for n in numbers_of(id)}
    assert [words.split(":")[0] for words in measured.reduced] == ["seeds", "epochs"]
    assert all(claim.answer(measured.findings).holds in (True, False) for claim in ENTRIES[id].claims)


def test_the_tables_with_published_numbers_are_those_of_the_authors():
    counts = {id: sum(n.n or 0 for n in numbers_of(id) if n.metric == "success") for id in ALL}
    assert counts == dict(zip(ALL, (1120, 0, 1120, 0, 320)))


@pytest.mark.parametrize(
    ("id", "row", "optimiser"),
    [
        ("schloer2020:exp1", OWN, ADAM),
        ("schloer2020:exp1", f"{OWN}, RMSProp", RMSPROP),
        ("schloer2020:exp5", OWN, RMSPROP),
    ],
)
def test_rows_are_trained_by_the_optimiser_that_their_numbers_were_made_with(id, row, optimiser):
    (experiment,) = ENTRIES[id].experiments(Scale(rows=(row,)))
    taken = {(c.recipe.optimiser.rule, c.recipe.optimiser.learning_rate) for c in experiment.cases}
    assert taken == {(optimiser.rule, optimiser.rate)}


def test_rows_with_two_inputs_are_the_runs_of_experiment_1():
    (ten,) = ENTRIES["schloer2020:exp3"].experiments(Scale(rows=(f"{OWN}, 2 inputs",)))
    (two,) = ENTRIES["schloer2020:exp1"].experiments(Scale(rows=(OWN,)))
    assert [Run(case, 0).id for case in ten.cases] == [Run(case, 0).id for case in two.cases]


def test_of_ten_inputs_the_first_two_matter():
    data = SIMPLE_ARITHMETIC.data(Purpose.DATA, SIMPLE_ARITHMETIC.datasets(1), SMALL)
    a, b = data.x[:, :, 0, 0], data.x[:, :, 0, 1]
    assert data.x.shape[-2] == 10
    for task, expected in enumerate((a + b, a - b, a * b, a / b)):
        torch.testing.assert_close(data.y[:, :, task], expected)


def test_inputs_reach_their_magnitude_and_twice_as_far_in_extrapolation():
    for purpose, low, high in ((Purpose.DATA, 0, 1), (Purpose.TEST, 1, 2)):
        x = MAGNITUDE.data(purpose, MAGNITUDE.datasets(1), EpochPlan(samples=6400)).x
        for place, size in enumerate(MAGNITUDES):
            assert float(x[:, place].min()) == pytest.approx(low * size, abs=0.01 * size)
            assert float(x[:, place].max()) == pytest.approx(high * size, abs=0.01 * size)


def test_the_grid_of_starts_has_every_triple_of_means_once():
    assert len(set(INITIALISATION.starts)) == 27
    assert {(s.w, s.m, s.g) for s in INITIALISATION.starts} == {
        (w, m, g) for w in (-1, 0, 1) for m in (-1, 0, 1) for g in (-1, 0, 1)
    }
    assert named(BEST) == "W 1, M -1, g 0"


@pytest.mark.parametrize("start", [BEST, Start(-1.0, 1.0, 1.0)], ids=named)
def test_a_run_starts_from_the_means_of_its_row(start):
    task = runs.OneOperation("initialisation", "sub", 0)
    case = runs.case(OWN, task, epochs=1, samples=64, start=start)
    (record,) = computed([Run(case, 0)]).values()
    made = dict(final_model(case, record).named_parameters())
    for name, mean in (("w00", start.w), ("m01", start.m), ("g0", start.g)):
        assert float(made[name].detach().mean()) == pytest.approx(mean, abs=0.2)


def errors(values):
    columns = layouts.columns(MAGNITUDE, "mul")
    return Findings({("row", c, "error"): Finding(v, None, None, 10) for c, v in zip(columns, values)})


@pytest.mark.parametrize(
    ("values", "rising", "no_order"),
    [
        ((1e-9, 1e-5, 0.1, 1, 5), True, False),
        ((5, 1, 0.1, 1e-5, 1e-9), False, False),
        ((1e-9, 1e-5, 0.1, 5, 1), False, True),
        ((1e-9, 1e-5, 0.1, 1, None), True, False),  # no finite median
    ],
)
def test_an_error_rises_or_has_no_order(values, rising, no_order):
    assert rises("row", "mul")(errors(values)) is rising
    assert unordered("row", "mul")(errors(values)) is no_order


def found(rates, metric="success"):
    """Findings of ten seeds, by row and column."""
    return Findings({(*place, metric): Finding(r, *wilson(r), 10) for place, r in rates.items()})


def wilson(rate):
    interval = success_interval(round(10 * rate), 10)
    return interval.low, interval.high


@pytest.mark.parametrize(("best", "other", "holds"), [(1.0, 0.5, True), (0.1, 1.0, False), (0.0, 0.0, False)])
def test_the_best_start_may_be_beaten(best, other, holds):
    columns = layouts.columns(INITIALISATION, "add", "sub", "mul", "div")
    rates = {
        (named(start), c): best if start == BEST else other
        for start in INITIALISATION.starts
        for c in columns
    }
    most_stable, division = ENTRIES["schloer2020:exp4"].claims
    assert most_stable.answer(found(rates)).holds is holds
    assert division.answer(found(rates)).holds is (best < 1)


@pytest.mark.parametrize(("ten", "two", "holds"), [(0.2, 0.5, True), (0.5, 0.2, False)])
def test_division_worsens_only_if_it_had_more_success_with_two_inputs(ten, two, holds):
    columns = layouts.columns(SIMPLE_ARITHMETIC, "div")
    rates = {(OWN, c): ten for c in columns} | {(f"{OWN}, 2 inputs", c): two for c in columns}
    (claim,) = [
        c for c in ENTRIES["schloer2020:exp3"].claims if c.row == OWN and c.text.startswith("is worse")
    ]
    assert claim.answer(found(rates)).holds is holds
