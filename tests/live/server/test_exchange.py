"""A dealt key: who may deal it, only once, and what opens under it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.live.server.crowds import Direct, Worker, dealt, go_on, offer, workers_of
from tests.server.drafts import running
from tests.server.sealed.committees import cards, keys_of

from sottovoce.errors import Reason, Refused
from sottovoce.live.server.exchange import agreed, take_deal
from sottovoce.live.server.roster import create_session, seated
from sottovoce.live.server.session_result import truths_page
from sottovoce.live.server.supervision import progress, stop
from sottovoce.server.database import Database
from sottovoce.server.database.live_sessions import secret_of, state_of
from sottovoce.server.service import Service

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as made:
        yield made


class Dealing:
    """A session that waits for its key."""

    def __init__(self, service: Service) -> None:
        asked = offer(suite="damgard_jurik", bits=1024, dealer=cards()[0])
        made = create_session(service, asked, public_url="https://answers.example")
        assert made.dealer_link is not None
        self.service, self.id = service, made.id
        self.dealer = Direct(service, made.id, made.dealer_link.partition("#")[2])
        self.workers: list[Worker[Direct]] = workers_of(service, made)
        for worker in self.workers:
            worker.join()

    def give(self, line: Direct, document: dict[str, Any]) -> bool:
        seat = seated(self.service, self.id, line.credential)
        return take_deal(self.service, self.id, seat, **document)

    @property
    def secret(self) -> bytes | None:
        with self.service.database.reading() as connection:
            return secret_of(connection, state_of(connection, self.id)[0])


@pytest.fixture
def dealing(service: Service) -> Dealing:
    return Dealing(service)


def test_sums_open_under_a_dealt_key(service: Service, dealing: Dealing) -> None:
    assert progress(service, dealing.id).state == "dealing"
    worker = dealing.workers[0]
    assert agreed(service, dealing.id, seated(service, dealing.id, worker.line.credential)) is None
    document = dealt(dealing.dealer, keys_of(1).signing)
    assert not dealing.give(dealing.dealer, document)
    assert dealing.give(dealing.dealer, document)
    for worker in dealing.workers:
        worker.begin()
    go_on(dealing.workers)
    assert [worker.ended for worker in dealing.workers] == ["done"] * 4
    truths = [row["truth"] for row in truths_page(service, dealing.id)["truths"]]
    assert truths == ["yes", "no", "yes"]
    assert dealing.secret is None


def test_only_the_dealer_deals_and_only_its_own_key(dealing: Dealing) -> None:
    document = dealt(dealing.dealer, keys_of(1).signing)
    worker = dealing.workers[0].line
    with pytest.raises(Refused, match="only the dealer") as caught:
        dealing.give(worker, document)
    assert caught.value.reason is Reason.BAD_CREDENTIAL
    fewer = {**document, "shares": document["shares"][1:]}
    swapped = {**document, "shares": document["shares"][::-1]}
    signed_by_nobody = {**document, "public": document["public"].replace("A", "B")}
    for wrong in (fewer, swapped, signed_by_nobody, {**document, "public": "ü"}):
        with pytest.raises(Refused, match="not the session's key") as caught:
            dealing.give(dealing.dealer, wrong)
        assert caught.value.reason is Reason.MALFORMED
    assert progress(dealing.service, dealing.id).state == "dealing"


def test_a_session_that_is_stopped_takes_no_key(dealing: Dealing) -> None:
    stop(dealing.service, dealing.id)
    assert dealing.secret is None
    with pytest.raises(Refused, match="no key is expected"):
        dealing.give(dealing.dealer, {"public": "x", "shares": []})
