"""A dealer deals for the session that names it, once, when it is known who takes part."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.live.stars import offered

from sottovoce.errors import Refused, SealedRefused, UsageError
from sottovoce.live.dealer import check_dealer, deal_key, usual_seconds
from sottovoce.live.member_client import LiveLink, MemberClient
from sottovoce.live.offer import LiveOffer, check_terms
from sottovoce.live.worker import OwnKeys, suite_of
from sottovoce.model import Keyholder
from sottovoce.securesum.committee.keyholder import KeyholderKeys
from sottovoce.securesum.envelope import Ed25519PrivateKey
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.star.terms import SIZES, KeyTerms
from sottovoce.testing import RunningServer, running_server

KEYS = KeyholderKeys(X25519PrivateKey.generate(), Ed25519PrivateKey.generate())
OWN = Keyholder("Library", *KEYS.public)
OTHER = Keyholder("Archive", "A" * 43, "B" * 42 + "A")
DEALT = {"suite": "damgard_jurik", "bits": 1024, "s": 1, "dealer": OWN.as_json()}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


def test_the_session_must_name_this_dealer() -> None:
    assert check_dealer(offered(**DEALT), OWN).bits == 1024
    with pytest.raises(UsageError, match="names another dealer"):
        check_dealer(offered(**DEALT), OTHER)


def test_a_session_without_a_key_needs_no_dealer() -> None:
    with pytest.raises(UsageError, match="needs no dealer"):
        check_dealer(offered(), OWN)


@pytest.mark.parametrize("state", ["running", "done", "aborted"])
def test_nothing_is_dealt_twice_or_too_late(state: str) -> None:
    with pytest.raises(UsageError, match=f"it is {state}"):
        check_dealer(offered(**DEALT, state=state), OWN)


@pytest.mark.parametrize("bits", SIZES)
def test_how_long_a_key_may_take_is_known_for_every_size(bits: int) -> None:
    assert usual_seconds(KeyTerms(bits, OWN)) > 0


def gathered(
    server: RunningServer,
) -> tuple[str, list[tuple[MemberClient, OwnKeys, int]], LiveLink]:
    """A session whose workers have all joined: its identifier, they, and the dealer's link."""
    made = server.requester.live.create(
        "Leaves", ("t0", "t1"), ("no", "yes"), workers=3, suite="damgard_jurik", mode="log_odds",
        bits=1024, dealer=OWN,
    )  # fmt: skip
    joined = []
    for link in made["links"]:
        line, keys = MemberClient(LiveLink.parse(link), patience=10.0), OwnKeys.fresh()
        own = keys.member(1)
        reply = line.post("/join", {"signing": own.signing, "sealing": own.sealing})
        joined.append((line, keys, int(reply["number"])))
    assert made["dealer_link"] is not None
    return made["id"], joined, LiveLink.parse(made["dealer_link"])


def offer_of(line: MemberClient) -> LiveOffer:
    return LiveOffer.parse(line.link, line.offer())


def test_every_worker_gets_a_share_that_it_can_verify(server: RunningServer) -> None:
    id, joined, link = gathered(server)
    told: list[str] = []
    with MemberClient(link, patience=10.0) as line:
        deal_key(line, offer_of(line), KEYS, told.append)
        assert server.requester.live.show(id)["state"] == "running"
        with pytest.raises(Refused, match="another key"):  # a key is dealt once
            deal_key(line, offer_of(line), KEYS, told.append)
    assert told[1] == "3 workers take part; making the key"
    for worker, keys, number in joined:
        with worker:
            found = worker.terms()
            terms, _ = check_terms(found["terms"], offer_of(worker), keys.member(number))
            assert suite_of(terms, number, keys, found["deal"]).first == "commit"
            with pytest.raises(SealedRefused, match="the dealer: the share was not sealed to"):
                suite_of(terms, number, OwnKeys.fresh(), found["deal"])
            with pytest.raises(SealedRefused, match="the server: it sent no dealt key"):
                suite_of(terms, number, keys, None)


def test_a_dealer_waits_until_it_is_known_who_takes_part(server: RunningServer) -> None:
    made = server.requester.live.create(
        "Leaves", ("t0",), ("no", "yes"), workers=3, suite="damgard_jurik", mode="log_odds",
        bits=1024, dealer=OWN,
    )  # fmt: skip
    link = LiveLink.parse(str(made["dealer_link"]))
    told: list[str] = []
    with MemberClient(link, patience=10.0) as line, ThreadPoolExecutor(1) as pool:
        dealing = pool.submit(deal_key, line, offer_of(line), KEYS, told.append)
        server.requester.live.stop(made["id"])
        with pytest.raises(Refused):
            dealing.result(30)
    assert told == ["waiting for the workers to join"]


def test_a_server_that_changed_the_terms_gets_no_key(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, joined, link = gathered(server)
    fetch = MemberClient.terms

    def lying(line: MemberClient) -> Any:
        document = fetch(line)
        return {**document, "terms": {**document["terms"], "minimum": 3, "threshold": 2}}

    monkeypatch.setattr(MemberClient, "terms", lying)
    with MemberClient(link, patience=10.0) as line:
        with pytest.raises(SealedRefused, match=r"the server: .*another number of workers"):
            deal_key(line, offer_of(line), KEYS, lambda _: None)
    for worker, *_ in joined:
        worker.close()
