"""A live session with a server, every worker and, for a key, a dealer in separate processes."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.api.simulate_private_em import PrivateRun, contributors_of, is_plain, private_run
from sottovoce.cli.console import passes
from sottovoce.cli.worker_processes import cpu, own_command
from sottovoce.errors import SealedAborted, SottovoceError, UsageError
from sottovoce.keyholder.key_file import make_keys
from sottovoce.live.commands.crowd import LiveWorkerOutcome, RehearsedWorker, live_crowd
from sottovoce.live.worker import LiveAnswers
from sottovoce.model import Keyholder, Reports, label_text
from sottovoce.model.sum_rounds import RoundRecord
from sottovoce.securesum.em.simulation import SummedRounds
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.testing.server_process import ServerProcess

if TYPE_CHECKING:
    from sottovoce.live.requester import LiveLinks, LiveView


TITLE = "A rehearsal"
PATIENCE = 600.0
"""Seconds to wait for the dealer's process to end."""


def run_live_processes(
    answers: Reports,
    *,
    suite: str,
    mode: str,
    epsilon: float,
    delta: float | None,
    weighted_rounds: int | None,
    scale: int | None,
    rounds: int | None,
    threshold: int | None,
    bits: int,
    assignments: bool = False,
) -> PrivateRun:
    """Run the private EM over HTTP with the real programs, on a table of answers.

    CPU seconds cover whole processes; for workers, from the fork on.
    """
    asked: dict[str, Any] = {"scale": scale, "rounds": rounds, "threshold": threshold}
    if mode == "noised":
        asked |= {"epsilon": epsilon, "delta": delta, "weighted_rounds": weighted_rounds}
    given, seconds = _answers(answers), dict[str, float]()
    with ExitStack() as stack:
        place = Path(stack.enter_context(TemporaryDirectory(prefix="sottovoce-live-")))
        if suite == "damgard_jurik":
            asked |= {"bits": bits, "dealer": _dealer_keys(place)}
        server = stack.enter_context(ServerProcess(place))
        requester = stack.enter_context(server.requester())
        asked |= {"workers": len(answers.workers), "suite": suite, "mode": mode}
        tasks = [str(task) for task in answers.tasks]
        labels = [label_text(label) for label in answers.domain.labels]
        made = requester.live.create(TITLE, tasks, labels, **asked)
        paired = enumerate(zip(made["links"], given, strict=True))
        workers = [RehearsedWorker(at, link, own) for at, (link, own) in paired]
        crowd = stack.enter_context(live_crowd(workers, place))
        dealer = stack.enter_context(_dealing(place, made))
        with passes("workers take part", visible=True):
            parts = crowd.parts()
        _check_done(requester.live.show(made["id"]), parts)
        seconds["workers"] = sum(part.seconds for part in parts)
        if dealer is not None:
            with cpu(seconds, "dealer"):
                dealer.wait(PATIENCE)
        with cpu(seconds, "server"):
            server.stop()
        terms, records = _opened(server.data, made["id"])
    return _run(answers, terms, suite, records, parts, seconds, assignments=assignments)


def _run(
    answers: Reports,
    terms: EMTerms,
    suite: str,
    records: Sequence[RoundRecord],
    parts: Sequence[LiveWorkerOutcome],
    seconds: Mapping[str, float],
    *,
    assignments: bool,
) -> PrivateRun:
    """The outcome, with workers by their place in the table, not in the order of joining."""
    workers = contributors_of(answers, terms)
    placed = _by_place(records, parts)
    excluded = {number: why for each in placed for number, why in each.excluded.items()}
    same = None  # the noise was drawn in other processes and is unknown here
    if terms.noise is None:
        opened = [record.opened for record in placed]
        given = [
            {number: worker.values(opened[:number]) for number in range(len(opened))}
            for worker in workers
        ]
        same = is_plain(placed, given)
    rounds = SummedRounds(placed, excluded, seconds)
    return private_run(
        answers, terms, suite, rounds, workers, identical=same, assignments=assignments
    )


def _by_place(
    records: Sequence[RoundRecord], parts: Sequence[LiveWorkerOutcome]
) -> tuple[RoundRecord, ...]:
    """The records with worker i + 1 for the worker at place i of the table."""
    places = {part.number: part.place + 1 for part in parts}
    return tuple(
        RoundRecord(
            each.totals,
            tuple(sorted(places[number] for number in each.contributors)),
            {places[number]: why for number, why in each.excluded.items()},
        )
        for each in records
    )


def _answers(answers: Reports) -> list[LiveAnswers]:
    """The answers of each worker, by place."""
    found = []
    for place in range(len(answers.workers)):
        own = answers.worker == place
        task, label = answers.task[own].astype(np.int64), answers.value[own].astype(np.int64)
        if len(np.unique(task)) != len(task):
            raise UsageError("a worker of a live session answers a task once: use --repeats first")
        found.append(LiveAnswers(task, label))
    return found


def _dealer_keys(place: Path) -> Keyholder:
    (place / "passphrase").write_text(secrets.token_urlsafe(24))
    return make_keys(place / "dealer", "dealer", (place / "passphrase").read_text())


def _dealing(place: Path, made: LiveLinks) -> AbstractContextManager[Popen[str] | None]:
    """The dealer's process, which exits after dealing; None if there is no key."""
    if made["dealer_link"] is None:
        return nullcontext()
    arguments = ["sealed", "deal", "-", "--yes", "--folder", str(place / "dealer")]
    arguments += ["--passphrase-file", str(place / "passphrase")]
    return own_command(arguments, place / "dealer.log", f"{made['dealer_link']}\n")


def _check_done(progress: LiveView, parts: Sequence[LiveWorkerOutcome]) -> None:
    if progress["state"] != "done":
        words = [part.state for part in parts if part.number is None]
        raise SealedAborted(progress["reason"] or "".join(words[:1]), progress["culprits"])
    lost = [part for part in parts if part.number is None]
    if lost:
        raise SottovoceError(f"{len(lost):,} workers failed: {lost[0].state}")


def _opened(data: Path, id: str) -> tuple[EMTerms, list[RoundRecord]]:
    """The terms and the record of each round, from the server's database."""
    # Only --processes needs the server's libraries.
    from sottovoce.server.database import Database
    from sottovoce.server.database.live_sessions import rounds_of, the_session

    database = Database.at(data)
    try:
        with database.reading() as connection:
            stored = the_session(connection, id)
            rounds = rounds_of(connection, stored.number)
    finally:
        database.close()
    assert stored.terms is not None  # noqa: S101 - it is done
    return EMTerms.of_json(stored.terms["purpose"]), rounds
