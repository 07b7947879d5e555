"""A Dask cluster: a real scheduler and two worker processes on this machine, and what may happen to them."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from nalm.cli import main
from nalm.errors import ArgumentError, NalmError
from nalm.experiment import cluster as module
from nalm.experiment.bench import do_work, make_experiment, make_work
from nalm.experiment.cluster import Cluster, ClusterError, check_facts, facts
from nalm.experiment.local import Local
from nalm.experiment.store import Store

pytest.importorskip("distributed", reason="Dask is not installed")
pytestmark = pytest.mark.xdist_group("cluster")

NO_NALM = "import sys; sys.modules['nalm'] = sys.modules['torch'] = None; "
OTHER_VERSION = "import nalm._version as v; v.NUMERICS_VERSION = 99; "


class Machines:
    """A scheduler and workers, each a process; all of them end with the test, or by themselves."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.processes = []
        port = self.address.rpartition(":")[2]
        self.scheduler = self.start("scheduler", "--port", port, "--idle-timeout", "300s", before=NO_NALM)
        self.workers = []

    def worker(self, before=""):
        made = self.start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--death-timeout", "60", before=before
        )
        self.workers.append(made)
        return made

    def start(self, kind, *arguments, before=""):
        code = f"{before}from distributed.cli.dask_{kind} import main; main()"
        command = [sys.executable, "-c", code, *arguments, "--host", "127.0.0.1", "--no-dashboard"]
        with (self.folder / f"{kind}-{len(self.processes)}.log").open("w") as log:
            made = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)
        self.processes.append(made)
        return made

    def kill(self, process):
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


@contextlib.contextmanager
def running(folder, workers=2):
    machines = Machines(folder)
    try:
        for _ in range(workers):
            machines.worker()
        yield machines
    finally:
        machines.end()


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def connected(machines):
    with Cluster(machines.address) as cluster:
        cluster._client.wait_for_workers(2, timeout=60)
        yield cluster


def small(models=("nmu", "nau"), **options):
    given = {"ranges": ["1:2"], "seeds": 2, "iterations": 2000, **options}
    return make_experiment(
        "single-module", list(models), ["add", "mul"] if len(models) > 1 else None, **given
    )


def done(path, experiment, workforce, tell=lambda progress: None):
    with Store(path) as store:
        return do_work(make_work(experiment, store, workforce.size), store, workforce, tell)


def records(path):
    with Store(path) as store:
        return {record.id: record for record in store.records()}


def assert_same(ours, theirs):
    """Bit for bit, but for when they were computed."""
    assert ours.keys() == theirs.keys()
    for name in ours:
        for field, value in vars(ours[name]).items():
            if field != "computed_at":
                np.testing.assert_equal(getattr(theirs[name], field), value)


@pytest.fixture(scope="module")
def locally(tmp_path_factory):
    """What this machine computes without a cluster."""
    path = tmp_path_factory.mktemp("local") / "runs.sqlite"
    return done(path, small(), Local(1)), records(path)


def test_a_benchmark_gives_the_same_rows_bit_for_bit(connected, locally, tmp_path):
    told = []
    result = done(
        tmp_path / "s.sqlite", small(), connected, lambda p: told.append((p.workers, p.chunks_done, p.chunks))
    )
    assert result["rows"] == locally[0]["rows"]
    assert_same(records(tmp_path / "s.sqlite"), locally[1])
    assert told[-1] == (2, 2, 2)


def test_a_worker_that_is_killed_has_its_chunk_computed_elsewhere(locally, tmp_path):
    with running(tmp_path) as machines, Cluster(machines.address) as cluster:
        cluster._client.wait_for_workers(2, timeout=60)
        victims = [machines.workers[0]]

        def kill_once(progress):
            if victims:
                machines.kill(victims.pop())

        # The idle call comes after a second, in the middle of the first chunks.
        done(tmp_path / "s.sqlite", small(), cluster, kill_once)
        assert not victims
        assert_same(records(tmp_path / "s.sqlite"), locally[1])


def test_a_scheduler_that_is_lost_is_said_and_the_same_command_goes_on(locally, tmp_path):
    path = tmp_path / "s.sqlite"
    with running(tmp_path) as machines, Cluster(machines.address) as cluster:

        def kill(progress):
            if machines.scheduler.poll() is None and progress.chunks_done:
                machines.kill(machines.scheduler)

        with pytest.raises(ClusterError, match=r"is gone\. What was stored stays"):
            done(path, small(seeds=2, models=("nmu", "nau", "nac")), cluster, kill)
    assert 0 < len(records(path)) < 6
    done(path, small(), Local(1))
    held = records(path)
    assert_same({name: held[name] for name in locally[1]}, locally[1])


def test_a_worker_with_another_version_is_refused_with_both_values(tmp_path):
    with running(tmp_path, workers=1) as machines:
        machines.worker(before=OTHER_VERSION)
        with pytest.raises(ClusterError) as said:  # noqa: PT012
            for _ in range(100):  # until the second is there
                Cluster(machines.address).close()
                time.sleep(0.2)
    assert f"its nalm numerics version is 99, here it is {facts()['nalm numerics version']}" in str(
        said.value
    )


def test_a_worker_that_comes_later_is_checked_too(connected):
    job = module.pickle.dumps(({**facts(), "torch version": "0.0"}, b"of another version: not to be read"))
    (found,) = connected.run(module._compute_on_worker(), iter([job]), lambda: None)
    assert "its torch version is" in str(found[1])
    assert "here it is 0.0" in str(found[1])


