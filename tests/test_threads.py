"""One core for what trains, and the caller's own number for everything else."""

import threading

import pytest
import torch

from nalm.threads import one_thread


def elsewhere(function):
    """What a function gives in a new thread."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture
def two():
    """A process that uses two."""
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


def test_only_the_calling_thread_uses_one(two):
    started, look, found = threading.Event(), threading.Event(), []

    def other():
        found.append(torch.get_num_threads())
        started.set()
        look.wait()
        found.append(torch.get_num_threads())

    thread = threading.Thread(target=other)
    thread.start()
    started.wait()
    with one_thread():
        assert torch.get_num_threads() == 1
        assert elsewhere(torch.get_num_threads) == 2
        look.set()
        thread.join()
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert found == [2, 2]
    assert torch.get_num_threads() == 2
    assert elsewhere(torch.get_num_threads) == 2


def test_it_is_put_back_after_an_error(two):
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert torch.get_num_threads() == 2
    assert elsewhere(torch.get_num_threads) == 2


def test_threads_that_enter_together_leave_everything_as_it_was(two):
    def work():
        for _ in range(20):
            with one_thread():
                pass
        return torch.get_num_threads()

    found = []
    threads = [threading.Thread(target=lambda: found.append(work())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2] * 4
    assert elsewhere(torch.get_num_threads) == 2
