"""The command line: results on standard output, talk on standard error, exit codes that mean something."""

import json
import subprocess
import sys

import pytest

import nalm
from nalm import catalogue
from nalm.cli import main
from nalm.papers import PAPERS, ledger
from nalm.report import tables
from nalm.tasks import OPERATIONS, RANGES, TASKS, TEST_RANGES
from nalm.units import UNITS

NAMES = {"units": list(UNITS), "tasks": list(TASKS), "ranges": list(RANGES), "papers": list(PAPERS)}
KEYS = {
    "units": {"name", "class", "ops", "recipes", "papers", "summary"},
    "tasks": {"name", "ops", "inputs", "ranges", "models", "summary"},
    "ranges": {"name", "set", "train", "test", "written"},
    "papers": {"key", "authors", "year", "title", "venue"},
}
PAGE = KEYS["units"] | {
    "description",
    "options",
    "published_recipes",
    "arguments",
    "other_recipes",
    "citations",
    "thresholds",
}
FACTS = {
    "nalm", "numerics_version", "python", "torch", "cpu", "cpu_capability", "cores", "compiler", "mode",
    "cache", "cache_writable",
}  # fmt: skip

# Wrong usage, and what the one sentence about it must contain.
WRONG = [
    (["lst"], ["COMMAND", "list, show, doctor", "'lst'", "Did you mean 'list'?"]),
    (["shw", "nmu"], ["'shw'", "Did you mean 'show'?"]),
    (["show", "nmuu"], ["unit", "realnpu", "'nmuu'", "Did you mean 'nmu'?"]),
    (["show", "RealNPU"], ["'RealNPU'", "Did you mean 'realnpu'?"]),
    (["list", "unts"], ["kind", "units, tasks, ranges, papers", "'unts'", "Did you mean 'units'?"]),
    (["list", "--jsn", "-"], ["--jsn", "--json"]),
    (["--versio"], ["--versio", "--version"]),
    (["show"], ["Missing argument", "UNIT"]),
    (["list", "--json"], ["--json", "requires an argument"]),
    (["doctor", "more"], ["unexpected", "more"]),
]


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process: exit code, standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "200")

    def command(*arguments):
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        return end.value.code, *capsys.readouterr()

    return command


