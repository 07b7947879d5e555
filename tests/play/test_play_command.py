"""`nalm play`: its address, its end, and what it says if it cannot begin."""

import http.client
import socket
import sys
import time
from pathlib import Path

import pytest
from start_play import children, start_play

from nalm.cli.exit_codes import run
from nalm.errors import NalmError
from nalm.play.guard import WRONG_TOKEN
from nalm.play.server import serve


def answer(served, path):
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.request("GET", path)
    got = connection.getresponse()
    return got.status, got.read().decode()


def is_running(process):
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_page_needs_its_token_and_ctrl_c_ends_everything(tmp_path):
    served = start_play(tmp_path)
    status, text = answer(served, f"/{served.token}/")
    assert status == 200
    assert "nalm play" in text
    for path in ("/", "/wrong/", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"):
        assert answer(served, path) == (403, f"{WRONG_TOKEN}\n")
    started = children(served.process.pid)
    code, said = served.interrupt()
    assert code == 130
    assert said.splitlines()[-1].startswith("Interrupted. The page has ended")
    assert "Traceback" not in said
    ends = time.monotonic() + 20
    while any(map(is_running, started)) and time.monotonic() < ends:
        time.sleep(0.1)
    assert not any(map(is_running, started))
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_refused_in_a_sentence(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run(["play", "--port", str(taken.getsockname()[1])]) == 2
    assert "`port` must be a free port" in capsys.readouterr().err


def test_without_nicegui_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "nicegui", None)
    with pytest.raises(NalmError, match=r"nicegui: pip install 'nalm\[play\]'"):
        serve(0, tmp_path / "runs.sqlite", in_browser=False, say=print)
