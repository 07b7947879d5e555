"""Workers and jobs: who may begin what, how it is stopped, and that nothing is left behind."""

import asyncio
import os
import signal
import time

import pytest

from nalm.errors import NalmError
from nalm.play.asked import Columns, Training
from nalm.play.workers import Job, Jobs, Workers

LONG = Training(unit="nalu", seeds=8, steps=200_000, inputs=10)


@pytest.fixture(scope="module")
def workers():
    with Workers(spare=1) as made:
        made.wait()
        yield made


@pytest.fixture
def jobs(workers):
    made = Jobs(workers)
    yield made
    for owner in "abc":
        made.stop(owner)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def until(job, kind, side=0, seconds=120):
    """Wait for a message of this kind; return it and all kinds before."""
    seen, ends = [], time.monotonic() + seconds
    while time.monotonic() < ends:
        for at, (each, what) in job.messages():
            if at == side:
                seen.append(each)
                if each == kind:
                    return what, seen
        time.sleep(0.02)
    raise AssertionError(f"only {seen}")


def test_a_job_begins_points_come_and_it_ends(jobs):
    job = jobs.begin("a", [Training(steps=200, seeds=1, is_slowed=False)])
    answer, seen = until(job, "done")
    assert seen[0] == "begun"
    assert set(seen[1:-1]) == {"point"}
    assert len(answer["runs"]) == 1
    assert job.is_over


def test_a_request_that_is_too_much_begins_nothing(jobs, workers):
    before = len(workers)
    with pytest.raises(NalmError, match="seeds"):
        jobs.begin("a", [Training(), Training(seeds=10**6)])
    assert len(workers) == before
    jobs.begin("a", [Training()])  # the page is free


def test_a_page_has_one_job_and_all_pages_two(jobs):
    jobs.begin("a", [LONG])
    with pytest.raises(NalmError, match="already at work"):
        jobs.begin("a", [Training()])
    jobs.begin("b", [LONG])
    with pytest.raises(NalmError, match="2 jobs are running"):
        jobs.begin("c", [Training()])
    jobs.stop("a")
    jobs.begin("c", [Training()])


def test_a_stopped_job_ends_its_processes_at_once(jobs):
    job = jobs.begin("a", [LONG])
    (process,) = job.process_ids
    assert is_alive(process)
    job.stop()
    assert job.is_over
    assert not is_alive(process)
    assert list(job.messages()) == []


def test_a_job_that_takes_too_long_is_ended_with_a_sentence(jobs, monkeypatch):
    monkeypatch.setattr("nalm.play.asked.TRAINING_SECONDS", 0.3)
    sentence, _ = until(jobs.begin("a", [LONG]), "refused")
    assert "was ended" in sentence


def test_a_worker_that_dies_is_reported_and_replaced(jobs, workers):
    job = jobs.begin("a", [LONG])
    os.kill(job.process_ids[0], signal.SIGKILL)
    sentence, _ = until(job, "refused")
    assert "died" in sentence
    assert workers.take().is_alive


def test_readings_answer_or_refuse(jobs, tmp_path):
    found = asyncio.run(jobs.answer(Columns(b"a,b\n1,2\n3,4\n", tmp_path)))
    assert found["names"] == ["a", "b"]
    with pytest.raises(NalmError, match="no rows"):
        asyncio.run(jobs.answer(Columns(b"", tmp_path)))


def test_no_worker_is_left_at_the_end():
    with Workers(spare=1) as made:
        processes = [*Job("a", [LONG], made).process_ids, made.take().process_id]
        assert all(map(is_alive, processes))
    assert not any(map(is_alive, processes))
