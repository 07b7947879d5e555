"""The causes of differences, and the trials that their texts quote."""

import json
from pathlib import Path

from nalm.papers.causes import CAUSES, cause_of
from nalm.papers.entries import ENTRIES

TRIALS = json.loads((Path(__file__).parents[2] / "benchmarks" / "results-causes.json").read_text())


def test_causes_are_about_entries_of_the_ledger():
    assert {entry for entry, _, _ in CAUSES} <= set(ENTRIES)


def test_the_closest_cause_is_found_first():
    entry, grows = "mistry2023:fig5.12", "the error grows as ranges come closer to zero"
    assert "left to right" in cause_of(entry, "NMRU", f"{grows} (division, 2 inputs)")
    assert "float64" in cause_of(entry, "NMRU", f"{grows} (reciprocal, 1 input)")
    assert cause_of(entry, "Real NPU", grows) is None


def test_trials_have_both_sides_of_as_many_runs_as_they_say():
    for name, trial in TRIALS.items():
        assert trial["entry"] in ENTRIES, name
        assert trial["columns"], name
        # Trask et al. have 10 seeds here; some of their trials evaluate a best possible map, which has none.
        least = 1 if name.startswith("trask") else 20
        for sides in trial["columns"].values():
            assert min(sides["before"]["n"], sides["after"]["n"]) >= least, name


def test_what_is_said_to_have_moved_a_number_did():
    def rates(name, column):
        sides = TRIALS[name]["columns"][column]
        return sides["before"]["value"], sides["after"]["value"]

    assert rates("stg-mean", "U[1.1,1.2)") == (0, 1)
    assert all(rates("scaling-each-batch", column) == (1, 0) for column in ("U[-2,2)", "U[1,2)"))
    assert all(rates("nau-100-both", column)[1] == 0.2 for column in ("U[-1.2,-1.1)", "U[1.1,1.2)"))
    assert round(rates("heim-nmu-range", "div, mean ± SE")[1], 2) == 11.40
