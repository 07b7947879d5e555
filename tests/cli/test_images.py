"""Commands on tasks with images: where the images are, where to train, what is said meanwhile."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from made_runs import bare_record
from talk import only_line

from nalm.cli import progress as shown
from nalm.data import mnist
from nalm.experiment.compute import compute
from nalm.experiment.executor import Progress
from nalm.experiment.local import Local
from nalm.tasks.digits import pools

NAMES = [file.name for file in mnist.FILES]
TASKS = ["sequential", "series", "isolated", "colour", "parity", "comparison"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that NALM_DATA names, empty; no image is remembered from other tests."""
    made = tmp_path / "images"
    made.mkdir()
    monkeypatch.setenv("NALM_DATA", str(made))
    for cached in (pools.pool, pools.sorted_pool):
        cached.cache_clear()
    return made


@pytest.fixture
def bench(run, tmp_path, monkeypatch):
    """The command on running products, whose runs are computed in this process."""

    def here(self, chunks, on_progress, checkpoints=None):
        for chunk in chunks:
            yield compute(chunk, None, checkpoints)

    monkeypatch.setattr(Local, "compute", here)

    def command(*options):
        words = ("bench", "mnist-sequential", "--units", "nmu", "--op", "mul", "--scale", "quick")
        return run(*words, "--store", str(tmp_path / "runs.sqlite"), *options)

    return command


def fault(code, out, err):
    """The last line of a command that ended with a fault, without a traceback."""
    assert (code, out) == (1, "")
    assert "Traceback" not in err
    return err.splitlines()[-1]


# -- where the images are ------------------------------------------------------------------------


def test_a_folder_that_does_not_exist_is_refused_in_a_sentence(bench, tmp_path):
    code, out, err = bench("--data-dir", str(tmp_path / "gone"))
    assert (code, out) == (2, "")
    assert only_line(err) == f"Argument `data-dir` must be a folder, but got '{tmp_path / 'gone'}'."


def test_a_file_is_no_folder(bench, tmp_path):
    (tmp_path / "file").touch()
    code, out, err = bench("--data-dir", str(tmp_path / "file"))
    assert (code, out) == (2, "")
    assert "Argument `data-dir` must be a folder" in only_line(err)


