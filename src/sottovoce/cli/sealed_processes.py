"""A sealed campaign with a server, keyholders and workers in separate processes."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.api.simulate_sealed import SealedRun, sealed_run
from sottovoce.cli.console import passes
from sottovoce.cli.worker_processes import SimulatedWorker, cpu, own_command, run_workers
from sottovoce.errors import SottovoceError
from sottovoce.keyholder.client import KeyholderClient, KeyholderLink
from sottovoce.keyholder.key_file import make_keys, open_keys
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Policy, Reports
from sottovoce.requester.client import Requester
from sottovoce.requester.terms import Sealing
from sottovoce.requester.views import KeyholderLinkView
from sottovoce.securesum.committee.messages import MessageKind, read_message
from sottovoce.securesum.committee.noise import sealed_share, unsealed
from sottovoce.securesum.field import P, total
from sottovoce.securesum.shamir import interpolate
from sottovoce.testing.server_process import ServerProcess, wait_until

Integers: TypeAlias = npt.NDArray[np.int64]

PATIENCE = 600.0
"""Seconds to wait for the opening."""

QUESTION = "A rehearsal"


def run_processes(
    answers: Reports,
    *,
    epsilon: float,
    hide_participation: bool,
    layout: Any,
    keyholders: int,
    colluding: int,
) -> SealedRun:
    """Run a campaign over HTTP with the real programs, on a table of answers.

    CPU seconds cover whole processes, from start to end.
    """
    seconds: dict[str, float] = {}
    target = Target(epsilon, answers=len(answers.tasks), hide_participation=hide_participation)
    with ExitStack() as stack:
        place = Path(stack.enter_context(TemporaryDirectory(prefix="sottovoce-sealed-")))
        passphrase = secrets.token_urlsafe(24)
        (place / "passphrase").write_text(passphrase)
        cards = [
            make_keys(_home(place, seat), f"keyholder {seat}", passphrase)
            for seat in range(1, keyholders + 1)
        ]
        server = stack.enter_context(ServerProcess(place))
        requester = stack.enter_context(server.requester())
        made = requester.create(
            QUESTION,
            [{"task": task, "text": task} for task in map(str, answers.tasks)],
            domain=answers.domain,
            target=target,
            sealed=Sealing(cards, colluding, 2, layout),
        )
        campaign = requester.open(made["id"])["id"]
        links = requester.keyholder_links(campaign)
        served = [stack.enter_context(_serving(place, link)) for link in links]
        with cpu(seconds, "workers"):
            _let_contribute(requester, campaign, answers, place)
        requester.close(campaign)
        _wait_for_opening(requester, campaign, served)
        for seat, process in enumerate(served, 1):
            with cpu(seconds, f"keyholder {seat}"):
                process.wait(PATIENCE)
        totals = _totals(requester, campaign, place, len(answers.tasks))
        noise = _noise(place, links)
        policy = Policy.of_json(made["policy"])
        wait_until(lambda: _is_inferred(requester, campaign), "truths of the sums", PATIENCE)
        result = requester.results(campaign)
        dropped = len(requester.rounds(campaign)["dropped"])
        with cpu(seconds, "server"):
            server.stop()
    return sealed_run(
        answers,
        policy,
        totals,
        noise,
        suite="committee",
        dropped=dropped,
        seconds=seconds,
        result=result,
    )


def _home(place: Path, seat: int) -> Path:
    return place / f"keyholder-{seat}"


def _serving(place: Path, link: KeyholderLinkView) -> AbstractContextManager[Popen[str]]:
    """A keyholder's process, which exits when everything is opened."""
    seat = link["seat"]
    home, passphrase = str(_home(place, seat)), str(place / "passphrase")
    arguments = ["keyholder", "serve", link["link"], "--yes", "--folder", home]
    arguments += ["--passphrase-file", passphrase]
    return own_command(arguments, place / f"keyholder-{seat}.log")


def _let_contribute(requester: Requester, campaign: str, answers: Reports, place: Path) -> None:
    values: list[Any] = answers.value.tolist()
    if not answers.domain.is_numeric:
        values = [answers.domain.labels[code] for code in values]
    given: list[dict[str, Any]] = [{} for _ in answers.workers]
    for worker, task, value in zip(answers.worker, answers.task, values, strict=True):
        given[worker][str(answers.tasks[task])] = value
    links = requester.invite(campaign, "single", len(given))
    workers = [SimulatedWorker(i, link, given[i]) for i, link in enumerate(links)]
    with passes("workers seal and send", visible=True):
        refused = [
            one.refused
            for one in run_workers(workers, place / "workers")
            if one.refused is not None
        ]
    if refused:
        raise SottovoceError(f"{len(refused):,} workers were refused: {refused[0]}")


def _wait_for_opening(requester: Requester, campaign: str, served: Sequence[Popen[str]]) -> None:
    def opened() -> bool:
        rounds = requester.rounds(campaign)
        ended = [seat for seat, process in enumerate(served, 1) if process.poll()]
        if ended:
            raise SottovoceError(f"keyholder {ended[0]} ended unexpectedly: {rounds['problem']}")
        return rounds["phase"] == "opened"

    wait_until(opened, "the keyholders to open the sums", PATIENCE)


def _is_inferred(requester: Requester, campaign: str) -> bool:
    return requester.results_page(campaign, limit=1)["summary"] is not None


def _totals(requester: Requester, campaign: str, place: Path, tasks: int) -> Integers:
    requester.export(campaign, "totals.csv", place / "totals.csv")
    with (place / "totals.csv").open(encoding="utf-8", newline="") as file:
        listed = [int(row["noised_total"]) for row in csv.DictReader(file)]
    return np.array(listed, np.int64).reshape(tasks, -1)


def _noise(place: Path, links: Sequence[KeyholderLinkView]) -> Integers:
    """All noise that was dealt. Only a rehearsal has all the keys to compute it."""
    rows = []
    for link in links:
        keys, _ = open_keys(_home(place, link["seat"]), (place / "passphrase").read_text())
        with KeyholderClient(KeyholderLink.parse(link["link"])) as client:
            session, seat = client.session()
            items = client.batch(0).items
        deals = [
            read_message(session, item, MessageKind.DEAL, carrier="the server") for item in items
        ]
        shares = [
            unsealed(
                session, each, sealed_share(session, each, seat, "the server"), seat, keys.sealing
            )
            for each in deals
        ]
        rows.append(total(np.stack([row for row in shares if row is not None]), axis=0))
    opened = interpolate([link["seat"] for link in links], np.stack(rows))[: session.slots]
    noise = np.where(opened > P // 2, opened.astype(np.int64) - P, opened.astype(np.int64))
    return noise.reshape(len(session.names), -1)
