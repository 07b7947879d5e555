"""Figure 5 of Trask et al. 2018: what is read from agents' runs, and what the claims make of it."""

from dataclasses import dataclass

import numpy as np
import pytest
from matplotlib.figure import Figure

from nalm.papers.entries import ENTRIES
from nalm.papers.scale import Scale
from nalm.papers.trask2018.entries.grid_world import (
    ARRIVAL,
    COUNTING,
    IN_TIME,
    NEVER,
    PLAIN,
    REWARD,
    WITH_NAC,
    column,
    well_to,
)
from nalm.tasks.grid_world.task import TEST_LIMIT, TESTED

ENTRY = ENTRIES["trask2018:fig5"]
QUICK = Scale(quick=True)


@dataclass(frozen=True)
class Behaved:
    """A stored run of an agent of which only its arrivals are known, at one logged step."""

    arrivals: np.ndarray
    chosen: int = 0

    @property
    def errors(self):
        missed = [1 - self.arrivals[k, time] for k, time in enumerate(TESTED)]
        return {
            "test/missed_by_time": np.array(missed)[:, None],
            "test/arrivals": self.arrivals[..., None],
        }


def behaves(arrives):
    """An agent that, told T, always arrives at `arrives(T)`; 0 is never."""
    arrivals = np.zeros((len(TESTED), TEST_LIMIT + 1))
    for k, time in enumerate(TESTED):
        arrivals[k, arrives(time)] = 1
    return Behaved(arrivals)


def as_published(case):
    """What the paper says of its two agents; ours is always in time."""
    if case.task.op == "count":
        return behaves(lambda time: time)
    if str(case.model) == "nac":
        return behaves(lambda time: time if time <= 20 else 0)
    return behaves(lambda time: min(time, 12))


def measured(run=as_published):
    records = {case: [run(case)] * 3 for plan in ENTRY.experiments(QUICK) for case in plan.cases}
    return ENTRY.compute(QUICK, records)


def test_three_agents_are_trained():
    (plan,) = ENTRY.experiments(QUICK)
    assert [(str(case.model), case.task.op, case.task.protocol) for case in plan.cases] == [
        ("none", "instruct", "quick"),
        ("nac", "instruct", "quick"),
        ("nau", "count", "quick"),
    ]
    assert plan.seeds == 3


def test_arrivals_are_read_by_instruction():
    f = measured().findings
    assert f[PLAIN, column(16), IN_TIME].value == 0
    assert f[PLAIN, column(16), ARRIVAL].value == 12
    assert f[PLAIN, column(16), REWARD].value == pytest.approx(75)  # 1 - 4 / 16
    assert f[WITH_NAC, column(25), NEVER].value == 100
    assert f[WITH_NAC, column(25), ARRIVAL].value is None
    assert (well_to(f, PLAIN), well_to(f, WITH_NAC), well_to(f, COUNTING)) == (None, 20, 25)


def test_agents_that_behave_as_published_support_every_claim():
    f = measured().findings
    assert all(claim.answer(f) for claim in ENTRY.claims)


def test_an_agent_that_always_follows_contradicts_what_is_said_of_failures():
    f = measured(lambda case: behaves(lambda time: time)).findings
    answers = [bool(claim.answer(f)) for claim in ENTRY.claims]
    assert answers == [True, True, True, False, False, False]


def test_an_agent_that_never_arrives_supports_nothing_but_that():
    f = measured(lambda case: behaves(lambda time: 0)).findings
    answers = [bool(claim.answer(f)) for claim in ENTRY.claims]
    assert answers == [False, False, False, False, False, True]


def test_what_is_reduced_is_said():
    assert measured().reduced == [
        "seeds: 3 instead of 10",
        "steps: 6,000 instead of 40,000, schedules shortened with them",
    ]


def test_the_figure_has_a_line_for_each_agent():
    figure = Figure(layout="constrained")
    ENTRY.draw(measured(), figure)
    in_time, _, arrival = figure.axes
    assert len(in_time.get_lines()) == 3
    assert len(arrival.get_lines()) == 4  # and the diagonal
