"""`nalm bench` with all runs stored: the remembered answer where it holds, and never where it does not."""

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from made_runs import fill, made_record

from nalm.experiment import bench as bench_module
from nalm.experiment.bench import make_experiment
from nalm.experiment.local import Local
from nalm.experiment.store import Store, StoreError

UNITS, OPS, RANGES, STEPS = ["nmu", "nau"], ["mul", "add"], ["1:2", "-2:2"], 20_000
SEEDS = 4
"""So many are stored; the usual command asks for one fewer."""
ASKED = (
    *("bench", "single-module", "--units", "nmu,nau", "--op", "mul,add", "--ranges", "1:2,-2:2"),
    *("--iterations", str(STEPS)),
)
WITHOUT = ("torch", "scipy", "sympy", "pandas")
# The command in a process in which what takes long to import cannot be imported.
WITHOUT_THEM = f"""
import sys
from nalm.__main__ import main

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {WITHOUT}:
            raise ImportError(f"{{name}} must not be imported")

sys.meta_path.insert(0, Refusing())
main()
"""


def experiment(units=UNITS, ops=OPS):
    return make_experiment("single-module", units, ops, RANGES, seeds=SEEDS, iterations=STEPS)


@pytest.fixture
def path(tmp_path):
    fill(tmp_path / "runs.sqlite", experiment(), solved=lambda run: run.seed > 0)
    return tmp_path / "runs.sqlite"


@pytest.fixture
def worked(monkeypatch):
    """A list that grows whenever a benchmark is evaluated, not remembered."""
    done = []
    make_work = bench_module.make_work
    monkeypatch.setattr(bench_module, "make_work", lambda *a, **k: done.append(1) or make_work(*a, **k))
    return done


@pytest.fixture
def trained(monkeypatch):
    """Training that takes no time and solves nothing; the seeds that were trained."""
    seeds = []

    def compute(self, chunks, on_progress, checkpoints=None):
        for chunk in chunks:
            seeds.extend(run.seed for run in chunk.runs)
            yield [made_record(run, solved=False) for run in chunk.runs]

    monkeypatch.setattr(Local, "compute", compute)
    return seeds


@pytest.fixture
def ask(run, path, worked):
    """Run the command with further options: what it printed, and whether it was remembered."""

    def command(*options, seeds=SEEDS - 1, asked=ASKED):
        before = len(worked)
        code, out, err = run(*asked, "--seeds", str(seeds), "--store", str(path), *options)
        assert code == 0, err
        return out, len(worked) == before

    return command


