"""A child process's own side: it answers what the server asks, until that goes.

It ends when its parent does, however that ends: then nothing holds the other end of its input.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, TypeAlias

from sottovoce.campaign.processes.framing import receive, send

__all__ = ["Answer", "answer_all"]

NICENESS = 10
"""Taking reports comes first."""

Answer: TypeAlias = Callable[[dict[str, Any]], tuple[dict[str, Any], bytes]]
"""From a question to a header and bytes."""


def answer_all(ready: Callable[[dict[str, Any]], Answer]) -> None:
    """Answer every question with what `ready` makes of the settings, which come first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for the server, which then ends this
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    replies = _quietly()
    asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asked), daemon=True).start()
    answer = ready(asked.get())
    send(replies, {})  # it listens
    while True:
        send(replies, *answer(asked.get()))


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
