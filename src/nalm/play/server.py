"""The server of the page: one socket of this machine, a token, the workers, and the way to end."""

from __future__ import annotations

import secrets
import socket
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path

from nalm.errors import ArgumentError, NalmError
from nalm.play.guard import HOST, Guard
from nalm.play.workers import Jobs, Workers

_GRACE = 1
"""Seconds that open pages are given when the server ends."""
_RECONNECT = 15.0
"""Seconds after which a page that is gone counts as closed, and its job is ended; a busy browser is slow."""
_LARGEST_MESSAGE = 1_000_000
"""Bytes of a message of a page."""


def serve(port: int, store: Path, *, in_browser: bool, say: Callable[[str], None]) -> None:
    """Serve the page until an interruption.

    Args:
        port: the port; 0 for any that is free.
        store: the file of stored runs.
        in_browser: whether to open the page in the user's browser.
        say: called with sentences for the user.
    """
    held = _listening(port)
    try:
        import uvicorn
        from fastapi import FastAPI
        from nicegui import app as page_app
        from nicegui import ui
    except ImportError as error:
        held.close()
        raise NalmError(f"The page needs the package {error.name}: pip install 'nalm[play]'.") from None
    from nalm.play.page import add_page
    from nalm.play.play import Play

    with held, Workers() as workers, tempfile.TemporaryDirectory(prefix="nalm-play-") as folder:
        token, bound = secrets.token_urlsafe(16), int(held.getsockname()[1])
        say("Importing what training needs, once …")
        add_page(Play(workers.wait(), Jobs(workers), store, Path(folder)))
        own = FastAPI(openapi_url=None)
        ui.run_with(
            own,
            mount_path=f"/{token}",
            title="nalm play",
            favicon="🧮",
            dark=None,
            language="en-US",
            reconnect_timeout=_RECONNECT,
            tailwind=False,
            show_welcome_message=False,
        )
        address = f"http://{HOST}:{bound}/{token}/"

        def on_start() -> None:
            print(address, flush=True)
            say("Open this address in a browser of this machine. Ctrl-C ends the page.")
            if in_browser:
                webbrowser.open(address)

        page_app.on_startup(on_start)
        settings = uvicorn.Config(
            Guard(own, token, bound),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_GRACE,
            ws_max_size=_LARGEST_MESSAGE,
            server_header=False,
        )
        uvicorn.Server(settings).run(sockets=[held])


def _listening(port: int) -> socket.socket:
    """A socket of this machine alone."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        held.bind((HOST, port))
        held.listen()  # a browser that comes before the server is ready waits
    except OSError as error:
        held.close()
        hint = "Leave it out for any free one."
        raise ArgumentError("port", "a free port", f"{port} ({error.strerror})", hint) from None
    return held
