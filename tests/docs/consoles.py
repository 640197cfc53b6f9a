"""Console blocks of pages: the commands, and the output that a reader sees.

In a block marked `console`, lines that begin with `$` are commands, and lines that begin with `>`
continue the previous one. All commands of a page run in order, in one bash and one empty folder, so
that variables and files stay. The other lines are output.

`…` in them matches anything, over lines too; in a command it stands for the text that was last
printed after the same word. In a block marked `console random` numbers differ from run to run: any
number matches any other. `sottovoce serve` stays in the background until the page ends, on a free
port that the page shows as 8000.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Self

__all__ = ["Console", "Typed", "matches", "typed_in"]

SERVE = "sottovoce serve"
SERVES = "Ctrl-C stops the server."
"""The last line that a server prints when it starts."""

SHOWN_ADDRESS = "http://127.0.0.1:8000"
PATIENCE = 60.0
"""Seconds for a server to stop."""

_BLOCK = re.compile(r"^```console( random)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"http://127\.0\.0\.1:[0-9]+")
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_UNSAID = re.compile(r"(?:[^\s'\"]+ )?…|[^\s'\"]*…[^\s'\"]*")
_END = "that was all of it"


@dataclass(frozen=True)
class Typed:
    """A command, the lines shown below it, and whether their numbers differ in each run."""

    command: str
    shown: list[str] = field(default_factory=list)
    is_random: bool = False


def typed_in(page: str) -> list[Typed]:
    """All commands of a page."""
    found: list[Typed] = []
    for random, block in _BLOCK.findall(page):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Typed(line[2:], is_random=bool(random)))
            elif line.startswith("> "):
                last = found.pop()
                found.append(Typed(f"{last.command}\n{line[2:]}", is_random=bool(random)))
            else:
                found[-1].shown.append(line)
    return found


def matches(typed: Typed, seen: list[str]) -> bool:
    """Whether the page shows these lines, ignoring layout and `…`."""
    shown, seen = (plain(lines, random=typed.is_random) for lines in (typed.shown, seen))
    pattern = re.sub(r"([*?[])", r"[\1]", "\n".join(shown)).replace("…", "*")
    return fnmatchcase("\n".join(seen), pattern)


def plain(lines: list[str], *, random: bool = False) -> list[str]:
    """Lines without repeated spaces, and without empty or ruled ones."""
    words = (" ".join(line.replace("─", " ").split()) for line in lines)
    return [_NUMBER.sub("0", line) if random else line for line in words if line]


class Console:
    """One bash in one folder, and the servers that were started from it.

    `commands` is the folder in which it finds `sottovoce`.
    """

    def __init__(self, folder: Path, commands: Path) -> None:
        self._folder, self._address = folder, SHOWN_ADDRESS
        self._environment = {
            **{name: value for name, value in os.environ.items() if name not in _OURS},
            "PATH": os.pathsep.join([str(commands), *_OWN_PROGRAMS, os.environ["PATH"]]),
            "SOTTOVOCE_HOME": str(folder / ".home"),
            "SOTTOVOCE_DATA": str(folder / "cache"),
            "SOTTOVOCE_CACHE": str(folder / ".cache"),
            "NO_COLOR": "1",
            "PYTHONUNBUFFERED": "1",
        }
        self._bash = self._started(["bash", "--norc", "-s"], stderr=subprocess.STDOUT)
        self._servers: list[subprocess.Popen[str]] = []
        self._printed = ""

    def run(self, command: str) -> list[str]:
        """The output of a command, with addresses as the page has them."""
        command = _UNSAID.sub(lambda found: self._said_before(found[0]), command)
        command = command.replace(SHOWN_ADDRESS, self._address)
        printed = self._serve(command) if command.startswith(SERVE) else self._typed(command)
        lines = [line.replace(self._address, SHOWN_ADDRESS) for line in printed]
        self._printed += "\n".join(["", *lines])
        return lines

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.send_signal(signal.SIGTERM)
        for process in (*self._servers, self._bash):
            _pipe(process.stdin).close()
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()
                process.wait()
                _pipe(process.stdout).close()

    def _typed(self, command: str) -> list[str]:
        """Questions get no answer; input that is piped into a command is kept."""
        stdin = _pipe(self._bash.stdin)
        stdin.write(f"{{\n{command}\n}} < /dev/null\necho; echo {_END!r}\n")
        stdin.flush()
        lines = [*_until(self._bash, _END)]
        return lines[:-1] if lines and not lines[-1] else lines

    def _serve(self, command: str) -> list[str]:
        with (self._folder / "serve.log").open("a") as log:
            server = self._started([*shlex.split(command), "--port", "0"], stderr=log)
        self._servers.append(server)
        lines = [*_until(server, SERVES), SERVES]
        found = _ADDRESS.search("\n".join(lines))
        self._address = found[0] if found else SHOWN_ADDRESS
        return lines

    def _started(self, command: list[str], stderr: int | IO[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, cwd=self._folder, env=self._environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=stderr, encoding="utf-8",
        )  # fmt: skip

    def _said_before(self, words: str) -> str:
        """The words that were last printed after the same word; unchanged if there were none."""
        pattern = "[-_A-Za-z0-9]+".join(re.escape(part) for part in words.split("…"))
        found = re.findall(pattern, self._printed)
        return str(found[-1]) if found else words


_OWN_PROGRAMS = [str(Path(sys.executable).parent)]
_OURS = {"SOTTOVOCE_URL", "SOTTOVOCE_TOKEN", "SOTTOVOCE_DATABASE_URL"}


def _until(process: subprocess.Popen[str], end: str) -> Iterator[str]:
    for line in _pipe(process.stdout):
        if line.rstrip("\n") == end:
            return
        yield line.rstrip("\n")
    raise AssertionError("it ended before it had printed everything")


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
