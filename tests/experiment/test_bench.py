"""Benchmarks end to end on short trainings: rows, resumption, interruption, number of processes."""

import contextlib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import nalm
from nalm.experiment.bench import do_work, make_experiment, make_work, schedule_notes
from nalm.experiment.local import Local
from nalm.experiment.store import Store

pytestmark = pytest.mark.xdist_group("bench")
RANGES = ["1:2", "-2:-1"]


def bench(path, seeds=6, processes=1, **options):
    """Rows and counts of a short benchmark of the NMU."""
    experiment = make_experiment("single-module", ["nmu"], None, RANGES, seeds=seeds, iterations=2000)
    with Store(path) as store:
        result = do_work(make_work(experiment, store, processes, **options), store, Local(processes))
        curves = {r.id: (r.validation.tobytes(), r.test.tobytes()) for r in store.records()}
    return result, curves


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return bench(tmp_path_factory.mktemp("bench") / "runs.sqlite", seeds=10)


def test_rows_have_every_measure(undisturbed):
    row = undisturbed[0]["rows"][0]
    assert row["unit"] == "nmu"
    assert row["recipe"] == "published"
    assert row["train_range"] == ((1.0, 2.0),)
    assert row["test_range"] == ((2.0, 6.0),)
    assert row["runs"] == 10
    assert row["success"]["low"] <= row["success"]["rate"] <= row["success"]["high"]
    assert sum(row["outcomes"].values()) == 10
    assert json.loads(json.dumps(undisturbed[0]))["computed_runs"] == 20


def test_fewer_steps_scale_the_schedules_and_say_so(undisturbed):
    schedule = undisturbed[0]["rows"][0]["schedule"]
    change = "UnitPenalty ramps from step 800 to 1,400, where the recipe ramps from step 20,000 to 35,000"
    assert schedule == {"kind": "scaled", "usual_steps": 50_000, "changes": (change,), "missed": ()}
    assert undisturbed[0]["notes"] == [f"nmu: schedules scaled to 2,000 instead of 50,000 steps: {change}."]


def test_published_schedules_are_cut_off_with_a_note_and_keep_the_names_that_runs_had():
    made = [
        make_experiment(
            "single-module", ["nau", "linear"], ["add"], RANGES, iterations=2000, schedule=schedule
        )
        for schedule in ("scaled", "published")
    ]
    scaled, cut = ([run.id for run in each.runs()] for each in made)
    assert [a == b for a, b in zip(scaled, cut)] == [False] * 50 + [True] * 50  # linear has no schedule
    (note,) = schedule_notes(made[1])
    assert "nau: with 2,000 instead of 50,000 steps, UnitPenalty never begins" in note
    assert "--schedule scaled" in note
    case = made[1].cases[0]
    assert case.recipe == replace(case.named_recipe, iterations=2000)


def test_the_usual_steps_need_no_note():
    assert schedule_notes(make_experiment("single-module", ["nmu", "inalu", "realnpu"])) == []


def test_more_seeds_compute_only_what_is_missing_and_give_the_same_bits(undisturbed, tmp_path):
    path = tmp_path / "runs.sqlite"
    assert bench(path, seeds=4)[0]["computed_runs"] == 8
    result, curves = bench(path, seeds=10)
    assert (result["computed_runs"], result["stored_runs"]) == (12, 8)
    assert result["rows"] == undisturbed[0]["rows"]
    assert curves == undisturbed[1]


def test_one_and_two_processes_give_the_same_bits(tmp_path):
    one, curves_of_one = bench(tmp_path / "one.sqlite", seeds=60, processes=1)
    two, curves_of_two = bench(tmp_path / "two.sqlite", seeds=60, processes=2)
    assert one["rows"] == two["rows"]
    assert curves_of_one == curves_of_two
    assert len(curves_of_two) == 120


def test_what_is_stored_is_not_computed_again_unless_asked(tmp_path):
    path = tmp_path / "runs.sqlite"
    bench(path)
    assert bench(path)[0]["computed_runs"] == 0
    assert bench(path, fresh=True)[0]["computed_runs"] == 12


