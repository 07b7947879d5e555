"""`nalm play`: a local page to try units, recipes and one's own rows."""

from __future__ import annotations

from typing import Annotated

import typer

from nalm import interrupts
from nalm.cli.options import DEFAULT_STORE, StoreFile
from nalm.cli.output import say

_ENDED = "Interrupted. The page has ended, and so has what was running."


def play(
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port; by default any that is free.")
    ] = 0,
    store: StoreFile = DEFAULT_STORE,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address, and open no browser.")
    ] = False,
) -> None:
    """Open a local page: train units and watch them, paste rows and see their formula, look at stored runs.

    Only this machine can open the page, at the address that is printed. Ctrl-C ends it.
    """
    with interrupts.importing():
        from nalm.play.server import serve

    with interrupts.during("", _ENDED):
        serve(port, store, in_browser=not no_browser, say=say)
