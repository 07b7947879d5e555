"""The command line: parses, calls, prints. Results go to standard output, talk to standard error."""

from __future__ import annotations

import ast
import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from nalm import catalogue
from nalm._version import __version__
from nalm.errors import ArgumentError, NalmError, check_choice, unknown

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Neural Arithmetic Logic Modules: units that learn exact arithmetic, benchmarked and readable.",
)
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write JSON to FILE; - is standard output, JSON only."),
]


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("list")
def list_(
    kind: Annotated[
        str | None, typer.Argument(metavar="[units|tasks|ranges|papers]", show_default=False)
    ] = None,
    json_file: Json = None,
) -> None:
    """List what there is: units, tasks, ranges or papers; all of them by default."""
    kinds = catalogue.KINDS if kind is None else (check_choice("kind", kind, catalogue.KINDS),)
    data = {k: catalogue.listing(k) for k in kinds}
    if _write_json(data, json_file):
        return
    for k, rows in data.items():
        _print_rows(k, rows, hidden=("class", "recipes", "papers"))


@app.command()
def show(
    unit: Annotated[str, typer.Argument(metavar="UNIT", help="A name from `nalm list units`.")],
    json_file: Json = None,
) -> None:
    """Show a unit: its equation, options, operations, recipes and papers."""
    page = catalogue.unit_page(unit)
    if _write_json(page, json_file):
        return
    print(page["description"])
    print("\nOn the command line:", page["name"], "   In Python: nalm." + page["class"])
    print("Operations:", ", ".join(page["ops"]))
    options = ", ".join(f"{name}={default!r}" for name, default in page["options"].items())
    print("Options:", options or "none")
    print("\n" + page["arguments"] + "\n")
    for op, recipe in page["published_recipes"].items():
        print(f"Published recipe for {op}: {recipe}")
    for name, recipes in page["other_recipes"].items():
        for op, recipe in recipes.items():
            print(f"Recipe {page['name']}@{name} for {op}: {recipe}")
    for paper in page["citations"]:
        print(
            f"Paper {paper['key']}: {paper['authors']} ({paper['year']}). {paper['title']}. {paper['venue']}."
        )


@app.command()
def doctor(json_file: Json = None) -> None:
    """Say what this machine offers: versions, processor, compiler, cache."""
    facts = catalogue.machine()
    if _write_json(facts, json_file):
        return
    for name, value in facts.items():
        print(f"{name:18} {value}")
    if facts["compiler"] is None:
        _say("No C++ compiler: training works but is many times slower. Install g++ or clang.")
    if not facts["cache_writable"]:
        _say(f"The cache folder {facts['cache']} cannot be written: every start compiles anew.")


# Typer may carry its own copy of click; either way this is the base of all errors in the use of a command.
_UsageError: Any = typer.BadParameter.__mro__[1]


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and exit: 0 done, 1 fault, 2 wrong usage, 130 interrupted."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that cannot show a letter is no fault
        code = app(arguments, standalone_mode=False)
    except _UsageError as error:
        _say(_usage_sentence(error))
        code = 2
    except ArgumentError as error:
        _say(str(error))
        code = 2
    except NalmError as error:
        _say(str(error))
        code = 1
    except OSError as error:
        _say(f"Cannot use {error.filename!r}: {error.strerror}." if error.filename else str(error))
        code = 1
    except (KeyboardInterrupt, typer.Abort):
        _say("Interrupted.")
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def _usage_sentence(error: Any) -> str:
    message = " ".join(error.format_message().split())
    if not message.startswith("No such command"):
        return message
    commands = [c.name or c.callback.__name__ for c in app.registered_commands if c.callback]
    quoted = message.removeprefix("No such command ").partition(" Did you mean")[0].rstrip(".")
    return str(unknown("COMMAND", str(ast.literal_eval(quoted)), commands))


def _write_json(data: Any, file: str | None) -> bool:
    """Write JSON where asked; True if standard output now belongs to it."""
    if file is None:
        return False
    text = json.dumps(data, indent=2)
    if file == "-":
        print(text)
        return True
    Path(file).write_text(text + "\n", encoding="utf-8")
    return False


def _print_rows(title: str, rows: list[dict[str, Any]], hidden: tuple[str, ...]) -> None:
    """A table of what fits a terminal; the JSON has all."""
    columns = [column for column in rows[0] if column not in hidden]
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, no_wrap=column in ("name", "ops"))
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    Console().print(table)


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(f"[{v[0]:g}, {v[1]:g})" if isinstance(v, tuple) else str(v) for v in value)
    return str(value)


def _say(text: str) -> None:
    print(text, file=sys.stderr)
