"""`sottovoce` for consoles, without the second that Python needs to import it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from threading import Thread

from tests.service.forked_processes import Forker

__all__ = ["forked_commands"]

PROGRAM = Path(__file__).with_name("forked_command.py")
PAUSE = 0.01
"""Seconds between two checks whether a command has ended."""


class _Door(ThreadingUnixStreamServer):
    """The address at which a console's commands request their forks."""

    daemon_threads = True

    def __init__(self, path: Path, forker: Forker) -> None:
        super().__init__(str(path), _Asked)
        self.forker = forker


class _Asked(StreamRequestHandler):
    """One command: its process id, and its exit code."""

    server: _Door

    def handle(self) -> None:
        asked = json.loads(self.rfile.readline())
        files = [Path(f"/proc/{asked['pid']}/fd/{number}") for number in range(3)]
        forked = self.server.forker.start(
            asked["arguments"], files[1], files[2], asked["environment"],
            source=str(files[0]), folder=asked["folder"],
        )  # fmt: skip
        self._say(forked.pid)
        while (code := forked.poll()) is None:
            time.sleep(PAUSE)
        self._say(code)

    def _say(self, number: int) -> None:
        self.wfile.write(b"%d\n" % number)


@contextmanager
def forked_commands(folder: Path, forker: Forker) -> Iterator[Path]:
    """A folder for the PATH with a forked `sottovoce` in it."""
    command = folder / "sottovoce"
    command.write_text(f"#!{sys.executable} -IS\n{PROGRAM.read_text(encoding='utf-8')}")
    command.chmod(0o700)
    with _Door(folder / "forker", forker) as door:
        thread = Thread(target=door.serve_forever, kwargs={"poll_interval": PAUSE})
        thread.start()
        yield folder
        door.shutdown()
        thread.join()
