"""Code blocks of the documentation that are not Python: they have a language, and commands are real ones."""

import json
import re
import shlex
import tomllib

import pytest
from blocks import blocks, commands
from typer.main import get_command

from nalm.cli.commands import app
from nalm.cli.exit_codes import run

LANGUAGES = {"python", "text", "bash", "console", "toml", "json"}
UNIT = """
import torch


class MyUnit(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(out_features, in_features))

    def forward(self, x):
        return x @ self.weight.T


Squashed = MyUnit
"""
CALLED = commands()
PLANNED = {
    name: line
    for name, line in CALLED.items()
    if line.split()[1] in ("bench", "reproduce") and "--list" not in line and "--stored" not in line
}


def _arguments(line):
    return shlex.split(line, comments=True)[1:]


def test_every_block_has_a_language():
    unknown = {name: block.language for name, block in blocks().items() if block.language not in LANGUAGES}
    assert unknown == {}


def test_toml_and_json_are_valid():
    for block in blocks("toml", "json").values():
        tomllib.loads(block.code) if block.language == "toml" else json.loads(block.code)


@pytest.mark.parametrize("line", CALLED.values(), ids=CALLED)
def test_a_command_is_understood_by_the_command_line(line):
    name, *arguments = _arguments(line)
    command = get_command(app).commands[name]
    command.make_context(name, arguments)


@pytest.mark.parametrize("line", PLANNED.values(), ids=PLANNED)
def test_a_benchmark_can_be_planned(line, tmp_path, monkeypatch, capsys):
    """Names of tasks, units, operations and entries are real; the command plans and trains nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(UNIT)
    (tmp_path / "data.csv").write_text("a,b,y\n" + "".join(f"{k},{k + 1},{2 * k + 1}\n" for k in range(20)))
    arguments = _arguments(line)
    if "--scheduler" in arguments:
        place = arguments.index("--scheduler")
        del arguments[place : place + 2]
    planned = arguments if "--dry-run" in arguments else [*arguments, "--dry-run"]
    assert run(planned) == 0, capsys.readouterr().err


def test_the_synopsis_has_every_command_with_its_options():
    (synopsis,) = blocks("text", page="docs/command-line.md").values()
    parts = re.split(r"^nalm ", synopsis.code, flags=re.MULTILINE)[1:]
    for name, command in get_command(app).commands.items():
        written = " ".join(part for part in parts if part.split()[0] == name)
        options = [option.opts for option in command.params if option.opts[0].startswith("-")]
        missing = [
            opts
            for opts in options
            if not any(f"{opt} " in written + " " or f"{opt}]" in written for opt in opts)
        ]
        assert written
        assert missing == [], f"docs/command-line.md lacks options of nalm {name}"
