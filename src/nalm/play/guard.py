"""What stands before the page: only this machine, only with the token, and no more than a page needs.

A browser lets any page of the network send requests to this address. Without the token in the address they
are refused; and a name of the network that is made to point here (DNS rebinding) is not one of ours.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from nalm.play.asked import MOST_BYTES

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

HOST = "127.0.0.1"
MOST_BODY = MOST_BYTES + 100_000
"""Bytes of a request: a file, and what a form adds to it."""
WRONG_TOKEN = "The token in this address is wrong or missing. Use the address that `nalm play` has printed."
WRONG_HOST = "This page is only served under the address that `nalm play` has printed."
TOO_LARGE = f"This is too large: the page takes {MOST_BYTES / 1e6:g} MB. `nalm fit` takes files of any size."
_HEADERS = (
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Guard:
    """An ASGI application that refuses requests before another one sees them.

    Args:
        app: the other application.
        token: the first part of the path of every request that is let through.
        port: the port of the server, which requests must name.
    """

    def __init__(self, app: Application, token: str, port: int) -> None:
        self.app = app  # the name under which NiceGUI looks for itself
        self._token = token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in (HOST, "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with a sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is None:
            await self.app(scope, _limited(receive), _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # answers with 403
        else:
            await _answer(send, *refused)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = dict(scope["headers"])
        if headers.get(b"host") not in self._hosts:
            return 403, WRONG_HOST
        origin = headers.get(b"origin")
        if origin is not None and origin.removeprefix(b"http://") not in self._hosts:
            return 403, WRONG_HOST
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        if not secrets.compare_digest(first.encode(), self._token):
            return 403, WRONG_TOKEN
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BODY:
            return 413, TOO_LARGE
        return None


def _limited(receive: Receive) -> Receive:
    """The same messages, but a body that is longer than it may be ends as if the browser had gone."""
    had = 0

    async def limited() -> MutableMapping[str, Any]:
        nonlocal had
        message = await receive()
        if message["type"] == "http.request":
            had += len(message.get("body", b""))
            if had > MOST_BODY:
                return {"type": "http.disconnect"}
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_HEADERS]
        await send(message)

    return sending


async def _answer(send: Send, status: int, sentence: str) -> None:
    body = f"{sentence}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
