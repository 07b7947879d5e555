"""A Dask cluster: a real scheduler and two worker processes on this machine, and what may happen to them."""

import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from nalm.cli import main
from nalm.errors import ArgumentError, NalmError
from nalm.experiment import cluster as cluster_module
from nalm.experiment import cluster_scheduler
from nalm.experiment import jobs as jobs_module
from nalm.experiment.bench import do_work, make_experiment, make_work
from nalm.experiment.cluster import Cluster
from nalm.experiment.cluster_worker import ClusterError, check_facts, compute_on_worker, facts
from nalm.experiment.jobs import Jobs, Paces
from nalm.experiment.local import Local
from nalm.experiment.store import Store

pytest.importorskip("distributed", reason="Dask is not installed")
pytestmark = pytest.mark.xdist_group("cluster")

NO_NALM = "import sys; sys.modules['nalm'] = sys.modules['torch'] = None; "
USUAL_PATIENCE = cluster_scheduler.PATIENCE
OTHER_VERSION = "import nalm._version as v; v.NUMERICS_VERSION = 99; "


LIMIT = 300
"""Seconds after which a test gives up; what it waits for takes a few, or many on a busy machine."""


def eventually(condition, what):
    """Wait until something is true."""
    began = time.monotonic()
    while not (found := condition()):
        assert time.monotonic() - began < LIMIT, what
        time.sleep(0.05)
    return found


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
        alone = ("--nthreads", "1", "--no-nanny", "--death-timeout", str(LIMIT))
        made = self.start("worker", self.address, *alone, before=before)
        self.workers.append(made)
        return made

    def start(self, kind, *arguments, before=""):
        code = f"{before}from distributed.cli.dask_{kind} import main; main()"
        command = [sys.executable, "-c", code, *arguments, "--host", "127.0.0.1", "--no-dashboard"]
        with (self.folder / f"{kind}-{len(self.processes)}.log").open("w") as log:
            # That a worker hangs is noticed here: Dask's own rule does not come first.
            own = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "1 hour"}
            made = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env=own)
        self.processes.append(made)
        return made

    def listens(self):
        """Whether the scheduler takes calls; on a busy machine it takes a while to start."""
        with socket.socket() as call:
            return call.connect_ex(("127.0.0.1", int(self.address.rpartition(":")[2]))) == 0

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
        eventually(machines.listens, "the scheduler listens")
        yield machines
    finally:
        machines.end()


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """What is there answers, however busy the machine is."""
    monkeypatch.setattr(cluster_scheduler, "PATIENCE", LIMIT)
    monkeypatch.setattr(cluster_scheduler, "ANSWER", LIMIT)


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def connected(machines):
    with Cluster(machines.address) as cluster:
        cluster._client.wait_for_workers(2, timeout=LIMIT)
        yield cluster


def small(models=("nmu", "nau"), **options):
    given = {"ranges": ["1:2"], "seeds": 2, "iterations": 2000, **options}
    return make_experiment(
        "single-module", list(models), ["add", "mul"] if len(models) > 1 else None, **given
    )


def done(path, experiment, executor, on_progress=lambda progress: None):
    with Store(path) as store:
        return do_work(make_work(experiment, store, executor.size), store, executor, on_progress)


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
        cluster._client.wait_for_workers(2, timeout=LIMIT)
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
        with Cluster(machines.address) as cluster:
            cluster._client.wait_for_workers(2, timeout=LIMIT)
        with pytest.raises(ClusterError) as said:
            Cluster(machines.address)
    assert f"its nalm numerics version is 99, here it is {facts()['nalm numerics version']}" in str(
        said.value
    )


def test_a_worker_that_comes_later_is_checked_too(connected):
    job = pickle.dumps(({**facts(), "torch version": "0.0"}, None, b"of another version: not to be read"))
    (found,) = connected.run(compute_on_worker(), iter([job]), lambda: None)
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
import pickle
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
        eventually(lambda: not cluster._scheduler.count_workers(), "the scheduler notices that it is gone")
        started = []

        def start(progress):
            assert progress.workers in (0, 1)
            if not started:
                started.append(machines.worker())

        result = done(tmp_path / "s.sqlite", small(), cluster, start)
    assert result["rows"] == locally[0]["rows"]


