"""Processes that spend, race and die: run by the tests as a program, which prints what it saw.

It forks, so that a child is in the middle of its work within a millisecond.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from sottovoce.errors import BudgetExceeded, LedgerUnwritable
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Unit
from sottovoce.worker import Answer, Budget, Ledger, SystemRandomness, respond

POLICY = make_policy(
    Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0, answers=1 << 20)
)


def respond_once(ledger: Ledger, task: str, requester: str = "museum") -> None:
    respond(
        [Answer(task, "yes")], POLICY, ledger, SystemRandomness(), requester=requester, worker="ada"
    )


def child(work: Callable[[], None]) -> int:
    """A process of its own that never returns into its parent's program."""
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(0)
    return process


def drained(pipe: int) -> int:
    """How many bytes come out of a pipe until all its writers are gone."""
    with open(pipe, "rb") as file:
        return len(file.read())


def killed_at_random(path: str, rounds: int) -> list[dict[str, Any]]:
    """In each round a process responds again and again until it is killed."""
    chance = random.Random(11)  # noqa: S311 - decides when to kill, nothing else
    budget = Budget(worker_epsilon=1e6)
    Ledger(path, budget)
    seen = []
    for number in range(rounds):
        before = len(Ledger(path, budget))
        acknowledged, tell = os.pipe()

        def work(number: int = number, tell: int = tell) -> None:
            ledger = Ledger(path, budget)
            for i in range(1 << 20):
                respond_once(ledger, f"round {number} task {i}")
                os.write(tell, b".")

        process = child(work)
        os.close(tell)
        time.sleep(chance.uniform(0, 0.06))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        told = drained(acknowledged)
        ledger = Ledger(path, budget)
        seen.append(
            {
                "acknowledged": told,
                "booked": len(ledger) - before,
                "entries": len(ledger),
                "spent": ledger.spent(Unit.WORKER).epsilon,
            }
        )
    return seen


def killed_within(path: str, call: str, number: int, fraction: float) -> dict[str, Any]:
    """A process dies within its nth call of `os.write` or `os.fsync`, part of which is done."""
    budget = Budget(worker_epsilon=1e6)
    ledger = Ledger(path, budget)
    respond_once(ledger, "before")
    real: Callable[..., Any] = getattr(os, call)
    calls = 0

    def dying(file: int, *content: bytes) -> Any:
        nonlocal calls
        calls += 1
        if calls < number:
            return real(file, *content)
        if content:
            real(file, content[0][: round(len(content[0]) * fraction)])
        elif fraction:
            real(file)
        os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        setattr(os, call, dying)
        respond_once(ledger, "torn")

    _, status = os.waitpid(child(work), 0)
    after = Ledger(path, budget)
    booked = len(after)
    respond_once(after, "after")
    return {
        "killed": os.WIFSIGNALED(status),
        "booked": booked,
        "torn": after.torn,
        "then": len(Ledger(path, budget)),
    }


def race(path: str, processes: int, tries: int, epsilon: float) -> dict[str, Any]:
    """Processes respond at the same time until the budget or their tries are used up."""
    budget = Budget(worker_epsilon=epsilon)
    acknowledged, tell = os.pipe()

    def work(name: int) -> None:
        ledger = Ledger(path, budget)
        for i in range(tries):
            respond_once(ledger, f"process {name} task {i}")
            os.write(tell, b".")

    children = []
    for name in range(processes):
        children.append(child(lambda name=name: quietly(work, name)))  # type: ignore[misc]
    os.close(tell)
    for process in children:
        os.waitpid(process, 0)
    told = drained(acknowledged)
    ledger = Ledger(path, budget)
    return {
        "acknowledged": told,
        "booked": len(ledger),
        "spent": ledger.spent(Unit.WORKER).epsilon,
        "torn": ledger.torn,
    }


def quietly(work: Callable[[int], None], name: int) -> None:
    """Work until an overspend is refused; any other error is left to be seen."""
    try:
        work(name)
    except BudgetExceeded:
        return
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")


def full_disk(path: str) -> dict[str, Any]:
    """A process may make no file longer than the ledger and a little more."""
    import resource  # which only POSIX systems have

    budget = Budget(worker_epsilon=1e6)
    ledger = Ledger(path, budget)
    respond_once(ledger, "before")
    size = os.path.getsize(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
    try:
        respond_once(ledger, "too much")
        said = ""
    except LedgerUnwritable as error:
        said = str(error)
    left = os.path.getsize(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    respond_once(ledger, "too much")
    return {"said": said, "grown": left - size, "entries": len(ledger), "torn": ledger.torn}


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    function = globals()[request.pop("run")]
    sys.stdout.write(json.dumps(function(**request)))
