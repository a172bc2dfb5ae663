"""The socket of a page: follows any number of runs, each from the chunk the page has last.

A follower joins the bell before its first read, then sends what is stored, a few chunks at a time,
awaiting each send, so a slow browser slows down only itself. Chunks are the single source: what a
bell or a restart loses is read again by number.
"""

import asyncio
import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from webapp.runs import doorbell
from webapp.runs.models import Run
from webapp.runs.selectors import chunks_after

logger = logging.getLogger(__name__)

CHUNKS_PER_READ = 8
BELL_TIMEOUT_S = 2.0
MAX_FOLLOWED = 32
MAX_SEQ = 2**62
CLOSE_NOT_SIGNED_IN = 4401
CLOSE_SERVER_ERROR = 1011


class NotVisibleError(Exception):
    """The run does not exist, or not for this user; the two look alike."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run's state, read before the chunks that come with it."""

    status: str
    is_final: bool
    last_seq: int
    pace: float | None
    attempt: int
    chunks: list[tuple[int, bytes]]


def _snapshot(run_id: UUID, user_id: int, seq: int) -> Snapshot:
    """Read state first, chunks second: after a final state no chunk can follow."""
    run = (
        Run.objects.filter(pk=run_id, workspace__memberships__user_id=user_id)
        .only("status", "last_seq", "pace", "attempt")
        .first()
    )
    if run is None:
        raise NotVisibleError
    chunks = chunks_after(run_id=run_id, seq=seq, limit=CHUNKS_PER_READ)
    return Snapshot(run.status, run.is_final, run.last_seq, run.pace, run.attempt, chunks)


class RunsConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """Speaks the protocol of `/ws/runs/`."""

    async def connect(self) -> None:
        """Accept signed-in users."""
        self._followers: dict[UUID, asyncio.Task[None]] = {}
        self._wakes: dict[UUID, asyncio.Event] = {}
        self._user_id = self.scope["user"].pk
        if self._user_id is None:
            await self.close(code=CLOSE_NOT_SIGNED_IN)
            return
        await self.accept()

    async def disconnect(self, code: int) -> None:
        """Stop following."""
        followers = list(self._followers.values())
        for follower in followers:
            follower.cancel()
        await asyncio.gather(*followers, return_exceptions=True)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Handle `sub` and `unsub`; anything else is answered with `err`."""
        try:
            message = json.loads(text_data or "")
            action, run_id = message["t"], UUID(message["run"])
            after = message.get("after", 0)
            if action not in ("sub", "unsub") or type(after) is not int or not 0 <= after <= MAX_SEQ:
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            await self._tell(
                "err", None, message='expected {"t": "sub" or "unsub", "run": run id, "after": chunk number}'
            )
            return
        await self._stop(run_id)
        if action == "unsub":
            return
        if len(self._followers) >= MAX_FOLLOWED:
            await self._tell("err", run_id, message=f"one socket follows at most {MAX_FOLLOWED} runs")
            return
        self._followers[run_id] = asyncio.create_task(self._follow_guarded(run_id, after))

    async def run_bell(self, event: dict[str, Any]) -> None:
        """Wake the follower of the run whose bell rang."""
        wake = self._wakes.get(UUID(event["run"]))
        if wake is not None:
            wake.set()

    async def _tell(self, kind: str, run_id: UUID | None, **fields: Any) -> None:
        await self.send(text_data=json.dumps({"t": kind, "run": str(run_id) if run_id else None, **fields}))

    async def _stop(self, run_id: UUID) -> None:
        follower = self._followers.pop(run_id, None)
        if follower is not None:
            follower.cancel()
            await asyncio.gather(follower, return_exceptions=True)

    async def _follow_guarded(self, run_id: UUID, after: int) -> None:
        """Follow, and let no exception vanish: the client hears of it and reconnects."""
        try:
            await self._follow(run_id, after)
            self._followers.pop(run_id, None)
        except NotVisibleError:
            self._followers.pop(run_id, None)
            await self._tell("err", run_id, message="there is no such run")
        except Exception:
            logger.exception("following failed run_id=%s", run_id)
            with suppress(Exception):  # the browser may be what is gone
                await self._tell("err", run_id, message="the server could not read the run; reconnect to go on")
                await self.close(code=CLOSE_SERVER_ERROR)
        finally:
            self._wakes.pop(run_id, None)

    async def _follow(self, run_id: UUID, cursor: int) -> None:
        wake = self._wakes[run_id] = asyncio.Event()
        read = database_sync_to_async(_snapshot)
        async with doorbell.listening(run_id, getattr(self, "channel_name", None), wake):
            told_status = None
            while True:
                wake.clear()
                now = await read(run_id, self._user_id, cursor)
                if told_status is None:
                    await self._tell(
                        "hello", run_id, status=now.status, last_seq=now.last_seq, pace=now.pace, attempt=now.attempt
                    )
                elif now.status != told_status:
                    await self._tell("status", run_id, status=now.status)
                told_status = now.status
                for seq, frame in now.chunks:
                    if seq > cursor + 1:
                        await self._tell("gap", run_id, after=cursor, next=seq)
                    await self.send(bytes_data=frame)
                    cursor = seq
                if now.chunks:
                    continue
                if now.is_final:
                    if cursor < now.last_seq:
                        await self._tell("gap", run_id, after=cursor, next=now.last_seq + 1)
                    await self._tell("end", run_id, status=now.status, last_seq=now.last_seq)
                    return
                with suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), BELL_TIMEOUT_S)
