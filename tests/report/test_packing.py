"""Packed runs: the page unpacks what was stored, to a few digits; of large stores it shows fewer seeds."""

import base64
import gzip
import json

import numpy as np
import pytest
from made_runs import CHOSEN, STEPS, fetch_from, made_record

from nalm.experiment.bench import make_experiment
from nalm.experiment.run import Run
from nalm.experiment.stored_cases import stored_cases
from nalm.report import packing
from nalm.tasks import SingleModule


def records_of(*models, seeds=2, inputs=2, **changes):
    experiment = make_experiment("single-module", models, None, ["1:2"], seeds=seeds, inputs=inputs)
    return [made_record(run, solved=True, **changes) for run in experiment.runs()]


def pack(records):
    return packing.pack_runs(stored_cases(records), fetch_from(records))


def unpacked(text):
    """The header, and the numbers one after the other."""
    data = gzip.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    halves = np.frombuffer(data[4 + length :], np.uint8).reshape(2, -1)
    return json.loads(data[4 : 4 + length]), halves.T.copy().view(">i2")[:, 0]


def series(numbers, start, length):
    return np.cumsum(numbers[start : start + length], dtype=np.int16)


def test_curves_and_weights_come_out_to_a_few_digits():
    records = records_of("nmu")
    header, numbers = unpacked(pack(records).text)
    record = records[0]
    errors = 10 ** (series(numbers, 0, 51) / header["errors_per_decade"])
    np.testing.assert_allclose(errors, record.validation, rtol=0.006)
    assert header["cases"][0]["names"] == ["W[1,1]", "W[1,2]"]
    weights = series(numbers, 102, 51) * header["scale"][0]
    np.testing.assert_allclose(weights, record.history["weight"][:, 0, 0], atol=0.0003)
    assert header["formulas"] == ["x1*x2"]


def test_what_is_not_finite_is_told_from_zero():
    _, numbers = unpacked(pack(records_of("nmu", test=np.where(np.arange(51) == 1, np.nan, 0.0))).text)
    assert series(numbers, 51, 3).tolist() == [-packing.LARGEST, packing.NOT_FINITE, -packing.LARGEST]


def test_large_weights_have_a_coarser_scale():
    run = next(make_experiment("single-module", ["linear"], ["add"], ["1:2"], seeds=1).runs())
    made = made_record(run, solved=True)
    history = {name: 1e6 * value for name, value in made.history.items()}
    records = [made_record(run, solved=True, history=history)]
    header, numbers = unpacked(pack(records).text)
    assert series(numbers, 102, 51)[-1] * header["scale"][0] == pytest.approx(1e6, rel=1e-4)


def test_runs_without_weights_over_time_say_so():
    header, numbers = unpacked(
        pack(records_of("nmu", history={}, history_steps=np.array([], dtype=np.int64))).text
    )
    assert header["cases"] == [{"names": [], "weights": 0}]
    assert [header["grids"][k] for k in header["points"]] == [[], []]
    assert len(numbers) == 2 * 2 * 51


def test_one_run_without_weights_leaves_those_of_the_others():
    """Seeds that were added to a store of an older version."""
    run, other = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=2).runs()
    old = made_record(run, solved=True, history={}, history_steps=np.array([], dtype=np.int64))
    records = [old, made_record(other, solved=True)]
    header, numbers = unpacked(pack(records).text)
    assert [len(header["grids"][k]) for k in header["points"]] == [0, 51]
    assert series(numbers, 2 * 51 + 2 * 51, 51)[-1] * header["scale"][1] == pytest.approx(1, abs=1e-3)


def test_curves_of_different_lengths_keep_their_places():
    run, other = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=2).runs()
    short = {"steps": STEPS[:20], "validation": np.ones(20), "test": np.ones(20), "chosen": 3}
    records = [made_record(run, solved=False, **short), made_record(other, solved=True)]
    header, numbers = unpacked(pack(records).text)
    assert [len(header["grids"][k]) for k in header["steps"]] == [20, 51]
    second = series(numbers, 2 * 20 + 2 * 51, 51)
    np.testing.assert_allclose(
        10 ** (second / header["errors_per_decade"]), records[1].validation, rtol=0.006
    )


def test_the_facts_of_a_run_are_its_own():
    header, _ = unpacked(pack(records_of("nmu", seeds=1)).text)
    facts = {name: header[name][0] for name in ("row", "seed", "chosen", "solved_at", "sparsity")}
    assert facts == {"row": 0, "seed": 0, "chosen": CHOSEN, "solved_at": 26_000, "sparsity": 0.0}
    assert header["threshold"][0] == pytest.approx(SingleModule("mul").threshold(), rel=1e-5)
    assert header["outcomes"][header["outcome"][0]] == "solved"


def test_of_many_weights_the_largest_are_shown():
    header, _ = unpacked(pack(records_of("nmu", inputs=30)).text)
    assert len(header["cases"][0]["names"]) == packing.SHOWN_WEIGHTS
    assert {"W[1,1]", "W[1,2]"} <= set(header["cases"][0]["names"])
    assert header["cases"][0]["weights"] == 30


def test_beyond_the_budget_every_cell_shows_its_lowest_seeds(monkeypatch):
    monkeypatch.setattr(packing, "BUDGET", 2 * 3 * (packing.FORMULA + 4 * 51))
    packed = pack(records_of("nmu", "snmu", seeds=5))
    header, _ = unpacked(packed.text)
    assert packed.shown == [3, 3]
    assert header["seed"] == [0, 1, 2, 0, 1, 2]


def test_of_too_many_cells_the_first_show_one_seed(monkeypatch):
    monkeypatch.setattr(packing, "BUDGET", packing.FORMULA + 4 * 51)
    packed = pack(records_of("nmu", "snmu", seeds=5))
    header, _ = unpacked(packed.text)
    assert packed.shown == [1, 0]
    assert header["seed"] == [0]


def test_only_runs_that_are_shown_are_read_and_few_at_a_time(monkeypatch):
    monkeypatch.setattr(packing, "BUDGET", 2 * 3 * (packing.FORMULA + 4 * 51))
    monkeypatch.setattr(packing, "TOGETHER", 2)
    records = records_of("nmu", "snmu", seeds=5)
    asked = []
    packing.pack_runs(stored_cases(records), lambda ids: asked.append(ids) or fetch_from(records)(ids))
    seed = {record.id: record.seed for record in records}
    assert [[seed[name] for name in ids] for ids in asked] == [[0, 0], [0, 1, 2], [0, 1, 2]]


def test_a_models_own_parameters_stand_in_where_it_does_not_tell_its_weights():
    experiment = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1)
    (run,) = experiment.runs()
    records = [made_record(Run(run.case, 0), solved=True, model="gone.py:Unit")]
    header, _ = unpacked(pack(records).text)
    assert header["cases"][0]["names"] == ["weight[1,1]", "weight[1,2]"]
    assert header["formulas"] == [None]
