"""The command `nalm` with all its subcommands: a new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from nalm._version import __version__
from nalm.cli.bench import bench
from nalm.cli.doctor import doctor
from nalm.cli.episode import episode
from nalm.cli.export import export
from nalm.cli.fit import fit
from nalm.cli.gallery import gallery
from nalm.cli.list import list_
from nalm.cli.play import play
from nalm.cli.predict import predict
from nalm.cli.report import report
from nalm.cli.reproduce import reproduce
from nalm.cli.runs import runs
from nalm.cli.show import show

COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_,
    "show": show,
    "doctor": doctor,
    "fit": fit,
    "predict": predict,
    "bench": bench,
    "runs": runs,
    "export": export,
    "episode": episode,
    "report": report,
    "gallery": gallery,
    "play": play,
    "reproduce": reproduce,
}
"""The subcommands in the order in which the help shows them."""

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Neural Arithmetic Logic Modules: units that learn exact arithmetic, benchmarked and readable.",
)
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)


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
