"""The server's side of its child process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any

from sottovoce.campaign.inference.fitting import Fresh
from sottovoce.campaign.inference.framing import receive, send
from sottovoce.stores.database import Database
from sottovoce.stores.database.results import Found, Summary

__all__ = ["Child", "Ended"]

_BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from sottovoce.campaign.inference.child import main; main()"
)
"""As `multiprocessing` does it, but without the parent's main module, which may be anybody's."""


class Ended(Exception):  # noqa: N818 - reads as the fact it states
    """The child has ended without an answer."""


class Child:
    """A process that infers; it is started when it is first asked, and again after it has ended."""

    def __init__(self, database: Database) -> None:
        self._url = database.url.render_as_string(hide_password=False)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process's number, while there is one."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process unless it runs, and wait until it listens."""
        with self._lock:
            if self._closed:
                raise Ended
            if self._process is not None:
                return
            self._process = _started()
        # Not as an argument: everybody on the machine could read the password in it.
        self._answer({"database": self._url})

    def infer(self, id: str) -> Fresh | None:
        """A campaign's truths as of now; None when there is no such campaign."""
        self.start()
        header, content = self._answer({"campaign": id})
        if not header:
            return None
        found = Found(header["sequence"], header["erasures"], Summary(**header["summary"]))
        return Fresh(found, content)

    def forget(self, id: str) -> None:
        """Have a deleted campaign's reports forgotten, if any are remembered."""
        if self._process is not None:
            self.infer(id)  # which is not there, and is so noticed

    def stop(self) -> None:
        """End the process, whatever it is doing: it has changed nothing. From any thread."""
        with self._lock:
            self._closed, process = True, self._process
        if process is not None:
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the process and let go of its pipes, once nobody waits for an answer."""
        self.stop()
        if self._process is not None:
            self._end(self._process)

    def _answer(self, message: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise Ended
        try:
            send(process.stdin, message)
            answer = receive(process.stdout)
        except OSError:  # a pipe that broke
            answer = None
        if answer is None:
            self._end(process)
            raise Ended
        return answer

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:  # what was still to be written
                continue
        with self._lock:
            self._process = None


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this interpreter, our own module
        [sys.executable, "-c", _BEGIN, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