def run_alone(*arguments):
    """Run a command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "nalm", *arguments], capture_output=True, text=True)


def only_line(text):
    """The one line that this text must be."""
    assert text.endswith("\n")
    (line,) = text.splitlines()
    return line


# -- list ----------------------------------------------------------------------------------------


def test_list_shows_everything(run):
    code, out, err = run("list")
    assert (code, err) == (0, "")
    for name in (name for names in NAMES.values() for name in names):
        assert name in out


@pytest.mark.parametrize("kind", NAMES)
def test_list_of_a_kind_shows_all_of_it_and_nothing_else(run, kind):
    code, out, err = run("list", kind)
    assert (code, err) == (0, "")
    assert [other for other in NAMES if out.startswith(other)] == [kind]
    assert all(name in out for name in NAMES[kind])


@pytest.fixture
def on_terminal(run, monkeypatch):
    """Run a command on a terminal of so many columns: the lines that it shows."""

    def command(columns, *arguments):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        code, out, _ = run(*arguments)
        assert code == 0
        return out.splitlines()

    return command


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_names_and_ids_are_never_cut_on_a_terminal(on_terminal, columns):
    lines = on_terminal(columns, "list")
    words = " ".join(lines).split()
    assert all(name in words for kind in ("units", "tasks", "ranges", "papers") for name in NAMES[kind])
    lines = on_terminal(columns, "reproduce", "--list")
    words = " ".join(lines).split()
    assert all(entry["id"] in words for entry in ledger.listing())
    assert not [line for line in lines if "…" in line or len(line) > columns]


ROW = {
    "model": "./mine.py:MyOwnMultiplicationUnit",
    "op": "mul",
    "inputs": 2,
    "range": "-0.2:-0.1=>-6:-2|2:6",
    "success": {"rate": 0.52, "low": 0.34, "high": 0.7},
    "solved_at": {"mean": 24000.0, "low": 23000.0, "high": 25000.0},
    "sparsity": {"mean": 1e-7, "low": 1e-8, "high": 1e-6},
    "outcomes": {"solved": 13, "not_extrapolating": 5, "not_converged": 4, "diverged": 3},
    "published": None,
}


@pytest.mark.parametrize("columns", [80, 100, 120, None])
def test_a_benchmark_shows_unit_operation_range_and_intervals_at_any_width(columns):
    text = tables.bench_table({"task": "single-module", "rows": [ROW]}).text(columns)
    shown = (
        ROW["model"],
        ROW["range"],
        "0.52 [0.34, 0.70]",
        "24000 [23000, 25000]",
        "1.0e-07 [1.0e-08, 1.0e-06]",
    )
    assert all(each in text for each in (*shown, "mul", "3 diverged"))
    if columns:
        assert max(map(len, text.splitlines())) <= columns


def test_list_json_has_every_kind(run):
    code, out, err = run("list", "--json", "-")
    assert (code, err) == (0, "")
    assert list(json.loads(out)) == list(NAMES)


@pytest.mark.parametrize("kind", NAMES)
def test_list_json_of_a_kind_has_its_entries_and_keys(run, kind):
    data = json.loads(run("list", kind, "--json", "-")[1])
    assert list(data) == [kind]
    assert all(set(row) == KEYS[kind] for row in data[kind])
    assert [row["key" if kind == "papers" else "name"] for row in data[kind]] == NAMES[kind]


def test_ranges_are_pairs_of_numbers_in_json(run):
    (row,) = (r for r in json.loads(run("list", "ranges", "--json", "-")[1])["ranges"] if r["name"] == "-2:2")
    assert (row["train"], row["test"]) == ([[-2, 2]], [[-6, -2], [2, 6]])
    assert (row["set"], row["written"]) == ("uniform", "-2:2=>-6:-2|2:6")


# -- show ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
def test_show_tells_name_operations_recipes_and_papers(run, unit):
    code, out, err = run("show", unit)
    assert (code, err) == (0, "")
    assert f"nalm.{UNITS[unit].__name__}" in out
    assert "Operations: " + ", ".join(UNITS[unit].ops) in out
    assert all(f"Published recipe for {op}: Recipe(" in out for op in UNITS[unit].ops)
    assert all(f"Paper {key}: " in out for key in UNITS[unit].papers)


@pytest.mark.parametrize("unit", UNITS)
def test_show_json_has_the_whole_page(run, unit):
    code, out, err = run("show", unit, "--json", "-")
    page = json.loads(out)
    assert (code, err) == (0, "")
    assert set(page) == PAGE
    assert page["name"] == unit
    assert set(page["published_recipes"]) == set(page["ops"])
    assert set(page["thresholds"]) == set(page["ops"]) & set(OPERATIONS)
    assert [paper["key"] for paper in page["citations"]] == page["papers"]


@pytest.mark.parametrize(
    ("unit", "options"),
    [
        ("nau", {"clamp": True, "penalised": True}),
        ("nalu", {"shared": True, "epsilon": 1e-7}),
        ("realnpu", {"relevance": True, "gate_gradient": "clip", "epsilon": 2**-23}),
    ],
)
def test_show_json_gives_options_with_their_defaults(run, unit, options):
    assert json.loads(run("show", unit, "--json", "-")[1])["options"] == options


def test_thresholds_that_do_not_exist_are_null(run):
    thresholds = json.loads(run("show", "realnpu", "--json", "-")[1])["thresholds"]
    assert all(set(by_range) == set(TEST_RANGES) for by_range in thresholds.values())
    assert all(t is None or t > 0 for by_range in thresholds.values() for t in by_range.values())


# -- doctor, version, help -----------------------------------------------------------------------


def test_doctor_prints_every_fact(run):
    code, out, _ = run("doctor")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(catalogue.machine())


def test_doctor_json_has_the_facts(run):
    code, out, err = run("doctor", "--json", "-")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert set(facts) == FACTS
    assert facts["nalm"] == nalm.__version__
    assert facts["mode"] == ("compiled" if facts["compiler"] else "eager")


def test_doctor_talks_of_what_is_missing_on_standard_error(run, monkeypatch):
    poor = {**catalogue.machine(), "compiler": None, "mode": "eager", "cache_writable": False}
    monkeypatch.setattr(catalogue, "machine", lambda: poor)
    code, out, err = run("doctor")
    assert code == 0
    assert len(out.splitlines()) == len(poor)
    assert "No C++ compiler" in err
    assert "cannot be written" in err


def test_version_is_printed_alone(run):
    assert run("--version") == (0, nalm.__version__ + "\n", "")


def test_no_arguments_print_the_help(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert out.startswith("Usage:")
    assert all(command in out for command in ("list", "show", "doctor", "--version"))


@pytest.mark.parametrize("command", ["list", "show", "doctor"])
def test_every_command_has_help(run, command):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert "--json FILE" in out


# -- JSON in a file ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("list",), ("list", "units"), ("show", "nalu"), ("doctor",)])
def test_json_file_has_the_same_data_and_the_table_still_appears(run, tmp_path, command):
    file = tmp_path / "result.json"
    with_file = run(*command, "--json", str(file))
    assert with_file == run(*command)
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(run(*command, "--json", "-")[1])


def test_json_file_in_a_missing_folder_is_a_fault_in_one_sentence(run, tmp_path):
    file = tmp_path / "missing" / "result.json"
    code, out, err = run("list", "--json", str(file))
    assert (code, out) == (1, "")
    assert str(file) in only_line(err)


# -- wrong usage ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=lambda value: " ".join(value))
def test_wrong_usage_is_code_2_and_one_sentence_with_the_nearest_choice(run, arguments, words):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert all(word in only_line(err) for word in words)


def test_nothing_is_guessed_when_nothing_is_near(run):
    code, _, err = run("show", "qqqq")
    assert code == 2
    assert "'qqqq'" in only_line(err)
    assert "Did you mean" not in err


def test_a_line_break_in_an_argument_stays_on_one_line(run):
    code, _, err = run("show", "n\nmu")
    assert code == 2
    only_line(err)


def test_an_unknown_command_with_an_apostrophe_is_quoted_whole(run):
    code, _, err = run("list's")
    assert code == 2
    assert '"list\'s"' in only_line(err)


EXITS = """
import sys
import nalm

