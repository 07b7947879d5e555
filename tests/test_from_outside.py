"""Another package adds a unit, a task, a part of a recipe and an entry of the ledger, without a line in nalm.

The package is the folder `from_outside`, as pip would install it. Every command runs in a process of its own.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nalm
from nalm.experiment.describe import Filter, described_runs
from nalm.experiment.store import Store
from nalm.recipes.plain import in_words, with_defaults

PACKAGE = Path(__file__).parent / "from_outside"
OURS = Path(nalm.__file__).parents[1]
STEPS = 200
BENCH = ("bench", "twice", "--units", "blend", "--op", "add", "--seeds", "2", "--iterations", str(STEPS))

pytestmark = pytest.mark.xdist_group("bench")


class Place:
    """A folder where commands run with other packages installed."""

    def __init__(self, folder, *packages):
        self.folder = folder
        paths = os.pathsep.join(map(str, (*packages, OURS)))
        self.environment = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "200"}

    def run(self, *arguments):
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )

    def nalm(self, *arguments):
        """The standard output of a command that must succeed."""
        done = self.run("-m", "nalm", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.nalm(*arguments, "--json", "-"))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """Where their package is installed."""
    return Place(tmp_path_factory.mktemp("theirs"), PACKAGE)


@pytest.fixture(scope="module")
def benched(theirs):
    """The benchmark of their unit on their task."""
    return theirs.json(*BENCH, "--jobs", "1")


@pytest.fixture(scope="module")
def store(benched, theirs):
    """The store that the benchmark made, whose package the present process cannot import."""
    assert "their_package" not in sys.modules
    return theirs.folder / "nalm-runs.sqlite"


# -- a unit and a task ---------------------------------------------------------------------------


def test_they_are_listed_after_ours(theirs):
    data = theirs.json("list")
    (unit, task) = data["units"][-1], data["tasks"][-1]
    assert (unit["name"], unit["class"], unit["ops"]) == ("blend", "Blend", ["add", "sub"])
    assert (task["name"], task["inputs"], task["ranges"]) == ("twice", 3, ["1:2"])
    assert task["summary"] == "y = x1 op 2 x2 with `inputs` inputs."


def test_a_name_of_ours_stays_ours(theirs):
    """Their package offers a `single-module` too."""
    (found,) = (task for task in theirs.json("list", "tasks")["tasks"] if task["name"] == "single-module")
    assert found["ops"] == ["add", "sub", "mul", "div"]


def test_their_unit_is_benchmarked_on_their_task(benched):
    (row,) = benched["rows"]
    assert (benched["task"], benched["computed_runs"]) == ("twice", 2)
    assert (row["model"], row["op"], row["range"], row["inputs"], row["runs"]) == (
        "blend",
        "add",
        "1:2",
        3,
        2,
    )
    assert row["threshold"] == 1e-5


def test_what_is_stored_is_not_computed_again(theirs, benched):
    assert theirs.json(*BENCH)["computed_runs"] == 0


def test_stored_runs_are_told(theirs, benched):
    runs = theirs.json("runs")["runs"]
    assert [(run["task"], run["model"], run["outcome"]) for run in runs] == [
        ("twice", "blend", "not_converged")
    ] * 2
    assert list(runs[0]["weights"]) == ["W"]
    assert runs[0]["variant"] == [f"iterations={STEPS}", "schedules scaled"]


def test_the_report_shows_them(theirs, benched):
    assert "Report of 2 runs" in theirs.nalm("report", "-o", "page.html")
    page = (theirs.folder / "page.html").read_text(encoding="utf-8")
    assert "twice, 3 inputs, uniform ranges" in page
    assert "y = x1 op 2 x2 with 3 inputs." in page
    assert "schedule=Pulse(every=1.6)" in page


def test_runs_of_a_task_whose_code_changed_are_others(theirs, benched, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(PACKAGE, changed)
    file = changed / "their_package" / "task.py"
    file.write_text(file.read_text(encoding="utf-8").replace("+ 2 *", "+ 3 *"), encoding="utf-8")
    plan = Place(theirs.folder, changed).json(*BENCH, "--dry-run")
    assert (plan["stored_runs"], plan["computed_runs"]) == (0, 2)


# -- a part of a recipe --------------------------------------------------------------------------


def test_a_run_is_named_by_the_part_without_its_defaults(store):
    with Store(store, read_only=True) as opened:
        recipe = next(opened.records()).identity["recipe"]
    (penalty,) = recipe["penalties"]
    assert penalty["schedule"] == {"kind": "Pulse", "every": 1.6}


def test_a_stored_part_is_told_where_it_cannot_be_imported(store):
    with Store(store, read_only=True) as opened:
        recipe = next(opened.records()).identity["recipe"]
    said = in_words(with_defaults(recipe))
    assert "UnitPenalty(strength=0.001, schedule=Pulse(every=1.6))" in said
    assert "optimiser=Adam(learning_rate=0.001" in said


def test_a_part_named_like_one_of_ours_is_told_from_it(theirs):
    """Their package has a `Ramp` too."""
    code = (
        "from nalm import recipes; from nalm.recipes.plain import to_plain; from their_package import recipe;"
        "print(to_plain(recipe.Ramp(length=5)), to_plain(recipes.Ramp(1, 2))['kind'])"
    )
    said = theirs.run("-c", code).stdout.strip()
    assert said == "{'kind': 'their_package.recipe.Ramp', 'length': 5} Ramp"


# -- an entry of the ledger ----------------------------------------------------------------------


def test_their_table_is_listed_after_ours(theirs):
    last = theirs.json("reproduce", "--list")["entries"][-1]
    assert (last["id"], last["title"]) == ("their2025:table1", "Success on sums that count twice")


def test_their_table_is_reproduced_next_to_their_numbers(theirs):
    result = theirs.json("reproduce", "their2025:table1", "--jobs", "1")
    found = {(cell["row"], cell["column"]): (cell["paper"], cell["verdict"]) for cell in result["cells"]}
    assert found == {("Blend", "add"): (0.0, "agrees"), ("Blend", "sub"): (None, "unpublished")}


def test_a_wrong_id_of_theirs_brings_the_nearest(theirs):
    done = theirs.run("-m", "nalm", "reproduce", "their2025:tabel1")
    assert done.returncode == 2
    assert "Did you mean 'their2025:table1'?" in done.stderr


# -- where the package is not, or not whole ------------------------------------------------------


def test_a_store_is_read_where_the_package_is_not(store):
    with pytest.warns(UserWarning, match="Runs of the task 'twice' are not judged"):
        runs = described_runs(store, Filter(op=["add"]))
    assert [(run["labels"]["range"], run["outcome"]) for run in runs][:2] == [("1:2", None)] * 2
    assert list(runs[0]["weights"]) == ["W"]


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Where their package is installed and does not import."""
    folder = tmp_path_factory.mktemp("broken")
    shutil.copytree(PACKAGE, folder, dirs_exist_ok=True)
    (folder / "their_package" / "__init__.py").write_text("import no_such_module\n")
    return Place(folder, folder)


