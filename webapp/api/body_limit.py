"""Refuses request bodies over the limit before they are read.

Under ASGI Django stores a body in a temporary file before any of its own checks; this wrapper looks
at Content-Length first, and counts what arrives without one.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class _TooLongError(Exception):
    """More bytes arrived than are read."""


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
            await self._refuse(send)
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
                await self._refuse(send)

    async def _refuse(self, send: Send) -> None:
        limit = f"{self.max_bytes / 1e6:.0f} MB"
        body = json.dumps(
            {
                "type": "about:blank",
                "title": "Content Too Large",
                "status": 413,
                "detail": f"The body is longer than {limit}, the most that is read. Nothing was saved.",
                "problems": [{"path": "", "message": f"send a document of at most {limit}"}],
            }
        ).encode()
        headers = [
            (b"content-type", b"application/problem+json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})
