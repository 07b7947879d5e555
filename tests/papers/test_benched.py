"""The papers' numbers beside the rows of a benchmark."""

import pytest

from nalm.experiment.bench import make_experiment
from nalm.papers.benched import has_own_units, with_published
from nalm.report.tables import published_table

OWN = """
import torch

class Mine(torch.nn.Linear):
    pass
"""


def benched(*, wanted=True, units=("nmu",), **options):
    experiment = make_experiment("single-module", units, ["mul"], ["1:2"], **options)
    rows = [{"op": case.task.op, "inputs": 2, "range": case.task.range} for case in experiment.cases]
    return with_published({"rows": rows, "notes": []}, experiment, wanted=wanted)


def test_rows_have_the_rates_of_the_same_task_and_steps():
    result = benched()
    rates = {rate["model"]: rate for rate in result["rows"][0]["published"]}
    assert rates["nmu"]["success"]["rate"] == 1
    assert {rate["iterations"] for rate in rates.values()} == {50_000}
    assert all(rate["source"].startswith("mistry2023") for rate in rates.values())
    assert result["notes"] == []


def test_other_steps_are_not_put_beside_but_told():
    result = benched(iterations=10_000)
    assert result["rows"][0]["published"] == []
    assert result["notes"] == [
        "Papers have numbers for these tasks, but for 50,000 steps: they are not put beside."
    ]
    assert published_table(result) is None


def test_runs_that_are_solved_instead_of_trained_have_none():
    assert benched(recipe="second-order")["rows"][0]["published"] == []


def test_where_nobody_looked_there_is_null():
    result = benched(wanted=False)
    assert (result["rows"][0]["published"], result["notes"]) == (None, [])


def test_every_rate_of_a_task_is_shown_once_however_many_units_are_benchmarked():
    table = published_table(benched(units=("nmu", "snmu")))
    assert len(table.rows) == len(set(table.rows)) == len(benched()["rows"][0]["published"])
    assert "mistry2023, section 3.3.2, text" in table.text()


@pytest.mark.parametrize(
    ("unit", "own"), [("nmu", False), ("mine.py:Mine", True), ("nau+mine.py:Mine", True)]
)
def test_units_of_ones_own_are_known(tmp_path, monkeypatch, unit, own):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    assert has_own_units(make_experiment("single-module", [unit], ["mul"], ["1:2"])) == own
