"""Links, who may join by them, and what a session may be asked to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.live.server.crowds import gathered, go_on, offer, workers_of
from tests.server.drafts import running
from tests.server.sealed.committees import cards

from sottovoce.errors import Reason, Refused
from sottovoce.live.server.draft import SessionDraft, check_draft
from sottovoce.live.server.roster import Created, create_session, offered, seated, start
from sottovoce.live.server.session_result import truths_page
from sottovoce.live.server.supervision import progress, stop
from sottovoce.securesum.envelope import Ed25519PrivateKey, public_text
from sottovoce.server.database import Database
from sottovoce.server.service import Service

ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
COORDINATOR = public_text(Ed25519PrivateKey.generate())
DEALT: dict[str, Any] = {"suite": "damgard_jurik", "dealer": cards()[0], "bits": 1024}
NOISED: dict[str, Any] = {"mode": "noised", "epsilon": 2.0}


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as made:
        yield made


def _created(service: Service, **others: Any) -> Created:
    return create_session(service, offer(**others), public_url="https://answers.example/lab/")


@ON_SQLITE
def test_links_are_for_one_session(service: Service) -> None:
    made, other = _created(service), _created(service)
    assert made.dealer_link is None
    assert [each.partition("#svl_")[0] for each in made.links] == [
        f"https://answers.example/lab/l/{made.id}"
    ] * 4
    assert len(set(made.links)) == 4
    with pytest.raises(Refused, match="not for this session") as caught:
        seated(service, other.id, made.links[0].partition("#")[2])
    assert caught.value.reason is Reason.BAD_CREDENTIAL


@ON_SQLITE
def test_an_offer_says_what_was_asked(service: Service) -> None:
    made = _created(service, **DEALT)
    shown = offered(service, made.id, made.links[0].partition("#")[2])
    known = {name: shown[name] for name in offer(**DEALT).as_json()}
    assert SessionDraft.of_json(known) == offer(**DEALT)
    assert (shown["id"], shown["state"], shown["joined"]) == (made.id, "gathering", 0)


@ON_SQLITE
def test_a_link_is_used_once(service: Service) -> None:
    made = _created(service)
    one, two = workers_of(service, made)[:2]
    one.join()
    one.join()
    assert one.number == 1
    two.line = one.line
    with pytest.raises(Refused, match="and other keys") as caught:
        two.join()
    assert caught.value.reason is Reason.INVITE_USED


@ON_SQLITE
def test_two_workers_do_not_share_a_key(service: Service) -> None:
    one, two = workers_of(service, _created(service))[:2]
    one.join()
    two.signing = one.signing
    with pytest.raises(Refused, match="another worker") as caught:
        two.join()
    assert caught.value.field == "signing"


@ON_SQLITE
def test_who_comes_late_finds_the_door_closed(service: Service) -> None:
    made = _created(service)
    workers = workers_of(service, made)
    for worker in workers[:2]:
        worker.join()
    with pytest.raises(Refused, match="2 workers have joined, but a session needs 3"):
        start(service, made.id)
    workers[2].join()
    start(service, made.id)
    start(service, made.id)
    with pytest.raises(Refused, match="under way") as caught:
        workers[3].join()
    assert caught.value.reason is Reason.NOT_OPEN
    for worker in workers[:3]:
        worker.begin()
    go_on(workers[:3])
    assert progress(service, made.id).alive == (1, 2, 3)


@ON_SQLITE
def test_a_threshold_that_cannot_be_met_is_said_at_the_start(service: Service) -> None:
    made = _created(service, threshold=4)
    workers = workers_of(service, made)
    for worker in workers[:3]:
        worker.join()
    with pytest.raises(Refused, match="threshold 4"):
        start(service, made.id)
    assert progress(service, made.id).state == "gathering"


@ON_SQLITE
def test_a_session_that_was_stopped_before_it_began_takes_nobody(service: Service) -> None:
    made = _created(service)
    workers = workers_of(service, made)
    workers[0].join()
    stop(service, made.id)
    with pytest.raises(Refused, match="over"):
        workers[1].join()
    for ask in (workers[0].line.agreed, workers[0].line.turn):
        with pytest.raises(Refused, match="the requester stopped it") as caught:
            ask()
        assert caught.value.reason is Reason.NOT_OPEN
    with pytest.raises(Refused, match="aborted"):
        start(service, made.id)


@ON_SQLITE
def test_noised_sums_have_a_guarantee(service: Service) -> None:
    id, workers = gathered(service, **NOISED)
    go_on(workers)
    summary = truths_page(service, id)["summary"]
    assert summary["guarantee"]["per_answer"] <= 2.0
    assert summary["guarantee"]["assumptions"]


@pytest.mark.parametrize(
    ("others", "field", "words"),
    [
        ({"workers": 2}, "workers", "from 3 to 10,000, not 2"),
        ({"tasks": ()}, "tasks", "1 to 100,000 tasks"),
        ({"tasks": ("a", "a")}, "tasks", "twice"),
        ({"tasks": ("a\x00",)}, "tasks", "no text"),
        ({"labels": ("yes",)}, "labels", "2 to 100 labels"),
        ({"title": " "}, "title", "empty"),
        ({"scale": 10**15}, "scale", "from 1 to 100,000,000,000,000"),
        ({"scale": 10**14, "workers": 10_000}, "scale", "lower"),
        ({"rounds": 0}, "rounds", "from 1 to 1,000, not 0"),
        ({"patience": 0.01}, "patience", "from 0.1 to 3,600"),
        ({"threshold": 2}, "threshold", "from 3 to 4, not 2"),
        ({"threshold": 3, "minimum": 2}, "minimum", "from 3 to 4, not 2"),
        ({"epsilon": 1.0}, "epsilon", "only for mode noised"),
        ({"mode": "noised"}, "epsilon", "needed for mode noised"),
        ({**NOISED, "delta": 1.0}, "delta", "below 1"),
        ({**NOISED, "scale": 10}, "scale", "only for modes without noise"),
        ({**NOISED, "weighted_rounds": 10}, "weighted_rounds", "from 0 to 9"),
        ({**NOISED, "epsilon": 1e-9}, "epsilon", "epsilon"),
        ({"suite": "damgard_jurik"}, "dealer", "keyholder's card"),
        ({"dealer": cards()[0]}, "dealer", "only for suite damgard_jurik"),
        ({"bits": 2048}, "bits", "only for suite damgard_jurik"),
        ({**DEALT, "bits": 1000}, "bits", "1024, 2048, 3072 bits, not 1000"),
        ({**DEALT, "s": 5}, "s", "from 1 to 4, not 5"),
    ],
)
def test_what_makes_no_sense_is_said_with_its_field(
    others: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(Refused) as caught:
        check_draft(offer(**others), COORDINATOR)
    assert (caught.value.reason, caught.value.field) == (Reason.MALFORMED, field)
    assert words in str(caught.value)
