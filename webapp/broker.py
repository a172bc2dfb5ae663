"""The embedded broker: kombu's filesystem transport, made safe for processes that race.

kombu's own creates a message's file before it fills it and takes it through the system's
temporary folder, so a quick reader can meet half a message. Here both ends are renames. There is
one queue, bound to the exchange of its own name, so no table of bindings is kept.
"""

import json
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import filesystem


class Channel(filesystem.Channel):
    """One message is one file; a file has its name only while it is whole."""

    def get_table(self, exchange: str) -> list[Any]:
        """Return the exchange's one binding."""
        return [filesystem.exchange_queue_t(exchange, "", exchange)]

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        """Do nothing; `get_table` knows."""

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]  # kombu has both names
        folder = Path(self.data_folder_out)
        name = f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        draft = folder / f"{name}.draft"
        draft.write_text(json.dumps(payload))
        draft.rename(folder / name)

    def _get(self, queue: str, timeout: Any = None) -> Any:
        folder = Path(self.data_folder_in)
        for name in sorted(entry for entry in os.listdir(folder) if entry.endswith(f".{queue}.msg")):
            taken = Path(self.processed_folder) / name
            try:
                (folder / name).rename(taken)
            except FileNotFoundError:  # another worker was quicker
                continue
            payload = taken.read_text()
            taken.unlink()
            return json.loads(payload)
        raise Empty


class Transport(filesystem.Transport):
    """What `CELERY_BROKER_TRANSPORT` names."""

    Channel = Channel