def change(path, statement, *values):
    """What damage on the disk may do, done by hand."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def data(output):
    """The JSON but for the time that it took."""
    found = json.loads(output)
    assert found.pop("seconds") >= 0
    return found


# -- where it holds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--published",), ("--threshold", "0.1")])
def test_a_stored_benchmark_is_answered_without_torch_in_the_same_bytes(ask, path, tmp_path, options):
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    table, is_remembered = ask("--json", str(ours), *options)
    assert not is_remembered
    asked = (*ASKED, "--seeds", str(SEEDS - 1), "--store", str(path), "--json", str(theirs), *options)
    done = subprocess.run([sys.executable, "-c", WITHOUT_THEM, *asked], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, table, "")
    assert without_time(theirs) == without_time(ours)


def without_time(file):
    return re.sub(r'\n  "seconds": .*', "", file.read_text())


def test_the_json_is_that_of_a_benchmark_that_had_nothing_to_compute(ask):
    first, second = (ask("--json", "-") for _ in range(2))
    assert (first[1], second[1]) == (False, True)
    assert data(first[0]) == data(second[0])
    assert data(second[0])["stored_runs"] == 12


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_a_terminal_of_any_width_shows_the_same(on_terminal, path, columns):
    command = (*ASKED, "--seeds", "2", "--store", str(path))
    assert on_terminal(columns, *command) == on_terminal(columns, *command)


def test_what_was_just_computed_is_remembered_as_stored(ask, path, trained):
    change(path, "DELETE FROM runs WHERE seed = 1")
    computed, again = data(ask("--json", "-")[0]), ask("--json", "-")
    assert again[1]
    assert trained
    counts = {"computed_runs": 0, "stored_runs": 12, "run_steps_per_second": None}
    assert data(again[0]) == {**computed, **counts}


def test_runs_of_others_do_not_matter(ask, path):
    expected, _ = ask()
    with Store(path) as store:
        store.add([made_record(next(experiment(["snmu"], ["mul"]).runs()), solved=True)])
    assert ask() == (expected, True)


# -- where it does not -------------------------------------------------------------------------------


OTHERS = {
    "seeds": ("--seeds", str(SEEDS)),
    "units": ("--units", "nau,nmu"),
    "operations": ("--op", "mul"),
    "ranges": ("--ranges", "1:2"),
    "threshold": ("--threshold", "1e-30"),
    "published": ("--published",),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_question_has_its_own_answer(ask, other):
    options = ("--units", "nmu", "--op", "mul") if other == "operations" else OTHERS[other]
    expected, _ = ask("--json", "-")
    found, is_remembered = ask("--json", "-", *options)
    assert not is_remembered
    assert data(found) != data(expected)
    assert ask("--json", "-")[1]


def test_runs_computed_again_are_evaluated_again(ask, trained):
    solved, _ = ask("--json", "-")
    fresh, is_remembered = ask("--json", "-", "--fresh")
    assert not is_remembered
    assert len(trained) == 12
    assert data(solved)["rows"] != data(fresh)["rows"]
    assert data(ask("--json", "-")[0])["rows"] == data(fresh)["rows"]


def test_a_run_that_was_stored_anew_is_read(ask, path):
    before, _ = ask("--json", "-")
    with Store(path) as store:
        store.add([made_record(run, solved=False) for run in experiment().runs() if run.seed == 2])
    after, is_remembered = ask("--json", "-")
    assert not is_remembered
    assert data(before)["rows"] != data(after)["rows"]


def test_a_run_that_is_gone_is_computed(ask, path, trained):
    ask()
    change(path, "DELETE FROM runs WHERE seed = 1")
    assert not ask()[1]
    assert trained == [1, 1, 1, 1]


def test_a_damaged_run_is_named_as_without_an_answer_and_repaired(run, ask, path, worked, trained):
    ask()
    change(path, "UPDATE runs SET test = zeroblob(length(test)) WHERE seed = 1")
    command = (*ASKED, "--seeds", str(SEEDS - 1), "--store", str(path))
    before = len(worked)
    told = run(*command)
    assert len(worked) == before
    assert told[:2] == (1, "")
    assert "seed 1) is damaged: curve." in told[2]
    change(path, "DROP TABLE answers")
    assert run(*command) == told
    assert run("runs", "--repair", "--store", str(path))[0] == 0
    assert not ask()[1]
    assert trained == [1, 1, 1, 1]


def test_repair_leaves_no_answer(run, ask, path):
    ask()
    change(path, f"UPDATE runs SET test = zeroblob(length(test)) WHERE seed = {SEEDS - 1}")  # not asked for
    assert run("runs", "--repair", "--store", str(path))[0] == 0
    assert not ask()[1]


def test_a_damaged_answer_is_made_again(ask, path):
    expected, _ = ask()
    change(path, "UPDATE answers SET answer = substr(answer, 1, 90) || x'0000' || substr(answer, 93)")
    assert ask() == (expected, False)
    assert ask() == (expected, True)


@pytest.mark.parametrize("name", ["__version__", "NUMERICS_VERSION"])
def test_another_version_answers_for_itself(ask, monkeypatch, name):
    ask()
    monkeypatch.setattr(f"nalm.experiment.request.{name}", "other")
    assert not ask()[1]
    assert ask()[1]


MINE = "import nalm\n\nclass Mine(nalm.NMU):\n    name = 'mine'\n"


def test_a_users_own_unit_is_evaluated_every_time(ask, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    fill(path, experiment(["./mine.py:Mine", "nmu"], ["mul"]))
    options = ("--units", "./mine.py:Mine,nmu", "--op", "mul")
    assert [ask(*options)[1] for _ in range(3)] == [False, False, False]


def test_a_file_of_the_tasks_name_is_a_file(run, ask, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ask()
    Path("single-module").write_text("a,b\n1,2\n2,4\n3,6\n")
    code, _, talk = run(*ASKED, "--seeds", str(SEEDS - 1), "--store", str(path))
    assert code == 2
    assert "Argument `op` must be left out for a file of numbers" in talk


# -- what else a command does ------------------------------------------------------------------------


def test_an_interrupted_benchmark_is_not_remembered(run, ask, path, monkeypatch, trained):
    change(path, "DELETE FROM runs WHERE seed = 1")
    compute = Local.compute

    def interrupted(*arguments):
        yield next(compute(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(Local, "compute", interrupted)
    assert run(*ASKED, "--seeds", str(SEEDS - 1), "--store", str(path))[0] == 130
    monkeypatch.setattr(Local, "compute", compute)
    assert not ask()[1]
    assert trained == [1, 1, 1, 1]
    assert ask()[1]


def test_a_plan_is_a_plan(run, ask, path):
    ask()
    code, out, _ = run(*ASKED, "--seeds", str(SEEDS - 1), "--store", str(path), "--dry-run")
    assert (code, out.splitlines()[0]) == (0, "12 runs, 12 of them stored; 0 to compute in 0 chunks")


def test_a_second_command_is_refused_before_anything_is_imported(run, ask, path, worked):
    ask()
    before = len(worked)
    with Store(path):
        told = run(*ASKED, "--seeds", str(SEEDS - 1), "--store", str(path))
    sentence = f"{path} is in use by another command; wait for it or use another --store.\n"
    assert told == (1, "", sentence)
    assert len(worked) == before


@pytest.mark.parametrize("wrong", [("--jobs", "0"), ("--target", "y"), ("--hidden", "0")])
def test_wrong_arguments_stay_wrong(run, ask, path, wrong):
    ask()
    code, out, talk = run(*ASKED, "--seeds", str(SEEDS - 1), "--store", str(path), *wrong)
    assert (code, out) == (2, "")
    assert f"Argument `{wrong[0][2:]}` must be" in talk


def test_an_answer_that_cannot_be_stored_is_printed_all_the_same(ask, monkeypatch):
    def full(*arguments):
        raise StoreError("the disk is full")

    monkeypatch.setattr(Store, "keep_answer", full)
    first, second = ask(), ask()
    assert first == second
    assert not first[1]
    assert "nmu" in first[0]