class Mine(nalm.NMU):
    @classmethod
    def make_recipe(cls, op, name, inputs):
        sys.exit(3)
"""


def test_a_unit_that_exits_anywhere_is_told_with_file_and_line(run, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(EXITS)
    code, out, err = run("bench", "single-module", "--units", f"{file}:Mine", "--dry-run")
    assert (code, out) == (2, "")
    assert only_line(err) == f"{file}:8 ended the command: it must not call sys.exit."


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        (["bench", "single-module", "--units", "nmu", "--seeds", "1000000000"], "111,111 for 9 rows"),
        (["reproduce", "mistry2023:fig3.4", "--seeds", "1000000000"], "1,000,000"),
        (["reproduce", "mistry2023:fig3.4", "--seeds", "1000000"], "15,873 for 63 rows"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_more_runs_than_a_command_can_plan_are_refused(run, arguments, most):
    code, out, err = run(*arguments, "--dry-run")
    assert (code, out) == (2, "")
    assert f"Argument `seeds` must be at most {most}" in only_line(err)


def test_interruption_is_code_130(run, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "machine", interrupted)
    code, out, err = run("doctor")
    assert (code, out) == (130, "")
    assert len(err.splitlines()) <= 1


# -- in a process of its own ---------------------------------------------------------------------


def test_a_process_prints_only_json_on_standard_output():
    done = run_alone("list", "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(json.loads(done.stdout)) == list(NAMES)


def test_a_process_with_wrong_usage_ends_with_code_2_and_no_traceback():
    done = run_alone("show", "nmuu")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'nmu'?" in only_line(done.stderr)


def test_a_process_that_cannot_write_ends_with_code_1_and_no_traceback(tmp_path):
    done = run_alone("doctor", "--json", str(tmp_path / "missing" / "result.json"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "result.json" in only_line(done.stderr)


# -- report --------------------------------------------------------------------------------------


def test_report_of_a_store_that_is_not_there_writes_a_page_and_says_what_to_do(run, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = run("report", "--store", str(tmp_path / "none.sqlite"), "-o", str(page))
    assert code == 0
    assert "none.sqlite does not exist" in err
    assert str(page) in out
    assert "Nothing to show yet" in page.read_text()


@pytest.mark.parametrize(("output", "code"), [(".", 2), ("-", 2), ("missing/report.html", 1)])
def test_report_that_cannot_be_written_is_one_sentence(run, tmp_path, monkeypatch, output, code):
    monkeypatch.chdir(tmp_path)
    ended, out, err = run("report", "-o", output)
    assert (ended, out) == (code, "")
    assert err.count("\n") == 1


def test_second_order_runs_say_what_they_found_and_took(run, tmp_path):
    store = str(tmp_path / "runs.sqlite")
    arguments = ("--units", "nru", "--op", "div", "--ranges", "-2:2", "--inputs", "4", "--seeds", "2")
    code, output, _ = run(
        "bench", "single-module", *arguments, "--recipe", "second-order", "--jobs", "1", "--store", store
    )
    assert code == 0
    assert "nru@second-order" in output
    assert "Second-order runs: 2 exact, 0 approximate, 0 failed; on average" in output


def test_a_model_too_large_for_second_order_is_wrong_usage(run):
    code, _, talk = run("bench", "single-module", "--units", "nau@second-order", "--inputs", "5000")
    assert code == 2
    assert "at most 4,096 parameters" in talk
    assert len(talk.strip().splitlines()) == 1
