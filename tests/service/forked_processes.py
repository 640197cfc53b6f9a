"""Servers and commands without the time that Python needs to start."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from sottovoce.testing.server_process import ServerProcess, Started

PROGRAM = Path(__file__).with_name("fork_server.py")


class Forker:
    """Forks commands from a process that has imported everything."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process, self._lock = process, Lock()

    def start(
        self,
        arguments: Sequence[str],
        out: Path,
        log: Path,
        environment: Mapping[str, str],
        *,
        source: str = os.devnull,
        folder: str | None = None,
    ) -> Forked:
        """`sottovoce` with these arguments, as `ServerProcess` starts it; `source` is its input."""
        request = {
            "arguments": [*arguments], "out": str(out), "log": str(log), "source": source,
            "environment": dict(environment), "folder": folder or str(Path.cwd()),
        }  # fmt: skip
        return Forked(self, self.ask(request))

    def run(self, *arguments: str, folder: Path) -> tuple[int, str]:
        """Run a command to its end: its exit code, and all it says."""
        said = folder / f"said-{time.monotonic_ns()}"
        code = self.start(arguments, said, said, os.environ).wait(60)
        text = said.read_text(encoding="utf-8")
        said.unlink()
        return code, text

    def ask(self, request: dict[str, Any]) -> Any:
        """The program's answer."""
        with self._lock:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())


class Forked(Started):
    """A process that the program forked."""

    def __init__(self, forker: Forker, pid: int) -> None:
        self._forker, self._code = forker, None
        self.pid = pid

    def poll(self) -> int | None:
        if self._code is None:
            self._code = self._forker.ask({"ended": self.pid})
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        end = time.monotonic() + (timeout or 60.0)
        while (code := self.poll()) is None:
            if (left := end - time.monotonic()) < 0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 60.0)
            self._sleep_until_it_ends(left)
        return code

    def _sleep_until_it_ends(self, most: float) -> None:
        """Or, where the system cannot tell, for a moment."""
        if sys.platform != "linux":
            time.sleep(0.002)
            return
        with suppress(ProcessLookupError):  # another thread has asked how it ended
            process = os.pidfd_open(self.pid)
            try:
                ended = select.poll()
                ended.register(process, select.POLLIN)
                ended.poll(most * 1000)
            finally:
                os.close(process)

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@contextmanager
def forking() -> Iterator[Forker]:
    """A forker while the block runs."""
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Forker(process)
        assert process.stdin is not None
        process.stdin.close()


class ForkedServer(ServerProcess):
    """`sottovoce serve` in a process of its own, forked."""

    def __init__(self, folder: Path, forker: Forker, **options: Any) -> None:
        super().__init__(folder, **options)
        self._forker = forker

    def _launched(self, arguments: Sequence[str]) -> Started:
        out = self.folder / "server.out"
        return self._forker.start(arguments, out, self.log, self._environment)