COMMANDS = {
    "list": ("list",),
    "show": ("show", "nmu"),
    "bench": ("bench", "single-module", "--units", "nmu", "--dry-run"),
    "reproduce --list": ("reproduce", "--list"),
    "reproduce": ("reproduce", "mistry2023:fig3.4", "--dry-run"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_broken_package_breaks_no_command_that_does_not_need_it(broken, command):
    assert "no_such_module" not in broken.nalm(*command)


NEED = {
    "unit": ("show", "blend"),
    "task": ("bench", "twice", "--units", "nau"),
    "paper": ("reproduce", "their2025:table1"),
}


@pytest.mark.parametrize("kind", NEED)
def test_a_command_that_needs_it_names_the_package(broken, kind):
    done = broken.run("-m", "nalm", *NEED[kind])
    assert done.returncode == 2
    assert f"`{kind}` must be a {kind} that its package can import" in done.stderr
    assert "No module named 'no_such_module'" in done.stderr
    assert "of the package their-package" in done.stderr


def test_a_list_says_what_is_left_out_and_why(broken):
    done = broken.run("-m", "nalm", "list")
    assert re.findall(r"^'([\w-]+)' is left out", done.stderr, re.MULTILINE) == ["blend", "twice"]


def test_nothing_of_other_packages_is_looked_for_before_it_is_needed(theirs):
    code = (
        "import torch, sys, importlib.metadata; importlib.metadata.entry_points = None; import nalm;"
        "from nalm.models import ModelSpec; from nalm.tasks.registry import task_kind;"
        "from nalm.experiment.bench import make_experiment;"
        "make_experiment('single-module', ['nmu'], ['mul'], ['1:2']); print('their_package' in sys.modules)"
    )
    assert theirs.run("-c", code).stdout.strip() == "False"
