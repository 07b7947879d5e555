"""Entries of appendix D.3: what is planned, what is read from runs, what claims say. Nothing is trained."""

from types import SimpleNamespace

import numpy as np
import pytest

from nalm.papers.entries import ENTRIES
from nalm.papers.mistry2023.entries import comparison, logic
from nalm.papers.mistry2023.entries.comparison import DISCRETE, PLAIN, REDUNDANT
from nalm.papers.scale import Scale
from nalm.papers.shared.facet_runs import column, columns
from nalm.tasks import Comparison, Lists, Logic, ShortestPaths

FACETED = {entry.id: entry for entry in comparison.ENTRIES}
MEASURED = Scale()


def runs(case, seeds, wrong):
    """Runs of a case whose error on each facet is `wrong(case, facet, seed)`, after a worse first step."""
    return [
        SimpleNamespace(
            chosen=1,
            errors={f.curve: np.array([1.0, wrong(case, f, seed)]) for f in case.task.facets()},
        )
        for seed in range(seeds)
    ]


def measured(entry, wrong):
    (experiment,) = entry.experiments(MEASURED)
    records = {case: runs(case, experiment.seeds, wrong) for case in experiment.cases}
    return entry.measure(MEASURED, SimpleNamespace(records=lambda _: records))


def answers(entry, wrong):
    findings = measured(entry, wrong).findings
    return {(claim.row, claim.text): claim.answer(findings).holds for claim in entry.claims}


def test_both_units_have_their_entries():
    assert {*FACETED, logic.ENTRIES[0].id} <= set(ENTRIES)


def test_every_operation_of_logic_has_a_cell_for_every_number_of_units():
    (entry,) = logic.ENTRIES
    rows = {row for row, _ in entry.places}
    assert len(rows) == 11
    assert all((row, op) in entry.places for row in rows for op in Logic.ops)
    (experiment,) = entry.experiments(Scale(quick=True))
    assert (len(experiment.cases), experiment.seeds) == (99, 10)
    assert {case.hidden for case in experiment.cases} == {1, 2, 4, 8, 16}


@pytest.mark.parametrize("name", FACETED)
def test_success_is_an_error_below_the_limit_of_the_facet(name):
    entry = FACETED[name]
    found = measured(entry, lambda case, facet, seed: 0.0 if seed % 2 else 2 * facet.below)
    assert found.comparable
    assert not found.partial
    for row, place in {(row, place) for row, place, _ in found.findings}:
        assert found.findings.rate(row, place).value == 0.5
        assert found.findings[row, place, "error"].value > 0


def test_rows_of_ours_stand_in_the_columns_of_the_published_task():
    found = measured(FACETED["mistry2023:appendixD.3.2-lists"], lambda *_: 0.0).findings
    assert set(found.columns(DISCRETE)) == set(found.columns(REDUNDANT))
    assert column(Lists("min"), Lists("min").facets()[-1]) in found.columns(DISCRETE)


def test_claims_about_comparisons_follow_from_the_runs():
    entry = FACETED["mistry2023:appendixD.3.2"]

    def as_published(case, facet, seed):
        struggles = case.task.op in ("eq", "ne") and "redundancy" not in str(case.model)
        return 0.3 if struggles and seed < 5 and "second" not in str(case.model) else 0.0

    assert all(answers(entry, as_published).values())
    nothing_struggles = answers(entry, lambda *_: 0.0)
    assert not nothing_struggles[PLAIN, "struggles with = and !="]
    assert not nothing_struggles[REDUNDANT, "does better at = and !="]


def test_claims_about_lists_and_paths_follow_from_the_runs():
    longer = FACETED["mistry2023:appendixD.3.2-lists"]
    found = answers(longer, lambda case, facet, seed: facet.labels["length"] / 1e4)
    assert found[REDUNDANT, "counts worse in longer lists: 1000 against 10"]
    assert not found[REDUNDANT, "finds the minimum of lists of every length"]
    larger = FACETED["mistry2023:appendixD.3.2-paths"]
    found = answers(larger, lambda case, facet, seed: 1 / facet.labels["weights"])
    assert found[REDUNDANT, "does better in larger graphs with larger weights"]
    assert not found[REDUNDANT, "finds paths in graphs 4 times larger"]


def test_columns_are_named_by_the_labels_of_task_and_facet():
    assert columns(Comparison("eq", "floats"))[0] == "eq, floats, times 10"
    assert columns(ShortestPaths())[1] == "distance, nodes 20, weights 100"
