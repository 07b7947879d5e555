"""The queue of the ledger: what is trained next, when an entry is done, and what is kept of a part."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import ledger_queue
from ledger_queue import STAGES, Stage, waiting, work
from nalm.papers.entries import ENTRIES

RESULT = {
    "id": "madsen2020:table2",
    "protocol": "paper",
    "numerics_version": 3,
    "reduced": [],
    "compute": {"cpu_seconds": 60},
}


@pytest.fixture
def kept(monkeypatch):
    """Results that are kept, by id."""
    held = {}
    monkeypatch.setattr(ledger_queue, "kept_result", held.get)
    monkeypatch.setattr(ledger_queue, "keep", lambda result: held.update({result["id"]: result}))
    return held


def findings(*seeds):
    return [["NMU", str(k), "success", 1.0, 0.5, 1.0, n] for k, n in enumerate(seeds)]


@pytest.mark.parametrize(
    ("changes", "done"),
    [
        ({"findings": findings(20, 20)}, True),
        ({"findings": findings(20, 5)}, False),
        ({"findings": findings(20), "reduced": ["cells: 1 instead of 11"]}, False),
        ({"findings": findings(20), "protocol": "quick"}, False),
    ],
)
def test_a_stage_is_done_with_all_cells_and_enough_seeds(kept, changes, done):
    kept["madsen2020:table2"] = {**RESULT, **changes}
    assert Stage("madsen2020:table2", 20).is_done is done


def test_every_stage_is_an_entry_and_a_round_of_few_seeds_comes_before_one_of_many():
    assert {stage.entry for stage in STAGES} <= set(ENTRIES)
    rounds = {}
    for stage in STAGES:
        rounds.setdefault(stage.entry, []).append(stage.seeds or 0)
    assert all(seeds == sorted(seeds) for seeds in rounds.values())


def test_what_is_worth_most_and_not_done_is_next_and_other_entries_come_last(kept):
    kept[STAGES[0].entry] = {**RESULT, "findings": findings(10)}
    found = list(waiting())
    assert found[0] == STAGES[1]
    assert found[-1].entry not in {stage.entry for stage in STAGES}
    assert {stage.entry for stage in found} == set(ENTRIES) - {STAGES[0].entry}


def test_hours_that_are_over_end_the_work(kept, monkeypatch, tmp_path):
    monkeypatch.setattr(ledger_queue, "_train", lambda *asked: pytest.fail("trained"))
    work(0.0, tmp_path / "runs.sqlite")
    assert not kept


def test_processor_time_adds_up_over_rounds(kept, monkeypatch, tmp_path):
    kept["madsen2020:table2"] = {**RESULT, "findings": findings(5)}
    monkeypatch.setattr(ledger_queue, "waiting", lambda: iter([Stage("madsen2020:table2", 20)]))
    monkeypatch.setattr(ledger_queue, "_train", lambda stage, store, seconds: 30.0)
    monkeypatch.setattr(ledger_queue, "_measure", lambda stage, store: {**RESULT, "findings": findings(20)})
    work(1.0, tmp_path / "runs.sqlite")
    assert kept["madsen2020:table2"]["compute"]["cpu_seconds"] == 90
    assert Stage("madsen2020:table2", 20).is_done


def test_a_result_with_fewer_runs_never_replaces_one_with_more(kept, monkeypatch, tmp_path):
    kept["madsen2020:table2"] = {**RESULT, "findings": findings(20)}
    monkeypatch.setattr(ledger_queue, "waiting", lambda: iter([Stage("madsen2020:table2", 20)]))
    monkeypatch.setattr(ledger_queue, "_train", lambda stage, store, seconds: 30.0)
    monkeypatch.setattr(ledger_queue, "_measure", lambda stage, store: {**RESULT, "findings": findings(5, 5)})
    work(1.0, tmp_path / "runs.sqlite")
    assert kept["madsen2020:table2"]["findings"] == findings(20)


def test_a_stage_is_trained_and_measured_by_the_command(kept, monkeypatch, tmp_path):
    monkeypatch.setattr(ledger_queue, "waiting", lambda: iter([Stage("mistry2023:table6.2")]))
    work(1.0, tmp_path / "runs.sqlite")
    result = kept["mistry2023:table6.2"]
    assert result["findings"]
    assert result["compute"]["cpu_seconds"] > 0
