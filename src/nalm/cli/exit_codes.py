"""How a command ends: an exit code, and one sentence about what went wrong."""

from __future__ import annotations

import ast
import io
import sys
import traceback
from typing import Any, NoReturn

import typer

from nalm import interrupts
from nalm.cli.commands import COMMANDS, app
from nalm.cli.output import say
from nalm.errors import ArgumentError, NalmError, unknown

# Typer may bundle its own copy of click; either way this is the base class of all usage errors.
_UsageError: Any = typer.BadParameter.__mro__[1]


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and exit with its code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 1 fault, 2 wrong usage, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that the terminal cannot show is not a fault
    try:
        code = app(arguments, standalone_mode=False)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        if not interrupts.were_met() and not isinstance(error, KeyboardInterrupt):
            return _told(error)
        code = interrupts.CODE
    if code == interrupts.CODE:  # typer also returns this code for an interruption
        say(interrupts.sentence())
    return code if isinstance(code, int) else 0


def _told(error: Exception | SystemExit) -> int:
    """Print what went wrong in one sentence and return the exit code; unexpected errors are raised again."""
    if isinstance(error, _UsageError):
        say(_usage_sentence(error))
        return 2
    if isinstance(error, NalmError):
        say(str(error))
        return 2 if isinstance(error, ArgumentError) else 1
    if isinstance(error, OSError):
        say(f"Cannot use {error.filename!r}: {error.strerror}." if error.filename else str(error))
        return 1
    if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
        called = traceback.extract_tb(error.__traceback__)[-1]
        say(f"{called.filename}:{called.lineno} ended the command: it must not call sys.exit.")
        return 2
    raise error


def _usage_sentence(error: Any) -> str:
    message = " ".join(error.format_message().split())
    if not message.startswith("No such command"):
        return message
    quoted = message.removeprefix("No such command ").partition(" Did you mean")[0].rstrip(".")
    return str(unknown("COMMAND", str(ast.literal_eval(quoted)), list(COMMANDS)))
