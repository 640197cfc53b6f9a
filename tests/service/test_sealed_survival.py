"""A server that is killed in the middle of a sealed campaign: everything resumes from its rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest
from tests.server.sealed.committees import Holder, OverHttp, cards, sealed_answers
from tests.service.forked_processes import ForkedServer, Forker

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Policy
from sottovoce.requester.client import Requester
from sottovoce.requester.terms import Sealing
from sottovoce.testing import ServerProcess
from sottovoce.testing.server_process import wait_until

TASKS = ("t1", "t2")

Kills: TypeAlias = Callable[[str, int], bool]
"""Whether the power goes after a message of this kind and seat."""


def drafted(requester: Requester) -> tuple[str, str, list[str]]:
    """An open sealed campaign, an invite, and the keyholders' credentials."""
    made = requester.create(
        "Is it an oak?", TASKS, domain=Domain.categorical(["no", "yes"]),
        target=Target(40.0, answers=2), sealed=Sealing(cards(), minimum=3),
    )  # fmt: skip
    id = made["id"]
    requester.open(id, over_budget=True)
    [invite] = requester.invite(id)
    links = requester.keyholder_links(id)
    return id, invite.partition("#")[2], [each["link"].partition("#")[2] for each in links]


def uploaded(server: ServerProcess, policy: Policy, id: str, invite: str, kills: Kills) -> None:
    """A worker's contribution, sent again after a power cut, or simply again."""
    sent = sealed_answers(id, policy, TASKS, (1, 0))
    headers = {"Authorization": f"Bearer {invite}", "Sottovoce-Receipt": sent.receipt}
    path = f"{server.url}/api/v1/campaigns/{id}/reports/{sent.report_id}"
    assert httpx.put(path, content=sent.content, headers=headers).status_code == 201
    if kills("upload", 0):
        server.kill()
        server.start()
    assert httpx.put(path, content=sent.content, headers=headers).status_code == 200


def survive(server: ServerProcess, kills: Kills) -> None:
    """Kill the server after messages, send them again, and go on to the truths."""
    with server.requester() as requester:
        id, invite, credentials = drafted(requester)
        policy = Policy.of_json(requester.campaign(id)["policy"])
        for _ in range(3):
            uploaded(server, policy, id, invite, kills)
        requester.close(id)
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=30) as client:
        holders = [Holder(OverHttp(client, id, each), at) for at, each in enumerate(credentials, 1)]
        wait_until(
            lambda: all([step(server, holder, kills) for holder in holders]), "the opening", 300
        )
    with server.requester() as requester:
        wait_until(lambda: requester.results_page(id)["total"] == len(TASKS), "truths")
        assert [row["truth"] for row in requester.truths(id)] == ["yes", "no"]
        found = requester.rounds(id)
    assert (found["phase"], found["checked"], found["dropped"]) == ("opened", 3, [])


def step(server: ServerProcess, holder: Holder, kills: Kills) -> bool:
    """Do what is next, and again once the server is back; whether nothing is left."""
    kind: str
    kind, number = holder.server.work()
    if kind in ("wait", "done"):
        return kind == "done"
    message = holder.message(kind, number)
    assert holder.server.send(message) is False
    if kills(kind, holder.seat):
        server.kill()
        server.start()
    assert holder.server.send(message) is True
    return False


def test_killed_as_the_last_keyholders_confirm_a_sealed_campaign_is_opened_all_the_same(
    forker: Forker, tmp_path: Path
) -> None:
    with ForkedServer(tmp_path, forker) as server:
        survive(server, lambda kind, seat: (kind, seat) == ("confirm", 3))
    code, said = forker.run("db", "check", "--data", str(server.data), folder=tmp_path)
    assert (code, "is consistent" in said) == (0, True), said


@pytest.mark.slow
def test_killed_after_every_message_it_is_opened_too(forker: Forker, tmp_path: Path) -> None:
    with ForkedServer(tmp_path, forker) as server:
        survive(server, lambda kind, seat: True)


@pytest.mark.slow
def test_killed_in_every_phase_on_postgresql(
    forker: Forker, tmp_path: Path, empty_postgresql: str
) -> None:
    with ForkedServer(tmp_path, forker, database_url=empty_postgresql) as server:
        survive(server, lambda kind, seat: seat == 2)
