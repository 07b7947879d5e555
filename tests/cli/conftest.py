"""What the tests of all commands share."""

import sys

import pytest

from nalm.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process: exit code, standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "200")

    def command(*arguments):
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        return end.value.code, *capsys.readouterr()

    return command


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
