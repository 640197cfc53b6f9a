"""A process that has imported everything and forks commands: run by the tests as a program.

A command that is forked is the same process as one that was started, without the second or two that
Python needs to import the server. Reads a request a line, answers a line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

import typer.main

from sottovoce.cli import main
from sottovoce.cli.app import app

IMPORTED = (
    "sottovoce.api",
    "sottovoce.live.server.replica",
    "sottovoce.cli.worker_processes",
    "sottovoce.datasets",
    "sottovoce.inference.noise_aware.registry",
    "sottovoce.live.dealer",
    "sottovoce.keyholder.seat",
    "sottovoce.keyholder.seat",
    "sottovoce.mechanisms.audit",
    "sottovoce.requester.client",
    "sottovoce.server.web.http_server",
    "sottovoce.worker.client",
    "sottovoce.live.worker",
    "sottovoce.server.database.integrity",
    "sottovoce.server.database.backup",
    "anyio._backends._asyncio",
    "certifi",
    "h11",
    "typer.rich_utils",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
)
"""Modules that a server and the commands would import again."""

RUNNING: set[int] = set()
"""Commands whose end nobody has asked for."""


def command(
    arguments: list[str], out: str, log: str, environment: dict[str, str], source: str, folder: str
) -> NoReturn:
    """What `sottovoce` does with these arguments, in this process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for place, file in ((0, os.open(source, os.O_RDONLY)), (1, _opened(out)), (2, _opened(log))):
        os.dup2(file, place)
    os.closerange(3, 64)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["sottovoce", *arguments]
    if hooks := environment.get("TESTS_HOOKS"):  # a module beside this one
        import_module(hooks).install()
    code: Any = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        code = 99
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)


def _opened(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def answer(request: dict[str, Any]) -> int | None:
    """The number of a new process; or how an earlier one ended, None while it runs."""
    if "ended" not in request:
        number = os.fork()
        if number == 0:
            command(**request)
        RUNNING.add(number)
        return number
    number, status = os.waitpid(request["ended"], os.WNOHANG)
    RUNNING.discard(number)
    return None if number == 0 else os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in IMPORTED:
        import_module(module)
    # Typer would make all commands anew in each fork, which takes a tenth of a second.
    vars(typer.main)["get_command"] = cache(typer.main.get_command)
    typer.main.get_command(app)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()
    for left in RUNNING:  # whoever asked has gone, perhaps without a word
        os.kill(left, signal.SIGKILL)
