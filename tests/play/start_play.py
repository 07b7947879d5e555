"""A page that is served by the command."""

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Served:
    """A running `nalm play`."""

    process: subprocess.Popen
    address: str
    folder: object

    @property
    def port(self):
        return int(self.address.split(":")[2].split("/")[0])

    @property
    def token(self):
        return self.address.rstrip("/").rsplit("/", 1)[1]

    def interrupt(self):
        """Press Ctrl-C; return the exit code and what was said."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


def start_play(folder, *options):
    command = [sys.executable, "-m", "nalm", "play", "--no-browser", *options]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), process.communicate(timeout=60)
    return Served(process, address, folder)


def children(process):
    """The processes that a process has started."""
    listed = Path(f"/proc/{process}/task/{process}/children")
    return listed.read_text().split() if listed.exists() else []
