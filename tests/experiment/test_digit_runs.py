"""Benchmarks of digits end to end, on digits that are drawn: rows, what is stored, runs that are killed."""

import json
import multiprocessing

import numpy as np
import pytest

from nalm.experiment.bench import Experiment, compute_missing, do_work, make_work
from nalm.experiment.checkpoints import checkpoint_folder
from nalm.experiment.compute import compute
from nalm.experiment.describe import Filter, described_runs
from nalm.experiment.executor import Progress
from nalm.experiment.local import Local
from nalm.experiment.plan import Chunk
from nalm.experiment.rebuild import model_of
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Store
from nalm.models import ModelSpec
from nalm.recipes import Adam, InputIdentity, Recipe, UnitPenalty
from nalm.report import tables
from nalm.tasks import MnistIsolated, MnistSequential

pytestmark = pytest.mark.xdist_group("digit-runs")


class Here:
    """Computes chunks in this process."""

    size = 1

    def compute(self, chunks, on_progress, checkpoints=None):
        progress = Progress.of(chunks)
        for chunk in chunks:
            records = compute(chunk, None, checkpoints)
            progress.advance(progress.done + chunk.run_steps)
            on_progress(progress)
            yield records


def short(model):
    """A case of a few steps on drawn digits."""
    task = MnistSequential("mul", digits="drawn", protocol="quick")
    return Case(ModelSpec.parse(model), task, 4, schedule="scaled")


@pytest.fixture(scope="module")
def benched(tmp_path_factory):
    """The result of a benchmark of two seeds, what was reported meanwhile, and the store."""
    path, seen = tmp_path_factory.mktemp("bench") / "runs.sqlite", []
    experiment = Experiment("mnist-sequential", (short("nmu"), short("mul")), 2)
    with Store(path) as store:
        result = do_work(make_work(experiment, store, 1), store, Here(), seen.append)
    return experiment, result, seen, path


def test_every_length_of_every_model_is_judged(benched):
    _, result, _, _ = benched
    assert len(result["rows"]) == 40
    assert all(row["threshold"] > 0 and row["success"]["rate"] is not None for row in result["rows"])
    assert all(row["labels"]["digits"] == "drawn" for row in result["rows"])
    json.dumps(result, allow_nan=False)


def test_what_is_stored_is_not_computed_again(benched):
    experiment, result, _, path = benched
    with Store(path) as store:
        again = do_work(make_work(experiment, store, 1), store, Here())
    assert (result["computed_runs"], again["computed_runs"], again["stored_runs"]) == (4, 0, 4)
    assert again["rows"] == result["rows"]


def test_progress_knows_images_and_epochs(benched):
    experiment, _, seen, _ = benched
    task = experiment.cases[0].task
    assert seen[-1].done == seen[-1].total == 4 * 4
    assert seen[-1].images == 4 * 4 * task.images_per_step
    assert seen[-1].epochs == pytest.approx(4 * 4 / task.epoch())


def test_errors_by_length_and_what_was_read_are_stored(benched):
    experiment, _, _, path = benched
    with Store(path) as store:
        (record,) = store.records([Run(experiment.cases[0], 0).id])
    logs = len(record.steps)
    assert record.errors["test/mse_by_length"].shape == (20, logs)
    assert record.errors["test/digits"].shape == (10, 10, logs)
    np.testing.assert_allclose(record.errors["test/digits"].sum((0, 1)), 1)
    by_length = record.errors["test/mse_by_length"]
    np.testing.assert_allclose(record.test, by_length[:2].mean(0))  # the results after one and two digits
    assert {name: p.shape for name, p in record.history.items()} == {"unit.weight": (logs, 1, 2)}
    assert record.sparsity is not None


def test_the_unit_of_a_stored_network_is_built_again_with_its_weights(benched):
    experiment, _, _, path = benched
    with Store(path) as store:
        (record,) = store.records([Run(experiment.cases[0], 1).id])
    unit = model_of(record)
    np.testing.assert_array_equal(unit.weight.detach().numpy(), record.chosen_parameters["unit.weight"])


def test_rows_and_runs_are_shown(benched):
    _, result, _, path = benched
    table = tables.bench_table(result)
    assert [row[0] for row in table.rows] == ["nmu", "mul (reference)"]
    assert [column.name for column in table.columns][-20:] == [f"length {n}" for n in range(1, 21)]
    runs = list(described_runs(path, Filter()))
    assert sorted((run["model"], run["seed"]) for run in runs) == [
        ("mul", 0),
        ("mul", 1),
        ("nmu", 0),
        ("nmu", 1),
    ]
    assert len(tables.runs_table(runs).rows) == 4


# -- killed --------------------------------------------------------------------------------------

STEPS, INTERVAL = 42, 21
LONG = Case(
    ModelSpec.parse("snmu"),
    MnistSequential("mul", digits="drawn"),
    other_recipe=Recipe(
        optimiser=Adam(1e-3),
        penalties=(UnitPenalty(1.0), InputIdentity(1.0)),
        iterations=STEPS,
        batch_size=16,
        by="loop",
    ),
)
"""Two epochs of drawn digits, with a checkpoint after each."""


def test_a_run_on_digits_whose_process_is_killed_resumes_to_the_same_bits(tmp_path):
    path, done = tmp_path / "runs.sqlite", []
    folder = checkpoint_folder(path)
    assert LONG.task.log_interval == INTERVAL

    def kill_once(progress):
        done.append(progress.done)
        if INTERVAL < progress.done < STEPS and "killed" not in done:
            assert [file.name for file in folder.iterdir()] == [f"{Run(LONG, 0).id}.safetensors"]
            done.append("killed")
            for process in multiprocessing.active_children():
                process.kill()

    with Store(path) as store:
        work = make_work(Experiment("long", (LONG,), 1), store, 1)
        compute_missing(work, store, Local(1), kill_once)
        (record,) = store.records()
    after = done[done.index("killed") + 1 :]
    assert min(after) >= INTERVAL  # it did not begin again
    assert not folder.exists()
    (whole,) = compute(Chunk((Run(LONG, 0),)))
    np.testing.assert_array_equal(record.test, whole.test)
    for name in whole.errors:
        np.testing.assert_array_equal(record.errors[name], whole.errors[name])
    for name, p in whole.final_parameters.items():
        np.testing.assert_array_equal(record.final_parameters[name], p)
    np.testing.assert_array_equal(record.history["unit.weight"], whole.history["unit.weight"])


def test_another_task_has_other_rows(tmp_path):
    case = Case(ModelSpec.parse("mul"), MnistIsolated("mul", digits="drawn", per_digit=2, most_images=50), 2)
    with Store(tmp_path / "runs.sqlite") as store:
        work = make_work(Experiment("mnist-isolated", (case,), 1), store, 1)
        rows = do_work(work, store, Here())["rows"]
    assert [row["labels"]["accuracy"] for row in rows][:3] == ["exact", "5 decimals", "rounded"]
    assert all(0 <= row["errors"]["test"] <= 1 for row in rows)
    assert {row["threshold"] for row in rows} == {None}
