"""The version, and what commands say of themselves."""

import pytest

import nalm
from nalm.cli.commands import COMMANDS


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


def test_the_help_shows_all_commands_in_their_order(run):
    listed = run()[1].partition("Commands:")[2].splitlines()
    assert [line.split()[0] for line in listed if line[:3].strip()] == list(COMMANDS)
