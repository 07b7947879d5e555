"""`nalm episode`: what a stored agent does, as an animated picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nalm import interrupts
from nalm.cli.options import DEFAULT_STORE, StoreFile
from nalm.cli.output import say


def episode(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The GIF to write.")],
    time: Annotated[int, typer.Option(metavar="T", help="The time that the agent is told.")] = 12,
    unit: Annotated[str, typer.Option(metavar="UNIT", help="The unit of the agent.")] = "nac",
    op: Annotated[str, typer.Option(metavar="OP", help="What the unit does.")] = "instruct",
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of its run.")] = 0,
    start: Annotated[int, typer.Option(metavar="N", help="The seed of the start of the episode.")] = 0,
    store: StoreFile = DEFAULT_STORE,
) -> None:
    """Let a stored agent act in the grid world, and write what happens as an animated picture."""
    with interrupts.importing():
        from nalm.errors import ArgumentError
        from nalm.report.episode import acted
        from nalm.report.files import check_output

    if output.suffix.lower() != ".gif":
        raise ArgumentError("output", "a file whose name ends with .gif", str(output))
    check_output(output, store)
    played = acted(store, unit=unit, op=op, seed=seed, time=time, start=start)
    played.save(output)
    when = "never arrived" if played.arrived is None else f"arrived at t = {played.arrived}"
    say(f"Told {time}, the agent {when}; written to {output}.")
