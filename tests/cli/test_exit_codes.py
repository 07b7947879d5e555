"""How commands end: codes that mean something, and one sentence about what went wrong."""

import json
import subprocess
import sys

import pytest
from talk import only_line

from nalm.cli import catalogue

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


def run_alone(*arguments):
    """Run a command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "nalm", *arguments], capture_output=True, text=True)


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

    monkeypatch.setattr("nalm.cli.doctor.machine_facts", interrupted)
    code, out, err = run("doctor")
    assert (code, out) == (130, "")
    assert len(err.splitlines()) <= 1


def test_a_process_prints_only_json_on_standard_output():
    done = run_alone("list", "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(json.loads(done.stdout)) == list(catalogue.KINDS)


def test_a_process_with_wrong_usage_ends_with_code_2_and_no_traceback():
    done = run_alone("show", "nmuu")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'nmu'?" in only_line(done.stderr)


def test_a_process_that_cannot_write_ends_with_code_1_and_no_traceback(tmp_path):
    done = run_alone("doctor", "--json", str(tmp_path / "missing" / "result.json"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "result.json" in only_line(done.stderr)