def test_the_folder_is_looked_in_by_this_process_and_those_that_it_starts(bench, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    code, _, _ = bench("--data-dir", str(other), "--dry-run")
    assert code == 0
    assert os.environ["NALM_DATA"] == str(other.resolve())


def test_a_plan_needs_no_images(bench, folder):
    code, out, err = bench("--dry-run", "--json", "-")
    assert (code, err) == (0, "")
    assert json.loads(out)["runs"] == 6  # three seeds of the unit and of the reference


def test_missing_files_are_named(bench, folder):
    (folder / NAMES[0]).write_bytes(b"something")
    line = fault(*bench("--iterations", "2"))
    assert f"Expected the four MNIST files (.gz or not) in {folder}" in line
    assert line.endswith(f"but did not find {', '.join(NAMES[1:])}.")


def test_a_folder_in_the_environment_that_does_not_exist_is_named(bench, folder, monkeypatch):
    monkeypatch.setenv("NALM_DATA", str(folder / "gone"))
    line = fault(*bench("--iterations", "2"))
    assert line == (
        f"Expected NALM_DATA to name the folder of the MNIST files, but there is no folder {folder / 'gone'}."
    )


def test_a_truncated_file_is_named(bench, folder):
    for name in NAMES:
        (folder / f"{name}.gz").write_bytes(gzip.compress(bytes(1000))[:-9])
    line = fault(*bench("--iterations", "2"))
    assert f"Expected a whole gzip file at {folder / NAMES[0]}.gz, but found a damaged one" in line


def test_other_files_of_the_same_names_are_named_with_their_checksums(bench, folder):
    for name in NAMES:
        (folder / name).write_bytes(b"other digits")
    line = fault(*bench("--iterations", "2"))
    assert line.startswith(
        f"Expected a file with the MD5 {mnist.FILES[0].md5} (unzipped) at {folder / NAMES[0]}"
    )


def test_a_process_that_finds_no_images_ends_with_one_sentence(folder, tmp_path):
    words = ("bench", "mnist-isolated", "--units", "mul", "--op", "mul", "--seeds", "1", "--jobs", "1")
    done = subprocess.run(
        [sys.executable, "-m", "nalm", *words, "--store", str(tmp_path / "runs.sqlite")],
        capture_output=True,
        text=True,
        check=False,
    )
    line = fault(done.returncode, done.stdout, done.stderr)
    assert f"Expected the four MNIST files (.gz or not) in {folder}" in line


# -- where to train ------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["nonsense", "cuda:99", "", "cpu:x"])
def test_a_device_that_is_not_there_is_refused_in_a_sentence(bench, folder, device):
    code, out, err = bench("--device", device)
    assert (code, out) == (2, "")
    assert "Argument `device` must be" in only_line(err)


def test_the_processor_is_there(bench, folder):
    assert bench("--device", "cpu", "--dry-run")[0] == 0


# -- what is asked for ---------------------------------------------------------------------------


def test_the_six_tasks_are_listed(run):
    code, out, _ = run("list", "tasks")
    assert code == 0
    assert all(f"mnist-{name}" in out for name in TASKS)
    listed = json.loads(run("list", "tasks", "--json", "-")[1])["tasks"]
    rows = {row["name"]: row for row in listed if row["name"].startswith("mnist-")}
    assert list(rows) == [f"mnist-{name}" for name in TASKS]
    assert rows["mnist-sequential"]["ops"] == ["mul", "add"]
    assert "lstm" in rows["mnist-series"]["models"]
    assert all(row["ranges"] == [] and row["summary"] for row in rows.values())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--ranges", "1:2"), "Argument `ranges` must be left out: mnist-sequential has none"),
        (("--inputs", "2"), "Argument `inputs` must be left out: mnist-sequential has none"),
        (("--op", "div"), "Argument `op` must be one of mul, add, but got 'div'"),
        (("--op", "add"), "Argument `units` must be able to express an operation that was asked for (add)"),
        (("--scale", "quik"), "Argument `scale` must be one of quick, paper, but got 'quik'"),
        (("--units", "lsmt"), "Did you mean 'lstm'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_images_cannot_be_asked_is_said_before_any_work(bench, folder, options, words):
    code, out, err = bench(*options)
    assert (code, out) == (2, "")
    assert words in only_line(err)


@pytest.fixture
def made(monkeypatch):
    """Training that takes no time: the names of the runs that were trained."""
    names = []

    def compute(self, chunks, on_progress, checkpoints=None):
        for chunk in chunks:
            names.extend(run.id for run in chunk.runs)
            errors = np.random.default_rng(len(names)).uniform(1, 2, (20, 51))
            yield [bare_record(run, errors={"test/mse_by_length": errors}) for run in chunk.runs]

    monkeypatch.setattr(Local, "compute", compute)
    return names


def test_rows_by_length_are_printed_and_remembered(bench, folder, made):
    code, first, _ = bench()
    assert code == 0
    assert len(made) == 6
    assert "length 1" in first
    assert "length 20" in first
    assert "3 of 3" in first
    code, again, err = bench()
    assert (code, again, err) == (0, first, "")
    assert len(made) == 6


def test_rows_by_length_are_data(bench, folder, made):
    code, out, _ = bench("--json", "-")
    assert code == 0
    rows = json.loads(out)["rows"]
    assert [row["labels"]["length"] for row in rows] == [*range(1, 21), *range(1, 21)]
    assert all(row["labels"]["protocol"] == "quick" for row in rows)


# -- progress ------------------------------------------------------------------------------------


def line_of(progress, monkeypatch, capsys):
    """What is said of this progress in a pipe."""
    monkeypatch.setattr(shown, "_PAUSE", 0)
    shown._line()(progress)
    return only_line(capsys.readouterr().err)


def at(monkeypatch, seconds, **values):
    """Progress of 1000 steps, of which the first 100 took until second 10, at a later second."""
    monkeypatch.setattr("nalm.experiment.executor.time.perf_counter", lambda: 10.0)
    made = Progress(total=1000, began=0.0, **values)
    made.advance(100)
    monkeypatch.setattr("nalm.experiment.executor.time.perf_counter", lambda: float(seconds))
    made.advance(600)
    return made


def test_a_line_names_epochs_and_images_per_second(monkeypatch, capsys):
    progress = at(monkeypatch, 60, images=128_000, epochs=20.0)
    # 500 steps in 50 seconds, each of 128 images, and 400 steps left
    assert line_of(progress, monkeypatch, capsys) == (
        "60% after 60 s, 12.0 epochs of all runs, 1,280 images/s, 40 s left."
    )


def test_a_line_of_other_tasks_names_neither(monkeypatch, capsys):
    line = line_of(at(monkeypatch, 60), monkeypatch, capsys)
    assert "epoch" not in line
    assert "image" not in line
    assert line.startswith("60% after")


def test_before_the_first_step_nothing_is_compiled_for_images(monkeypatch, capsys):
    monkeypatch.setattr("nalm.experiment.executor.time.perf_counter", lambda: 3.0)
    images = Progress(total=1000, images=128_000, epochs=20.0, began=0.0)
    assert "time left not known yet" in line_of(images, monkeypatch, capsys)
    assert "compiling" in line_of(Progress(total=1000, began=0.0), monkeypatch, capsys)


def test_a_bar_counts_epochs_of_images_and_steps_of_others(monkeypatch):
    assert shown._counted(at(monkeypatch, 60, images=128_000, epochs=20.0)) == ("epochs of all runs", 12, 20)
    assert shown._counted(Progress(total=5 * 10**6, done=2 * 10**6)) == ("million steps", 2, 5)
