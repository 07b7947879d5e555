"""An interruption at any moment: one sentence, exit code 130, no traceback, from children neither."""

import os
import signal
import subprocess
import sys

import pytest

from nalm import interrupts

# Interrupts itself whenever one of some modules is about to be imported, so that the moments are exact.
INTERRUPTED_AT = """
import os, signal, sys
from nalm.__main__ import main

moments, *sys.argv[1:] = sys.argv[1:]

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name in moments.split(","):
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
main()
"""
# Interrupts itself, and again while it cleans up, when it has opened its store.
TWICE = """
import os, signal, sys
from nalm.__main__ import main

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)

import nalm.experiment.bench as bench
bench.make_work = interrupt
bench.Store.close = interrupt
main()
"""
# An interruption that comes in a callback, where Python can only print it.
IN_A_CALLBACK = """
import os, signal, time, weakref
from nalm.__main__ import main
from nalm.cli import doctor

class Thing: ...

def facts():
    thing = Thing()
    seen = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))
    del thing
    time.sleep(60)

doctor.machine_facts = facts
main()
"""
# An interruption that what is being imported keeps to itself, as extension modules may.
SWALLOWED = """
import os, signal
from nalm import interrupts

interrupts.end_at_once()
interrupts.raise_once()
with interrupts.importing():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        pass
print("went on")
"""
AT_THE_END = """
import atexit, os, signal, sys
from nalm.__main__ import main

atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
main()
"""
# Interrupts itself in a search, which keeps nothing.
IN_A_SEARCH = """
import os, signal
from nalm.__main__ import main
from nalm.discover import fit_file

fit_file.fit_file = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)
main()
"""
BENCH = ("bench", "single-module", "--units", "nmu", "--ranges", "1:2", "--seeds", "2", "--jobs", "2")


def run(code, *arguments, cwd=None):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "moment",
    ["nalm.cli", "typer", "torch", "torch._C", "torch.nn", "nalm.experiment.bench", "nalm.experiment.local"],
)
def test_while_something_is_imported(moment, tmp_path):
    code, out, err = run(INTERRUPTED_AT, moment, *BENCH, "--dry-run", cwd=tmp_path)
    assert (code, out, err) == (interrupts.CODE, "", interrupts.SENTENCE + "\n")


def test_while_something_is_imported_that_would_swallow_it():
    assert run(SWALLOWED) == (interrupts.CODE, "", interrupts.SENTENCE + "\n")


def test_in_a_file_of_the_users_the_sentence_names_it(tmp_path):
    interrupt = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "mine.py").write_text(interrupt)
    units = ("--units", "./mine.py:Mine")
    code, _, err = run(INTERRUPTED_AT, "", "bench", "single-module", *units, cwd=tmp_path)
    assert code == interrupts.CODE
    assert err.splitlines() == [interrupts.SENTENCE.replace("ed.", "ed while importing mine.py.", 1)]


def test_again_while_it_cleans_up(tmp_path):
    code, out, err = run(TWICE, *BENCH, cwd=tmp_path)
    assert (code, out, err) == (interrupts.CODE, "", interrupts.SENTENCE + "\n")


def test_in_a_callback_where_it_cannot_be_raised():
    code, out, err = run(IN_A_CALLBACK, "doctor")
    assert (code, out, err) == (interrupts.CODE, "", interrupts.SENTENCE + "\n")


def test_in_a_command_that_keeps_nothing_no_resuming_is_promised():
    code, out, err = run(IN_A_SEARCH, "fit", "data.csv", "--target", "y")
    said = interrupts.NOTHING_KEPT.replace("ed.", "ed while fitting data.csv.", 1)
    assert (code, out, err) == (interrupts.CODE, "", said + "\n")


def test_after_the_work_it_changes_nothing():
    code, out, err = run(AT_THE_END, "--version")
    assert (code, err) == (0, "")
    assert out


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_terminal_that_interrupts_all_processes_of_a_benchmark(tmp_path, times):
    arguments = [sys.executable, "-m", "nalm", *BENCH]
    with subprocess.Popen(
        arguments,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as command:
        assert command.stderr is not None
        said = command.stderr.readline()  # now processes are started, which import torch for seconds
        assert "2 runs to compute" in said
        for _ in range(times):
            os.killpg(command.pid, signal.SIGINT)
        out, err = command.communicate()
    assert (command.returncode, out, err) == (interrupts.CODE, "", interrupts.SENTENCE + "\n")


def test_a_process_that_was_started_in_between_is_not_interrupted():
    sleeper = "import time; print('ready', flush=True); time.sleep(60)"
    with interrupts.held():
        child = subprocess.Popen([sys.executable, "-c", sleeper], stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        assert child.stdout.readline()
        child.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.5)
        child.kill()


TAKEN_BY_A_THREAD = """
import os, signal, threading, time
from nalm import interrupts

interrupts.raise_once()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
try:
    with interrupts.held():
        os.kill(os.getpid(), signal.SIGINT)  # the thread takes it, since the main one does not
        time.sleep(0.2)
        print("held")
    time.sleep(10)
except KeyboardInterrupt:
    print("then raised")
"""


def test_an_interruption_that_another_thread_takes_is_held_too():
    done = subprocess.run(
        [sys.executable, "-c", TAKEN_BY_A_THREAD],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert done.stdout.splitlines() == ["held", "then raised"], done.stderr
