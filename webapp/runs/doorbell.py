"""The doorbell: tells consumers that something new is stored; a lost bell costs two seconds.

With Redis, `ring` sends to the run's group in the channel layer, at most every 20 ms a run, from
one event-loop thread of its own that starts on first use, so after any fork. Without Redis there
is nothing to ring: each ASGI process watches SQLite's `data_version`, which changes with every
commit of another connection.
"""

import asyncio
import logging
import os
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connection

logger = logging.getLogger(__name__)

RING_INTERVAL_S = 0.02
WATCH_INTERVAL_S = 0.015
POLL_INTERVAL_S = 0.25
"""Wake-ups of a server database without Redis, which nothing announces."""


def group_name(run_id: UUID) -> str:
    """Return the channel layer's group of a run."""
    return f"run.{run_id}"


def ring(run_id: UUID) -> None:
    """Announce that the run has changed; never waits and never fails."""
    if not settings.EMBEDDED:
        _ringer().ring(run_id)


class _Ringer:
    """Sends bells from one event loop in one thread; a connection is opened once, not a call."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._resting: set[UUID] = set()
        self._asked: set[UUID] = set()
        threading.Thread(target=self._loop.run_forever, name="doorbell", daemon=True).start()

    def ring(self, run_id: UUID) -> None:
        """Ring soon, from any thread."""
        self._loop.call_soon_threadsafe(self._on_asked, run_id)

    def _on_asked(self, run_id: UUID) -> None:
        if run_id in self._resting:
            self._asked.add(run_id)
            return
        self._resting.add(run_id)
        task = self._loop.create_task(self._send(run_id))
        task.add_done_callback(lambda _: self._loop.call_later(RING_INTERVAL_S, self._on_rested, run_id))

    def _on_rested(self, run_id: UUID) -> None:
        self._resting.discard(run_id)
        if run_id in self._asked:
            self._asked.discard(run_id)
            self._on_asked(run_id)

    async def _send(self, run_id: UUID) -> None:
        try:
            await get_channel_layer().group_send(group_name(run_id), {"type": "run.bell", "run": str(run_id)})
        except Exception as error:  # Redis away: consumers time out and read by themselves
            logger.warning("no bell run_id=%s: %s", run_id, error)


_ringer_of_process: _Ringer | None = None
_ringer_lock = threading.Lock()


def _ringer() -> _Ringer:
    global _ringer_of_process
    with _ringer_lock:
        if _ringer_of_process is None or _ringer_of_process.pid != os.getpid():
            _ringer_of_process = _Ringer()
        return _ringer_of_process


class _Watch:
    """One task of an event loop that sets every listener's event when the database has changed."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listening(self, wake: asyncio.Event) -> AsyncIterator[None]:
        """Set `wake` after each change until the block ends."""
        self._listeners.add(wake)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self._listeners.discard(wake)

    async def _run(self) -> None:
        """Watch until nobody listens; where nothing can be watched, wake everybody at a slower pace."""
        reader = await asyncio.to_thread(_reader)
        try:
            seen = -1
            while self._listeners:
                await asyncio.sleep(WATCH_INTERVAL_S if reader else POLL_INTERVAL_S)
                version = seen + 1
                if reader:
                    try:
                        version = await asyncio.to_thread(_data_version, reader)
                    except sqlite3.Error as error:
                        logger.warning("the database cannot be watched: %s", error)
                        reader.close()
                        reader = None
                if version != seen:
                    seen = version
                    for wake in self._listeners:
                        wake.set()
        finally:
            if reader:
                reader.close()


def _reader() -> sqlite3.Connection | None:
    """Return a connection of its own to the SQLite file; None if the database is another or cannot be opened."""
    if connection.vendor != "sqlite":
        return None
    name = str(connection.settings_dict["NAME"])
    try:
        return sqlite3.connect(name, uri=name.startswith("file:"), check_same_thread=False, isolation_level=None)
    except sqlite3.Error as error:
        logger.warning("the database cannot be watched: %s", error)
        return None


def _data_version(reader: sqlite3.Connection) -> int:
    version: int = reader.execute("PRAGMA data_version").fetchone()[0]
    return version


_watches: dict[asyncio.AbstractEventLoop, _Watch] = {}


@asynccontextmanager
async def listening(run_id: UUID, channel_name: str | None, wake: asyncio.Event) -> AsyncIterator[None]:
    """Have `wake` set, or the consumer's `run_bell` called, when the run changes.

    Parameters
    ----------
    run_id : UUID
        Run to listen to.
    channel_name : str or None
        The consumer's channel in the channel layer; None where there is no layer.
    wake : asyncio.Event
        Event to set where there is no layer.
    """
    layer: Any = get_channel_layer()
    if layer is None or channel_name is None:
        loop = asyncio.get_running_loop()
        for closed in [known for known in _watches if known.is_closed()]:
            del _watches[closed]
        async with _watches.setdefault(loop, _Watch()).listening(wake):
            yield
        return
    await layer.group_add(group_name(run_id), channel_name)
    try:
        yield
    finally:
        await layer.group_discard(group_name(run_id), channel_name)
