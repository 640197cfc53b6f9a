"""Child processes of the server: both sides and their messages.

A message is a JSON header and bytes, with their lengths first. A child answers the server's
questions. It ends when its parent ends, even by a crash, because its input then closes.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, Any, BinaryIO, TypeAlias

_LENGTHS = struct.Struct(">II")

NICENESS = 10
"""Accepting reports has priority."""

Handler: TypeAlias = Callable[[dict[str, Any]], tuple[dict[str, Any], bytes]]
"""Maps a question to a header and bytes."""

_BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from importlib import import_module; import_module(sys.argv[2]).main()"
)
"""As in `multiprocessing`, but without the parent's main module, which could be any program."""


def send(stream: IO[bytes], header: dict[str, Any], content: bytes = b"") -> None:
    """Write one message."""
    text = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(text), len(content)) + text + content)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message; None if the other side has ended.

    >>> import io
    >>> stream = io.BytesIO()
    >>> send(stream, {"campaign": "leaf"}, b"abc")
    >>> _ = stream.seek(0)
    >>> receive(stream), receive(stream)
    (({'campaign': 'leaf'}, b'abc'), None)
    """
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    text, content = (stream.read(length) for length in _LENGTHS.unpack(lengths))
    try:
        header: dict[str, Any] = json.loads(text)
    except ValueError:
        return None  # it ended within a message
    return header, content


def answer_all(ready: Callable[[dict[str, Any]], Handler]) -> None:
    """Answer every question with the function that `ready` makes from the settings, sent first."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the signal is for the server, which then ends this process
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    replies = _quietly()
    asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asked), daemon=True).start()
    answer = ready(asked.get())
    send(replies, {})  # ready for questions
    while True:
        send(replies, *answer(asked.get()))


def _quietly() -> BinaryIO:
    """The output to the parent; printed text is discarded."""
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    return replies


def _listen(stream: BinaryIO, asked: queue.SimpleQueue[dict[str, Any]]) -> None:
    while (message := receive(stream)) is not None:
        asked.put(message[0])
    os._exit(0)


class ChildEnded(Exception):  # noqa: N818 - reads as the fact it states
    """The child has ended without an answer."""


class ChildProcess:
    """A process that runs a module's `main` and answers, one question at a time.

    It starts with the first question, and again after it has ended. `settings` are sent over the
    pipe: everyone on the machine could read a password in an argument.
    """

    def __init__(self, module: str, settings: dict[str, Any]) -> None:
        self._module, self._settings = module, settings
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process identifier, while the process runs."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process unless it runs, and wait until it is ready."""
        with self._lock:
            if self._closed:
                raise ChildEnded
            if self._process is not None:
                return
            self._process = _started(self._module)
        self._answer(self._settings)

    def ask(self, message: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """The answer to a question; starts the process if necessary."""
        self.start()
        return self._answer(message)

    def stop(self) -> None:
        """End the process at once: it changes nothing. From any thread."""
        with self._lock:
            self._closed, process = True, self._process
        if process is not None:
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the process and close its pipes, once nobody waits for an answer."""
        self.stop()
        if self._process is not None:
            self._end(self._process)

    def _answer(self, message: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise ChildEnded
        try:
            send(process.stdin, message)
            answer = receive(process.stdout)
        except OSError:  # a broken pipe
            answer = None
        if answer is None:
            self._end(process)
            raise ChildEnded
        return answer

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:  # unwritten data
                continue
        with self._lock:
            self._process = None


def _started(module: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this interpreter, our own module
        [sys.executable, "-c", _BEGIN, json.dumps(sys.path), module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
