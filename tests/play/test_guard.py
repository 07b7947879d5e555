"""The guard: only with the token, only under our own address, and never too much."""

import asyncio

import pytest

from nalm.play.guard import MOST_BODY, TOO_LARGE, WRONG_HOST, WRONG_TOKEN, Guard

TOKEN, PORT = "secret", 8765


def ask(path="/secret/", *, host="127.0.0.1:8765", kind="http", body=(b"",), **headers):
    """Send a request; return its status, its text, and the bytes that the application behind got."""
    got, sent = [], []

    async def behind(scope, receive, send):
        more = True
        while more and kind == "http":
            message = await receive()
            more = message["type"] == "http.request" and message.get("more_body", False)
            got.append(len(message.get("body", b"")))
        await send({"type": f"{kind}.response.start", "status": 200, "headers": []})

    waiting = [
        {"type": "http.request", "body": part, "more_body": k + 1 < len(body)} for k, part in enumerate(body)
    ]

    async def receive():
        return waiting.pop(0) if kind == "http" else {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    named = [(b"host", host.encode())] if host else []
    named += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "path": path, "headers": named}
    asyncio.run(Guard(behind, TOKEN, PORT)(scope, receive, send))
    text = b"".join(message.get("body", b"") for message in sent).decode()
    return sent[0].get("status", sent[0]["type"]), text.strip(), got


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765"])
def test_the_address_with_its_token_is_let_through(host):
    assert ask(host=host)[0] == 200
    assert ask(host=host, origin=f"http://{host}")[0] == 200


@pytest.mark.parametrize(
    "path", ["/", "", "/secre/", "/secretx/", "/x/secret/", "//secret/", "/%73ecret/", "/é/"]
)
def test_a_wrong_or_missing_token_is_refused_with_a_sentence(path):
    assert ask(path) == (403, WRONG_TOKEN, [])


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "evil.example:8765", None])
def test_another_name_for_this_machine_is_refused(host):
    assert ask(host=host) == (403, WRONG_HOST, [])


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1:8765", "null"])
def test_a_request_from_another_page_is_refused(origin):
    assert ask(origin=origin) == (403, WRONG_HOST, [])


@pytest.mark.parametrize(
    "change", [{"path": "/x/"}, {"host": "evil.example"}, {"origin": "http://evil.example"}]
)
def test_websockets_are_refused_alike(change):
    assert ask(kind="websocket", **change)[0] == "websocket.close"


@pytest.mark.parametrize("length", [str(MOST_BODY + 1), "-1", "many", "9" * 40])
def test_a_body_that_is_too_large_is_refused_before_it_comes(length):
    assert ask(content_length=length) == (413, TOO_LARGE, [])


def test_a_body_without_length_is_cut_off():
    part = b"x" * 1_000_000
    _, _, got = ask(body=[part] * 9)
    assert sum(got) <= MOST_BODY


def test_a_file_of_the_largest_size_is_let_through():
    assert ask(body=[b"x" * MOST_BODY], content_length=str(MOST_BODY))[2] == [MOST_BODY]
