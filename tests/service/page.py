"""A browser's end of the socket, spoken to the ASGI application of this process."""

import json
from collections.abc import Callable
from typing import Any

from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.test import Client

from webapp import engine
from webapp.accounts.models import User
from webapp.asgi import application
from webapp.runs.models import Run

ORIGIN = b"http://testserver"
REPLY_TIMEOUT_S = 20
"""How long a reply that must come may take on a busy machine."""
Message = dict[str, Any]


class Page:
    """A browser's end of the socket; keeps what it received, in order."""

    def __init__(self, user: User | None, origin: bytes = ORIGIN) -> None:
        headers = [(b"host", b"testserver"), (b"origin", origin)]
        if user is not None:
            client = Client()
            client.force_login(user)
            session = client.cookies[settings.SESSION_COOKIE_NAME].value
            headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
        scope = {"type": "websocket", "path": "/ws/runs/", "query_string": b"", "headers": headers, "subprotocols": []}
        self._socket = ApplicationCommunicator(application, scope)
        self.seqs: list[int] = []
        self.texts: list[Message] = []

    async def open(self) -> tuple[bool, int | None]:
        """Return whether the server accepted, and the code if it did not."""
        await self._socket.send_input({"type": "websocket.connect"})
        reply = await self._socket.receive_output(REPLY_TIMEOUT_S)
        return reply["type"] == "websocket.accept", reply.get("code")

    async def follow(self, run: Run, after: int = 0) -> None:
        await self.say({"t": "sub", "run": str(run.pk), "after": after})

    async def say(self, message: Any) -> None:
        """Send a message; text as it is."""
        text = message if isinstance(message, str) else json.dumps(message)
        await self._socket.send_input({"type": "websocket.receive", "text": text})

    async def next(self) -> Message:
        """Return the next message; of a frame its header, with `t` "frame"."""
        received = await self._socket.receive_output(REPLY_TIMEOUT_S)
        assert received["type"] == "websocket.send", received
        if received.get("bytes") is not None:
            header, _ = engine.decode(received["bytes"])
            self.seqs.append(header["seq"])
            return {"t": "frame", **header}
        message: Message = json.loads(received["text"])
        self.texts.append(message)
        return message

    async def until(self, is_wanted: Callable[[Message], bool]) -> Message:
        """Return the first message that is wanted."""
        while True:
            message = await self.next()
            if is_wanted(message):
                return message

    async def until_end(self) -> Message:
        return await self.until(lambda message: message["t"] == "end")

    async def close_code(self) -> int:
        """Return the code with which the server closed."""
        output = await self._socket.receive_output(REPLY_TIMEOUT_S)
        assert output["type"] == "websocket.close"
        code: int = output["code"]
        return code

    async def close(self) -> None:
        await self._socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._socket.wait(REPLY_TIMEOUT_S)
