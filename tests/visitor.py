"""Somebody with a browser's cookies: pages and REST by HTTP, live runs by the socket."""

import json
import secrets
import time
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from webapp.engine import decode

REPLY_TIMEOUT_S = 60.0
"""How long something that must happen may take on a busy machine."""
Message = dict[str, Any]


class Visitor:
    """A session on a running site."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.cookies: dict[str, str] = {"boba_csrf": secrets.token_hex(16)}

    def sign_in(self, login_path: str) -> None:
        """Use a one-time link; keeps the session's cookies."""
        jar = CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        opener.open(self.base_url + login_path, timeout=REPLY_TIMEOUT_S).read()
        self.cookies.update({cookie.name: cookie.value or "" for cookie in jar})
        assert "boba_session" in self.cookies, "the login link did not sign in"

    @property
    def cookie_header(self) -> str:
        """Return the session as the value of a Cookie header."""
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def get(self, path: str) -> bytes:
        """Return the body of a page or of an answer."""
        return self._open(urllib.request.Request(self.base_url + path))

    def post(self, path: str, body: Any) -> Any:
        """Return the JSON that answers a JSON body."""
        request = urllib.request.Request(self.base_url + path, data=json.dumps(body).encode(), method="POST")
        request.add_header("Content-Type", "application/json")
        request.add_header("X-CSRFToken", self.cookies["boba_csrf"])
        return json.loads(self._open(request))

    def _open(self, request: urllib.request.Request) -> bytes:
        request.add_header("Cookie", self.cookie_header)
        with urllib.request.urlopen(request, timeout=REPLY_TIMEOUT_S) as response:
            body: bytes = response.read()
            return body

    def start_run(self, document: Any, pace: float | None = None) -> str:
        """Return the id of a new run of a document."""
        run = self.post("/api/v1/runs", {"document": document, "pace": pace if pace is not None else "max"})
        run_id: str = run["id"]
        return run_id

    def run(self, run_id: str) -> Message:
        """Return what REST says of a run."""
        data: Message = json.loads(self.get(f"/api/v1/runs/{run_id}"))
        return data

    def result(self, run_id: str) -> bytes:
        """Return the bytes of a run's result."""
        return self.get(f"/api/v1/runs/{run_id}/result")

    def await_run(self, run_id: str, *statuses: str) -> Message:
        """Return the run once it has one of the statuses."""
        deadline_s = time.monotonic() + REPLY_TIMEOUT_S
        while (run := self.run(run_id))["status"] not in statuses:
            assert time.monotonic() < deadline_s, f"the run stays {run['status']}"
            time.sleep(0.05)
        return run

    def socket(self) -> ClientConnection:
        """Return an open socket."""
        return connect(
            f"{self.base_url.replace('http', 'ws', 1)}/ws/runs/",
            origin=self.base_url,  # type: ignore[arg-type]  # a plain string in all but name
            additional_headers={"Cookie": self.cookie_header},
            max_size=None,
            open_timeout=REPLY_TIMEOUT_S,
        )


class Follower:
    """A page that follows one run to its end, connecting again whenever the socket breaks."""

    def __init__(self, visitor: Visitor, run_id: str) -> None:
        self._visitor = visitor
        self._run_id = run_id
        self.frames: list[bytes] = []
        self.seqs: list[int] = []
        self.end: Message | None = None
        self.num_connections = 0

    def messages(self) -> Iterator[Message]:
        """Yield every message until the end; of a frame its header, with `t` "frame"."""
        deadline_s = time.monotonic() + 2 * REPLY_TIMEOUT_S
        while self.end is None:
            assert time.monotonic() < deadline_s, f"no end after chunk {self.seqs[-1:]}"
            try:
                with self._visitor.socket() as socket:
                    self.num_connections += 1
                    after = self.seqs[-1] if self.seqs else 0
                    socket.send(json.dumps({"t": "sub", "run": self._run_id, "after": after}))
                    while self.end is None:
                        yield self._received(socket.recv(timeout=REPLY_TIMEOUT_S))
            except (ConnectionClosed, OSError):
                time.sleep(0.1)

    def until_end(self) -> Message:
        """Follow to the end and return its message."""
        for _ in self.messages():
            pass
        assert self.end is not None
        return self.end

    def columns(self) -> dict[str, bytes]:
        """Return every segment's columns in the order received, each scope and column as one string of bytes."""
        parts: dict[str, list[bytes]] = {}
        for frame in self.frames:
            header, columns = decode(frame)
            for name, column in columns.items():
                parts.setdefault(f"{header['scope']}.{name}", []).append(column.tobytes())
        return {name: b"".join(pieces) for name, pieces in parts.items()}

    def _received(self, data: str | bytes) -> Message:
        if isinstance(data, bytes):
            header, _ = decode(data)
            self.frames.append(data)
            self.seqs.append(header["seq"])
            return {"t": "frame", **header}
        message: Message = json.loads(data)
        assert message["t"] not in ("err", "gap"), message
        if message["t"] == "end":
            self.end = message
        return message
