"""Refuses request bodies over the limit before they are kept anywhere.

Under ASGI Django stores a body in a temporary file before any of its own checks; this wrapper looks
at Content-Length first, and counts what arrives without one. What is refused is still read to its
end, up to a limit, and thrown away: a client that is cut off in mid-upload never sees the answer.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.template.loader import render_to_string

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[..., Awaitable[None]]

DISCARDED_BYTES = 512_000_000
"""Most that is read of a refused body."""


class _TooLongError(Exception):
    """More bytes arrived than are accepted."""


class BodyLimit:
    """ASGI application around another one; answers 413 to bodies longer than `max_bytes`."""

    def __init__(self, application: Application, max_bytes: int) -> None:
        self.application = application
        self.max_bytes = max_bytes

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"")
        if declared.isdigit() and int(declared) > self.max_bytes:
            await self._refuse(scope, receive, send)
            return
        received = 0
        started = False

        async def counted_receive() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.max_bytes:
                raise _TooLongError
            return message

        async def noted_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.application(scope, counted_receive, noted_send)
        except _TooLongError:
            if not started:
                await self._refuse(scope, receive, send)

    async def _refuse(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        discarded, is_complete = 0, False
        while not is_complete and discarded < DISCARDED_BYTES:
            message = await receive()
            discarded += len(message.get("body", b""))
            is_complete = message["type"] != "http.request" or not message.get("more_body", False)
        content_type, body = self._page() if _wants_page(scope) else self._problem()
        headers = [
            (b"content-type", content_type),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _problem(self) -> tuple[bytes, bytes]:
        problem = {
            "type": "about:blank",
            "title": "Content Too Large",
            "status": 413,
            "detail": f"The body is longer than {self._limit}, the most that is read. Nothing was saved.",
            "problems": [{"path": "", "message": f"send a document of at most {self._limit}"}],
        }
        return b"application/problem+json", json.dumps(problem).encode()

    def _page(self) -> tuple[bytes, bytes]:
        return b"text/html; charset=utf-8", render_to_string("413.html", {"limit": self._limit}).encode()

    @property
    def _limit(self) -> str:
        return f"{self.max_bytes / 1e6:.0f} MB"


def _wants_page(scope: MutableMapping[str, Any]) -> bool:
    """Return whether a person asks, from one of the pages."""
    return not scope["path"].startswith("/api/") and b"text/html" in dict(scope["headers"]).get(b"accept", b"")
