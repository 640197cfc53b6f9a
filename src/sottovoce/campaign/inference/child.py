"""The process in which the service infers: it reads the database and changes nothing.

It ends when its parent does, however that ends: then nothing holds the other end of its input.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from dataclasses import asdict
from typing import Any, BinaryIO

from sottovoce.campaign.inference.framing import receive, send
from sottovoce.campaign.inference.remembering import Memory
from sottovoce.stores.database import Database

__all__ = ["main"]

NICENESS = 10
"""Taking reports comes first."""


def main() -> None:
    """Answer what the parent asks, until it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for the server, which then ends this
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    replies = _quietly()
    asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asked), daemon=True).start()
    memory = Memory(Database.at(asked.get()["database"]))
    send(replies, {})  # it listens
    while True:
        fresh = memory.infer(asked.get()["campaign"])
        if fresh is None:
            send(replies, {})
            continue
        found = fresh.found
        header = {
            "sequence": found.sequence,
            "erasures": found.erasures,
            "summary": asdict(found.summary),
        }
        send(replies, header, fresh.content)


def _quietly() -> BinaryIO:
    """The way back to the parent; what anything prints goes nowhere."""
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    return replies


def _listen(stream: BinaryIO, asked: queue.SimpleQueue[dict[str, Any]]) -> None:
    while (message := receive(stream)) is not None:
        asked.put(message[0])
    os._exit(0)