class Course:
    """What jobs that wait do, by files: where each runs is noted, and it goes on once it may."""

    def __init__(self, folder):
        self.folder = folder
        self.began = time.monotonic()

    def job(self):
        folder = str(self.folder)

        def run(k):  # inside another function, it travels by its code
            import os
            import time

            with open(f"{folder}/began-{k}-{os.getpid()}", "w"):
                pass
            while not any(os.path.exists(f"{folder}/{name}") for name in ("go", f"go-{os.getpid()}")):
                time.sleep(0.02)
            return os.getpid()

        return run

    def at(self, k):
        """The processes that have begun a job."""
        return [int(path.name.split("-")[2]) for path in self.folder.glob(f"began-{k}-*")]

    def go(self, pid=None):
        (self.folder / ("go" if pid is None else f"go-{pid}")).touch()

    def in_time(self):
        assert time.monotonic() - self.began < LIMIT


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs_module, "SILENT", 3.0)
    (tmp_path / "course").mkdir()
    return Course(tmp_path / "course")


def stop_once(course, stopped, then=lambda: None):
    """Called in every idle second: stop the worker that has begun job 0."""

    def idle():
        course.in_time()
        if not stopped and course.at(0):
            stopped.append(course.at(0)[0])
            os.kill(stopped[0], signal.SIGSTOP)
            then()

    return idle


def test_a_worker_that_is_stopped_has_its_job_done_by_another_and_the_first_result_counts(course, tmp_path):
    told, stopped = [], []
    with running(tmp_path) as machines, Cluster(machines.address, told.append) as cluster:
        cluster._client.wait_for_workers(2, timeout=LIMIT)
        jobs = cluster.run(course.job(), iter([0]), stop_once(course, stopped, course.go))
        ((index, pid),) = jobs
        assert index == 0
        assert pid != stopped[0]
        os.kill(stopped[0], signal.SIGCONT)
        eventually(lambda: not any(cluster._client.processing().values()), "the other copy is dropped")
    (said,) = [text for text in told if text.endswith("the chunk is also given to another worker.")]
    assert "Nothing was heard for" in said


def test_a_worker_that_comes_later_is_given_work_at_once(course, tmp_path):
    """A job that waits behind a long one goes to the new worker, while the long one is not done."""
    with running(tmp_path, workers=1) as machines, Cluster(machines.address) as cluster:
        started = []

        def idle():
            course.in_time()
            if not started and course.at(0):
                started.append(machines.worker())
                course.go(started[0].pid)

        jobs = cluster.run(course.job(), iter([0, 1]), idle)
        assert next(jobs) == (1, started[0].pid)
        course.go()
        assert next(jobs) == (0, machines.workers[0].pid)


def test_a_stopped_worker_without_another_is_named(course, tmp_path):
    told, stopped = [], []
    with running(tmp_path, workers=1) as machines, Cluster(machines.address, told.append) as cluster:
        (address,) = cluster._client.nthreads()
        stop = stop_once(course, stopped)

        def idle():
            stop()
            if stopped and any("no other worker is free" in text and address in text for text in told):
                course.go()
                os.kill(stopped[0], signal.SIGCONT)

        assert list(cluster.run(course.job(), iter([0]), idle)) == [(0, stopped[0])]


def test_a_job_that_takes_many_times_what_its_like_took_is_given_to_another(course, tmp_path, monkeypatch):
    """The worker gives signs of life: only its job hangs."""
    monkeypatch.setattr(jobs_module, "LATE_AT_LEAST", 1.0)
    monkeypatch.setattr(jobs_module, "SILENT", LIMIT)
    told = []
    with running(tmp_path) as machines, Cluster(machines.address, told.append) as cluster:
        cluster._client.wait_for_workers(2, timeout=LIMIT)
        told.clear()

        def idle():
            course.in_time()
            for pid in course.at(4)[1:]:  # a second worker has begun it
                course.go(pid)

        job = course.job()

        def quick_but_one(k):
            return k if k < 4 else job(k)

        found = dict(cluster.run(quick_but_one, iter(range(5)), idle, lambda k: ("like", 1.0)))
        first, second = sorted(course.at(4), key=lambda pid: pid == found[4])
        assert (found.keys(), second) == (set(range(5)), found[4])
        course.go(first)
    assert "has been computing a chunk for" in told[0]
    assert "but similar ones took" in told[0]


