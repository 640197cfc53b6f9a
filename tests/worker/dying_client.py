"""A client that is killed at a step of its way: run by the tests as a program."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sottovoce.http_client.connection import Connection
from sottovoce.worker.client import Client
from sottovoce.worker.ledger import Ledger
from sottovoce.worker.outbox import Outbox, Parcel, Stage


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(place: type, name: str, *, before: bool, when: Callable[..., bool]) -> None:
    """Make a method the last thing this process does, or the first that it does not do."""
    real = getattr(place, name)

    def wrapped(*arguments: Any, **options: Any) -> Any:
        fatal = when(*arguments)
        if fatal and before:
            die()
        outcome = real(*arguments, **options)
        if fatal:
            die()
        return outcome

    setattr(place, name, wrapped)


def at(stage: Stage) -> Callable[[Outbox, Parcel], bool]:
    return lambda _, parcel: parcel.stage is stage


def always(*_: Any) -> bool:
    return True


STEPS: dict[str, tuple[type, str, bool, Callable[..., bool]]] = {
    "before anything is kept": (Outbox, "put", True, at(Stage.DRAWN)),
    "half-written": (Path, "replace", True, lambda path, _: path.parent.name == "outbox"),
    "drawn": (Outbox, "put", False, at(Stage.DRAWN)),
    "spent": (Ledger, "spend", False, always),
    "booked": (Outbox, "put", False, at(Stage.BOOKED)),
    "sent": (Connection, "put", False, always),
    "acknowledged": (Outbox, "put", False, at(Stage.SENT)),
}


if __name__ == "__main__":
    request = json.loads(sys.stdin.read())
    place, name, before, when = STEPS[request["step"]]
    client = Client(request["link"], folder=request["home"])
    dying(place, name, before=before, when=when)
    client.send(request["answers"])
