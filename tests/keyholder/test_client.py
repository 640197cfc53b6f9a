"""A keyholder checks a server's replies before it uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.http_client.recorded_server import Reply, problem, speaking
from tests.keyholder.relay import small_session

from sottovoce.errors import Refused, SealedRefused, SottovoceError, Unreachable, UsageError
from sottovoce.keyholder.client import KeyholderClient, KeyholderLink, KeyholderWork
from sottovoce.securesum.committee.messages import WorkKind

SESSION = small_session()
SECRET = "svh_" + "A" * 43
OFFER: dict[str, Any] = {
    "campaign": SESSION.campaign, "policy": SESSION.policy.as_json(),
    "policy_hash": SESSION.policy.hash, "tasks": list(SESSION.names), "seat": 2, "state": "open",
}  # fmt: skip


def asked(reply: Reply, use: Callable[[KeyholderClient], Any]) -> Any:
    with speaking(reply) as server:
        link = KeyholderLink.parse(f"{server.url}/k/{SESSION.campaign}#{SECRET}")
        with KeyholderClient(link, retries=0) as coordinator:
            found = use(coordinator)
            assert server.heard[0][2]["authorization"] == f"Bearer {SECRET}"
            return found


def said(document: Any) -> Reply:
    return Reply(body=json.dumps(document).encode())


def test_a_session_is_what_the_server_offers() -> None:
    session, seat = asked(said(OFFER), KeyholderClient.session)
    assert (session.id, seat) == (SESSION.id, 2)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"policy_hash": "0" * 64}, SealedRefused),
        ({"policy": {**SESSION.policy.as_json(), "promise": None}}, SealedRefused),
        ({"tasks": []}, SealedRefused),
        ({"tasks": [1, 2]}, Unreachable),
        ({"campaign": "other"}, Unreachable),
        ({"seat": None}, Unreachable),
    ],
)
def test_an_offer_that_makes_no_sense_is_refused(
    change: dict[str, Any], error: type[SottovoceError]
) -> None:
    with pytest.raises(error):
        asked(said({**OFFER, **change}), KeyholderClient.session)


def test_work_has_a_kind_and_a_number() -> None:
    reply = said({"work": "check", "number": 3})
    assert asked(reply, lambda each: each.work(0)) == KeyholderWork(WorkKind.CHECK, 3)


@pytest.mark.parametrize(
    "document", [{}, [], {"work": "dance", "number": 1}, {"work": "check", "number": -1}]
)
def test_work_that_makes_no_sense_is_not_done(document: Any) -> None:
    with pytest.raises(Unreachable, match="reply is invalid"):
        asked(said(document), lambda each: each.work(0))


def test_another_message_in_this_seats_name_is_heard_of() -> None:
    with pytest.raises(
        SealedRefused, match="used on another machine, or this folder is an old copy"
    ):
        asked(problem(409, "conflict"), lambda each: each.send(b"{}"))


def test_other_refusals_are_the_servers_words() -> None:
    with pytest.raises(Refused, match="replaced"):
        asked(problem(401, "bad_credential", "replaced"), lambda each: each.send(b"{}"))


@pytest.mark.parametrize(
    "link",
    [
        "https://answers.example/k/leaf0",
        f"https://answers.example/c/leaf0#{SECRET}",
        "https://answers.example/k/leaf0#svi_" + "A" * 43,
        f"http://answers.example/k/leaf0#{SECRET}",
    ],
)
def test_what_is_no_keyholders_link_is_refused_unquoted(link: str) -> None:
    with pytest.raises(UsageError) as refused:
        KeyholderLink.parse(link)
    assert SECRET not in str(refused.value)