def test_a_worker_that_dies_is_replaced(undisturbed, tmp_path):
    killed = []

    def kill_once(progress):
        if not killed:
            killed.append(True)
            for child in multiprocessing.active_children():
                child.kill()

    experiment = make_experiment("single-module", ["nmu"], None, RANGES, seeds=10, iterations=2000)
    with Store(tmp_path / "runs.sqlite") as store:
        result = do_work(make_work(experiment, store, 1), store, Local(1), kill_once)
    assert killed
    assert result["rows"] == undisturbed[0]["rows"]


KILLS = 10
LIMIT = 600
"""Seconds after which a test gives up; what it waits for takes a few, or many on a busy machine."""


def test_killed_at_random_moments_the_rows_are_the_same(undisturbed, tmp_path):
    """Kill the command or one of its processes, over and over, until it has survived ten kills."""
    rows = json.loads(json.dumps(undisturbed[0]["rows"]))
    moments, expected = [], [{**row, "published": None} for row in rows]  # which the command looks up
    path = tmp_path / "runs-0.sqlite"
    while len(moments) < KILLS:
        process = subprocess.Popen(
            command(path),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        delay = random.uniform(0.1, 6.0)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(delay)
        killed = kill_one(process)
        out, _ = process.communicate(timeout=LIMIT)
        moments += [(delay, killed)] if killed else []
        if process.returncode == 0:  # a worker was killed and replaced, or nothing was
            assert json.loads(out)["rows"] == expected, moments
            path = tmp_path / f"runs-{len(moments)}.sqlite"
        else:
            assert process.returncode == -signal.SIGKILL, moments
    done = subprocess.run(command(path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, (moments, done.stderr)
    assert json.loads(done.stdout)["rows"] == expected, moments


def command(path):
    """The benchmark of `bench` with 10 seeds, from the command line."""
    words = [sys.executable, "-m", "nalm", "bench", "single-module", "--units", "nmu", "--seeds", "10"]
    words += ["--iterations", "2000", "--jobs", "2", "--json", "-"]
    return [*words, "--ranges", ",".join(RANGES), "--store", str(path)]


def kill_one(process):
    """Kill the process or one of its children, if it still runs; says which."""
    if process.poll() is not None:
        return None
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    if children and random.random() < 0.4:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(random.choice(children)), signal.SIGKILL)
        return "worker"
    process.kill()
    return "coordinator"


def start(path, **options):
    """A command that has begun to compute, which takes minutes."""
    words = [sys.executable, "-m", "nalm", "bench", "single-module", "--units", "nmu", "--seeds", "5000"]
    words += ["--store", str(path)]
    process = subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A suite that runs in the background is told to ignore interruptions, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )
    assert "runs to compute" in process.stderr.readline()
    time.sleep(2)
    return process


def test_an_interrupted_command_says_so_and_leaves_the_store_free(tmp_path):
    path = tmp_path / "runs.sqlite"
    process = start(path)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "Interrupted" in err
    Store(path).close()


def test_a_second_command_on_the_same_store_is_refused(tmp_path):
    path = tmp_path / "runs.sqlite"
    process = start(path)
    try:
        command = [
            sys.executable,
            "-m",
            "nalm",
            "bench",
            "single-module",
            "--units",
            "nmu",
            "--store",
            str(path),
        ]
        second = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        process.kill()
        process.communicate()
    assert second.returncode == 1
    assert "in use by another command" in second.stderr


@pytest.mark.parametrize(
    ("task", "units", "hours"),
    [("grid-world", ["none", "nac"], 2.0), ("programs", ["lstm", "dnc"], 0.87)],
)
def test_slow_networks_are_estimated_by_how_long_their_own_steps_take(task, units, hours):
    work = make_work(make_experiment(task, units, scale="quick", seeds=3), None, 1)
    assert work.estimate(1) == pytest.approx(3600 * hours, rel=0.3)
    assert work.estimate(2) == pytest.approx(work.estimate(1) / 2)


def test_an_operation_that_a_unit_cannot_express_is_refused():
    with pytest.raises(nalm.ArgumentError, match="`op` must be one that nmu can express"):
        make_experiment("single-module", ["nmu"], ["add"])


def test_the_usual_models_are_those_that_can_and_that_a_recipe_is_made_for():
    usual = make_experiment("arithmetic-dataset", None, ["mul"], ["1:2"])
    assert [str(case.model) for case in usual.cases] == ["nau+nmu"]
    solved = make_experiment("single-module", None, ["div"], ["1:2"], recipe="second-order")
    assert {case.model.name for case in solved.cases} == {"npu", "realnpu", "nru", "nmru"}
    named = make_experiment("single-module", ["nalu"], ["div"], ["1:2"], recipe="second-order")
    assert [str(case.model) for case in named.cases] == ["nalu@second-order"]


def test_a_name_of_a_recipe_that_nobody_knows_is_refused():
    with pytest.raises(nalm.ArgumentError, match="`recipe` must be one of"):
        make_experiment("single-module", None, ["div"], recipe="third-order")


def test_a_model_too_large_for_second_order_is_refused_before_any_work():
    with pytest.raises(nalm.ArgumentError, match="at most 4,096 parameters"):
        make_experiment("single-module", ["nau"], inputs=5000, recipe="second-order")


@pytest.mark.parametrize("task", ["lists", "shortest-paths"])
def test_inputs_that_are_no_rows_are_refused_by_second_order_before_any_work(task):
    with pytest.raises(nalm.ArgumentError, match="no row of numbers, but got second-order"):
        make_experiment(task, ["nsr@second-order"], seeds=1)


def test_second_order_runs_are_the_same_in_one_and_two_processes(tmp_path):
    experiment = make_experiment(
        "arithmetic-dataset",
        ["nau+nmu"],
        ["mul"],
        ["1:2"],
        inputs=12,
        seeds=4,
        recipe="second-order",
        hidden=3,
    )
    found = []
    for processes in (1, 2):
        with Store(tmp_path / f"{processes}.sqlite") as store:
            result = do_work(make_work(experiment, store, processes), store, Local(processes))
            found.append({r.id: (r.validation.tobytes(), r.test.tobytes()) for r in store.records()})
        assert result["rows"][0]["success"]["rate"] == 1
    assert found[0] == found[1]


def test_second_order_runs_around_zero_are_judged_by_ideal_weights_in_their_own_precision(tmp_path):
    experiment = make_experiment(
        "single-module", ["nmru", "realnpu"], ["div"], ["0:0.1"], seeds=3, recipe="second-order"
    )
    with Store(tmp_path / "runs.sqlite") as store:
        rows = do_work(make_work(experiment, store, 1), store, Local(1))["rows"]
    assert [row["success"]["rate"] for row in rows] == [1, 1]


def test_a_stack_around_zero_is_refused_before_any_work():
    with pytest.raises(nalm.ArgumentError, match="`ranges` must be ranges with a test range on which"):
        make_experiment("single-module", ["nmu+nru"], ["div"], ["1:2=>-1:1"])


def test_models_that_differ_in_recipe_or_layer_alone_have_rows_of_their_own(tmp_path):
    models = ["nau(clamp=false)+nmu", "nau+nmu(clamp=false)", "nmu", "nmu@arithmetic"]
    wanted = make_experiment("single-module", models, ["mul"], ["1:2"], seeds=1)
    assert [str(case.model) for case in wanted.cases] == models
    assert [case.model.all_options for case in wanted.cases] == [
        {"0.clamp": False},
        {"1.clamp": False},
        {},
        {},
    ]


def test_a_unit_without_ideal_weights_is_refused_around_zero_before_any_work(tmp_path):
    (tmp_path / "mine.py").write_text(WITHOUT_IDEAL)
    with pytest.raises(nalm.ArgumentError, match="around zero, only a single unit with known ideal weights"):
        make_experiment("single-module", [f"{tmp_path / 'mine.py'}:Silent"], ["div"], ["0:1"])


WITHOUT_IDEAL = """\
import nalm


class Silent(nalm.Unit):
    def build(self):
        self.declare("w", (self.out_features, self.in_features), lambda u: u)

    def compute(self, x):
        return x @ self.w.mT
"""


def test_processes_end_with_their_coordinator(tmp_path):
    process = start(tmp_path / "runs.sqlite", start_new_session=True)
    process.kill()
    process.wait()
    process.stderr.close()
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.5)
    pytest.fail("a worker outlived its coordinator")
