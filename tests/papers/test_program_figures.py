"""Programs in the ledger: shares of matching digits, bands, and claims."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from made_records import MadeRuns
from matplotlib.figure import Figure

from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings
from nalm.papers.entries import ENTRIES
from nalm.papers.reproduce import rejudged, result_of
from nalm.papers.scale import Scale
from nalm.papers.trask2018.entries import programs
from nalm.papers.trask2018.entries.programs import MATCHING, column_of, two_sigma

FEW = Scale(quick=True, seeds=2)
NAMES = [entry.id for entry in programs.ENTRIES]
SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "reproduce.schema.json"


def test_the_band_is_two_standard_deviations_to_both_sides():
    found = two_sigma([80.0, 90.0, 100.0])
    assert (found.value, found.low, found.high) == pytest.approx((90, 70, 110))
    assert two_sigma([80.0]) == Finding(80.0, None, None, 1)


def shares(**by_row):
    return Findings(
        {
            (row, column_of(digits), MATCHING): Finding(share, None, None, 10)
            for row, each in by_row.items()
            for digits, share in zip((2, 3, 4), each)
        }
    )


def test_claims_hold_for_what_the_paper_describes_and_not_for_the_opposite():
    as_published = shares(NALU=(100, 99, 97), UGRNN=(99, 70, 40), LSTM=(99, 40, 20), DNC=(98, 40, 20))
    opposite = shares(NALU=(70, 30, 20), UGRNN=(60, 40, 55), LSTM=(50, 60, 70), DNC=(50, 60, 70))
    theirs = [claim for claim in ENTRIES["trask2018:fig6"].claims if not claim.text.startswith("ours")]
    assert len(theirs) == 10
    assert all(claim.answer(as_published).holds for claim in theirs)
    assert not any(claim.answer(opposite).holds for claim in theirs)


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_gives_cells_and_a_figure(name):
    entry = ENTRIES[name]
    measured = entry.measure(FEW, MadeRuns())
    assert measured.reduced[0] == "seeds: 2 instead of 10"
    steps = {"trask2018:fig6": 5000, "trask2018:fig4": 10_000}[name]
    assert measured.reduced[1].startswith(f"steps: {steps} instead of 100000")
    result = result_of(entry, measured, FEW)
    jsonschema.validate(json.loads(json.dumps(result)), json.loads(SCHEMA.read_text()))
    assert rejudged(entry, result)["cells"] == result["cells"]
    numbers = [cell for cell in result["cells"] if cell["kind"] == "number"]
    assert len(numbers) == 15
    assert all(cell["verdict"] == "unpublished" for cell in numbers)
    figure = Figure(layout="constrained")
    entry.draw(measured, figure)
    assert figure.axes


def test_shares_are_read_at_the_chosen_step():
    entry = ENTRIES["trask2018:fig6"]
    made = MadeRuns().records(entry.experiments(FEW)[0])
    case = next(case for case in made if str(case.model) == "lstm")
    right = [100 * (1 - run.errors["three-digits/wrong_digits"][run.chosen]) for run in made[case]]
    found = entry.measure(FEW, MadeRuns()).findings["LSTM", "3 digits", MATCHING]
    assert found.value == pytest.approx(np.mean(right))