def test_a_benchmark_survives_a_worker_that_is_stopped(locally, tmp_path, monkeypatch):
    monkeypatch.setattr(jobs_module, "SILENT", 5.0)
    with running(tmp_path) as machines, Cluster(machines.address) as cluster:
        cluster._client.wait_for_workers(2, timeout=LIMIT)
        began, stopped = time.monotonic(), []

        def stop(progress):
            assert time.monotonic() - began < LIMIT
            if not stopped:
                stopped.append(machines.workers[0].send_signal(signal.SIGSTOP))

        result = done(tmp_path / "s.sqlite", small(), cluster, stop)
    assert stopped
    assert result["rows"] == locally[0]["rows"]
    assert_same(records(tmp_path / "s.sqlite"), locally[1])


def test_a_worker_that_is_stopped_before_the_work_is_left_for_later(course, tmp_path, monkeypatch):
    told = []
    with running(tmp_path) as machines:
        with Cluster(machines.address) as cluster:
            cluster._client.wait_for_workers(2, timeout=LIMIT)
        machines.workers[0].send_signal(signal.SIGSTOP)
        monkeypatch.setattr(cluster_scheduler, "ANSWER", 3)
        course.go()
        with Cluster(machines.address, told.append) as cluster:
            found = dict(cluster.run(course.job(), iter([0, 1]), course.in_time))
    assert found == dict.fromkeys([0, 1], machines.workers[1].pid)
    assert "did not answer within 3 seconds" in told[0]


def test_a_result_that_a_stopped_worker_keeps_is_computed_again(course, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "FETCH", 3)
    course.go()
    with running(tmp_path) as machines, Cluster(machines.address) as cluster:
        cluster._client.wait_for_workers(2, timeout=LIMIT)
        jobs = Jobs(cluster._client, course.job(), None, lambda text: None)
        jobs.hand_out({7: 0})
        (future,) = jobs.futures
        eventually(lambda: future.status == "finished", "the job is done")
        (pid,) = course.at(0)
        os.kill(pid, signal.SIGSTOP)
        eventually(lambda: max(w.silence for w in jobs._workers().values()) > 3, "the worker is silent")
        found = []
        while not found:
            course.in_time()
            found = cluster._ready(jobs, lambda: None)
        ((index, other),) = found
        assert index == 7
        assert other != pid


def test_what_jobs_take_is_known_by_kind_and_by_work():
    paces = Paces()
    assert paces.expected(("nmu", 10)) is None
    for seconds in (1.0, 2.0, 60.0):
        paces.note(("nmu", 10), seconds)
    assert paces.expected(("nmu", 20)) == 4.0
    assert paces.expected(("nau", 20)) is None


def test_an_error_on_a_worker_comes_back(connected):
    ((_, error),) = connected.run(lambda k: k / 0, iter([1]), lambda: None)
    assert isinstance(error, ZeroDivisionError)


@pytest.mark.parametrize("mute", [False, True], ids=["nobody listens", "nobody answers"])
def test_a_scheduler_that_does_not_answer_is_one_sentence(mute, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(cluster_scheduler, "PATIENCE", 2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if mute:
            taken.listen()
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        code, out, err = command(capsys, "--scheduler", address, "--store", str(tmp_path / "s.sqlite"))
    assert (code, out, err) == (1, "", f"No Dask scheduler answers at {address} within 2 seconds.\n")


def test_a_scheduler_that_does_not_answer_is_not_waited_for_longer_than_promised():
    assert USUAL_PATIENCE + cluster_scheduler.GRACE < 15


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
    local = json.loads(json.dumps(next(r for r in locally[0]["rows"] if r["model"] == "nmu")))
    assert row == {**local, "published": None}
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
