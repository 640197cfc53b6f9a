"""Faults of a worker of a live session: tests run this in its process before the command.

`TESTS_PLACE` is the worker's place in the crowd, counted from 1: workers join in this order, for
which each leaves a file in the folder `TESTS_FOLDER`. `TESTS_FATE` says at which turn what happens:
"1/share die" ends the process when it is handed that turn, as a power cut would; "1/share wait"
leaves the file `reached` and goes on when there is a file `go`. Every reply gets a line in the file
`said-PLACE`: its place in the session, and hashes of what it says there and of the whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import struct
import time
from pathlib import Path
from typing import Any

from sottovoce.live.member_client import MemberClient
from sottovoce.securesum.star.worker import WorkerSession


def text_of(frame: bytes) -> dict[str, Any]:
    """The signed text of a frame: place and fields, unchecked."""
    (length,) = struct.unpack_from("<I", frame, 64)
    return dict(json.loads(frame[68 : 68 + length]))


def wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.01)


def meet(fate: str, turn: bytes, folder: Path) -> None:
    """Do what is to happen at this turn, if anything."""
    at, what = fate.split(" ")
    text = text_of(turn)
    if at != f"{text['round']}/{text['phase']}":
        return
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / "reached").touch()
    wait_for(folder / "go")


def note(file: Path, reply: bytes) -> None:
    text = text_of(reply)
    content = json.dumps([text["fields"], text["payload"]]).encode()
    hashes = [hashlib.sha256(each).hexdigest() for each in (content, reply)]
    with file.open("a", encoding="ascii") as said:
        said.write(json.dumps([text["round"], text["phase"], text["step"], *hashes]) + "\n")


def install() -> None:
    """From now on every turn is looked at before it is answered, and joining waits for others."""
    place, folder = int(os.environ["TESTS_PLACE"]), Path(os.environ["TESTS_FOLDER"])
    fate, answer, post = os.environ.get("TESTS_FATE"), WorkerSession.on, MemberClient.post

    def on(session: WorkerSession, turn: bytes) -> bytes | None:
        if fate:
            meet(fate, turn, folder)
        reply = answer(session, turn)
        if reply is not None:
            note(folder / f"said-{place}", reply)
        return reply

    def in_order(line: MemberClient, path: str, document: Any) -> Any:
        if place > 1:
            wait_for(folder / f"joined-{place - 1}")
        reply = post(line, path, document)
        (folder / f"joined-{place}").touch()
        return reply

    vars_of = {WorkerSession: ("on", on), MemberClient: ("post", in_order)}
    for changed, (name, function) in vars_of.items():
        setattr(changed, name, function)
