"""A real server in its own process, which can be killed; and helpers to wait for it."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol, Self

from sottovoce.errors import SottovoceError, UsageError
from sottovoce.model import Result
from sottovoce.requester.client import Requester

PATIENCE = 60.0
"""Seconds for a server to start, to stop, or to infer."""

_LINK = re.compile(r"https?://\S+/setup#sva_\S{43}", re.ASCII)


def wait_until(happened: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait for a condition, in growing steps; an error if it does not become true.

    >>> wait_until(lambda: True, "nothing")
    >>> wait_until(lambda: False, "rain", patience=0.01)
    Traceback (most recent call last):
    sottovoce.errors.SottovoceError: waited 0.01 seconds for rain, but it did not happen
    """
    end, pause = time.monotonic() + patience, 0.01
    while not happened():
        if time.monotonic() > end:
            raise SottovoceError(f"waited {patience:g} seconds for {what}, but it did not happen")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)


def settled_result(requester: Requester, campaign: str, patience: float = PATIENCE) -> Result:
    """Truths and weights, once they include every received report."""

    def settled() -> bool:
        page = requester.results_page(campaign, limit=1)
        return page["summary"] is not None and page["reports_waiting"] == 0

    wait_until(settled, "results with every report in them", patience)
    return requester.results(campaign)


class Started(Protocol):
    """The part of `subprocess.Popen` that a server process needs."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


class ServerProcess:
    """`sottovoce serve` as operators run it, on a free port of this machine.

    `folder` holds its `data`, its output in `server.out` and its log in `server.log`. After `kill`
    or `stop`, `restart` starts the same server at the same address.

        with ServerProcess(tmp_path) as server:
            requester = server.requester()
            server.kill()
            server.restart()
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        port: int | None = None,
        database_url: str | None = None,
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.port = free_port() if port is None else port
        self.url = f"http://127.0.0.1:{self.port}"
        self._options = [*options]
        self._environment = {**os.environ, **(environment or {})}
        if database_url is not None:  # not on the command line, which others can read
            self._environment["SOTTOVOCE_DATABASE_URL"] = database_url
        self._process: Started | None = None
        self._token: str | None = None

    @property
    def log(self) -> Path:
        """The server's log, over all its starts."""
        return self.folder / "server.log"

    @property
    def pid(self) -> int:
        """The process identifier, if it runs."""
        if self._process is None or self._process.poll() is not None:
            raise UsageError("the server does not run")
        return self._process.pid

    @property
    def token(self) -> str:
        """The requester's token, first made with the link that the server printed."""
        if self._token is None:
            found = _LINK.findall((self.folder / "server.out").read_text(encoding="utf-8"))
            if not found:
                raise UsageError("the server printed no setup link; its folder was used before")
            with Requester.from_setup(found[-1], "testing") as requester:
                self._token = requester.token
        return self._token

    def requester(self) -> Requester:
        """A requester's client for this server."""
        return Requester(self.url, self.token)

    def start(self) -> Self:
        """Start it, and wait until it accepts requests."""
        if self._process is not None and self._process.poll() is None:
            raise UsageError("the server is already running")
        self.folder.mkdir(parents=True, exist_ok=True)
        arguments = ["serve", "--data", str(self.data), "--port", str(self.port), *self._options]
        self._process = self._launched(arguments)
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self.kill()
            raise
        return self

    def restart(self) -> Self:
        """Start the same server again at the same address; stops it first if it runs."""
        self.stop()
        return self.start()

    def kill(self) -> None:
        """End it at once, as a power cut would (SIGKILL)."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> int | None:
        """Stop it cleanly; return its exit code."""
        if self._process is None:
            return None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise SottovoceError(f"the server did not stop within {PATIENCE:g} seconds") from None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            self.kill()

    def _launched(self, arguments: Sequence[str]) -> Started:
        """A new process that runs `sottovoce` with these arguments."""
        with (self.folder / "server.out").open("ab") as out, self.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-m", "sottovoce", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                env=self._environment,
            )

    def _wait_until_ready(self, process: Started) -> None:
        def ready() -> bool:
            if process.poll() is not None:
                raise SottovoceError(f"the server did not start: {self._last_words()}")
            return self._is_ready()

        wait_until(ready, "the server")

    def _is_ready(self) -> bool:
        # Not httpx, which loads certificates first.
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)) as line:
            try:
                line.request("GET", "/readyz")
                return line.getresponse().status == 200
            except (OSError, http.client.HTTPException):
                return False  # not yet

    def _last_words(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[-1] if lines else f"see {self.log}"


def free_port() -> int:
    """A free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