@pytest.mark.parametrize("name", list(facts()))
def test_every_fact_is_compared(name):
    check_facts(facts(), facts(), "w")
    with pytest.raises(ClusterError, match=f"Worker w cannot be used: its {name} is other, here it is"):
        check_facts(facts(), {**facts(), name: "other"}, "w")
    with pytest.raises(ClusterError, match="is unknown"):
        check_facts(facts(), {}, "w")


def test_a_unit_of_ones_own_travels_with_its_source(connected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.py").write_text("SCALE = 1.0\n")
    (tmp_path / "mine.py").write_text(
        "import torch\nfrom beside import SCALE\n\n\nclass Mine(torch.nn.Module):\n"
        "    def __init__(self, before, after):\n        super().__init__()\n"
        "        self.layer = torch.nn.Linear(before, after)\n\n"
        "    def forward(self, x):\n        return SCALE * self.layer(x)\n"
    )
    experiment = small(models=("./mine.py:Mine",))
    done(tmp_path / "a.sqlite", experiment, connected)
    done(tmp_path / "b.sqlite", experiment, Local(1))
    assert_same(records(tmp_path / "a.sqlite"), records(tmp_path / "b.sqlite"))


def test_many_small_jobs_all_come_back_each_with_its_place(connected):
    found = dict(connected.run(lambda k: 2 * k, iter(range(500)), lambda: None))
    assert found == {k: 2 * k for k in range(500)}


FAILS_ELSEWHERE = """
import os
import torch


class Mine(torch.nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.layer = torch.nn.Linear(before, after)
        if "NALM_TEST_HERE" not in os.environ:
            raise ValueError("a file that only the coordinator has")

    def forward(self, x):
        return self.layer(x)
"""


def test_a_chunk_that_fails_on_the_worker_is_told_in_one_sentence(connected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NALM_TEST_HERE", "1")  # the workers were started without it
    (tmp_path / "mine.py").write_text(FAILS_ELSEWHERE)
    with pytest.raises(NalmError, match="a file that only the coordinator has"):
        done(tmp_path / "s.sqlite", small(models=("./mine.py:Mine",)), connected)


def test_without_workers_the_work_waits_for_one(tmp_path, locally):
    with running(tmp_path, workers=1) as machines, Cluster(machines.address) as cluster:
        machines.kill(machines.workers[0])
        while cluster._workers():
            time.sleep(0.1)
        started = []

        def start(progress):
            assert progress.workers in (0, 1)
            if not started:
                started.append(machines.worker())

        result = done(tmp_path / "s.sqlite", small(), cluster, start)
    assert result["rows"] == locally[0]["rows"]


def test_a_worker_that_comes_later_is_given_work_at_once(tmp_path):
    with running(tmp_path, workers=1) as machines, Cluster(machines.address) as cluster:
        began, started, ends = time.monotonic(), [], []

        def slow(seconds):  # inside another function, it travels by its code
            time.sleep(seconds)

        jobs = cluster.run(slow, iter([20, 0.1]), lambda: started or started.append(machines.worker()))
        for index, _ in jobs:
            ends.append((index, time.monotonic() - began))
            if index == 1:
                break
    assert ends[0][0] == 1
    assert ends[0][1] < 20


def test_an_error_on_a_worker_comes_back(connected):
    ((_, error),) = connected.run(lambda k: k / 0, iter([1]), lambda: None)
    assert isinstance(error, ZeroDivisionError)


@pytest.mark.parametrize("mute", [False, True], ids=["nobody listens", "nobody answers"])
def test_a_scheduler_that_does_not_answer_is_one_sentence(mute, monkeypatch, capsys, tmp_path):
    assert module.PATIENCE + module.GRACE < 15  # what was promised
    monkeypatch.setattr(module, "PATIENCE", 2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if mute:
            taken.listen()
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        began = time.monotonic()
        code, out, err = command(capsys, "--scheduler", address, "--store", str(tmp_path / "s.sqlite"))
    assert time.monotonic() - began < 2 + module.GRACE + 3
    assert (code, out, err) == (1, "", f"No Dask scheduler answers at {address} within 2 seconds.\n")


def command(capsys, *arguments):
    """`nalm bench` of one run, in this process: exit code, standard output, standard error."""
    small = ("--units", "nmu", "--ranges", "1:2", "--seeds", "2", "--iterations", "2000")
    with pytest.raises(SystemExit) as end:
        main(["bench", "single-module", *small, *arguments])
    return end.value.code, *capsys.readouterr()


def test_the_command_computes_on_the_cluster(connected, machines, locally, capsys, tmp_path):
    store = tmp_path / "s.sqlite"
    code, out, err = command(capsys, "--scheduler", machines.address, "--store", str(store), "--json", "-")
    assert code == 0
    (row,) = json.loads(out)["rows"]
    assert row == json.loads(json.dumps(next(r for r in locally[0]["rows"] if r["model"] == "nmu")))
    assert "2 runs to compute" in err


def test_the_command_refuses_processes_with_a_scheduler(capsys, tmp_path):
    code, _, err = command(capsys, "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2")
    assert (code, err) == (2, "Argument `jobs` must be left out with --scheduler, but got 2.\n")


def test_waiting_for_workers_is_said(tmp_path):
    told = []
    with running(tmp_path, workers=0) as machines:

        def start(text):
            told.append(text)
            machines.worker()

        with Cluster(machines.address, start) as cluster:
            assert cluster.size == 1
    assert "has no workers yet; waiting. To start one: dask worker tcp://" in told[0]


@pytest.mark.parametrize(
    "address", ["host:8786", "tcp://host", "tcp://host:99999", "http://host:1", "", "tcp://:1", "8786"]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ArgumentError, match="an address such as tcp://host:8786"):
        Cluster(address)
