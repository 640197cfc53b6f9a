"""Terms that are not what was offered are refused, whatever differs, and the server is named."""

from __future__ import annotations

from typing import Any

import pytest
from tests.live.stars import LABELS, LINK, TASKS, agreed, offer_document, offered, purpose

from sottovoce.errors import SealedRefused, Unreachable
from sottovoce.live.offer import LiveOffer, check_terms
from sottovoce.live.worker import OwnKeys
from sottovoce.model import Keyholder
from sottovoce.securesum.em.terms import Mode
from sottovoce.securesum.envelope import Ed25519PrivateKey, public_text
from sottovoce.securesum.star.terms import KeyTerms, Suite

KEYS = [OwnKeys.fresh() for _ in range(4)]
DEALER = Keyholder("Library", "A" * 43, "B" * 42 + "A")
OTHER = Keyholder("Archive", "C" * 42 + "A", "A" * 43)
DEALT = {"suite": "damgard_jurik", "bits": 2048, "s": 1, "dealer": DEALER.as_json()}


def test_an_honest_server_s_terms_are_agreed_to() -> None:
    terms, about = check_terms(agreed(KEYS).as_json(), offered(), KEYS[1].member(2))
    assert (terms.size, terms.threshold, about.tasks) == (4, 4, TASKS)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "oak11"}, "another session"),
        ({"coordinator": public_text(Ed25519PrivateKey.generate())}, "another key signs"),
        ({"threshold": 3, "minimum": 3}, "another number of workers"),
        ({"threshold": 3}, "another number of workers"),
        ({"suite": Suite.DAMGARD_JURIK, "key": KeyTerms(2048, DEALER)}, "another suite seals"),
    ],
)
def test_other_terms_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SealedRefused, match=words) as caught:
        check_terms(agreed(KEYS, **changes).as_json(), offered())
    assert caught.value.culprit == "the server"


def test_what_are_no_terms_at_all_is_refused() -> None:
    with pytest.raises(SealedRefused, match="a session needs 3 to"):
        check_terms({**agreed(KEYS).as_json(), "members": []}, offered())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mode": Mode.AS_PUBLISHED}, "other sums are opened"),
        ({"scale": 10**10}, "the scale or the number of rounds"),
        ({"rounds": 50}, "number of rounds"),
        ({"repeats": 2}, "more than once"),
        ({"tasks": ("t0", "t1", "t9")}, "other tasks"),
        ({"labels": ("yes", "no")}, "other tasks or labels"),
    ],
)
def test_another_purpose_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SealedRefused, match=words):
        check_terms(agreed(KEYS, purpose(**changes)).as_json(), offered())


def test_another_dealer_or_a_shorter_key_is_refused() -> None:
    offer = offered(**DEALT)
    for key in (KeyTerms(2048, OTHER), KeyTerms(1024, DEALER)):
        terms = agreed(KEYS, suite=Suite.DAMGARD_JURIK, key=key)
        with pytest.raises(SealedRefused, match="the key or its dealer is another one"):
            check_terms(terms.as_json(), offer)


def test_a_worker_whose_keys_are_in_another_place_or_in_none_refuses() -> None:
    document = agreed(KEYS).as_json()
    for own in (KEYS[0].member(2), OwnKeys.fresh().member(1)):
        with pytest.raises(SealedRefused, match="own keys"):
            check_terms(document, offered(), own)


def test_more_members_than_were_to_be_invited_are_refused() -> None:
    keys = [*KEYS, OwnKeys.fresh()]
    with pytest.raises(SealedRefused, match="5 workers, but 4 were"):
        check_terms(agreed(keys, threshold=4, minimum=4).as_json(), offered())


def test_a_threshold_that_was_offered_is_held_to() -> None:
    offer = offered(threshold=3, minimum=4)
    check_terms(agreed(KEYS, threshold=3, minimum=4).as_json(), offer)
    with pytest.raises(SealedRefused, match="another number"):
        check_terms(agreed(KEYS, threshold=3, minimum=3).as_json(), offer)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "oak11"},
        {"suite": "committee"},
        {"mode": "noised"},
        {"scale": 1.5},
        {"labels": ["yes"]},
        {"labels": LABELS[:1] * 2},
        {"coordinator": "AAAA"},
        {"suite": "damgard_jurik"},
        {"mode": "noised", "epsilon": -1.0, "delta": 0.0, "weighted_rounds": 0},
        {"tasks": []},
        {"title": 7},
    ],
)
def test_an_offer_that_makes_no_sense_is_none(changes: dict[str, Any]) -> None:
    with pytest.raises(Unreachable, match="is invalid"):
        LiveOffer.parse(LINK, offer_document(**changes))


def test_an_offer_s_quorum_follows_from_how_many_join() -> None:
    assert offered(workers=20).quorum(8) == (6, 6)
    assert offered(workers=20, threshold=14).quorum(20) == (14, 14)
