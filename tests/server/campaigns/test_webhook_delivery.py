"""Webhooks are told at least once, and can tell who tells them."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, select, text, update
from tests.server.webhook_receiver import Receiver, receiving, serving, tell, wait_until

from sottovoce.requester.webhook_signatures import verify_signature
from sottovoce.server.campaigns.webhooks import (
    DELAYS,
    PATIENCE,
    Registered,
    announce,
    list_webhooks,
    register,
    remove,
    webhook_delivery,
)
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import find_campaign
from sottovoce.server.database.schema import deliveries
from sottovoce.server.database.webhooks import LEASE, Delivery, DeliveryState, claim, settle
from sottovoce.server.service import Service

AT_ONCE = (0.0,) * 3


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    made = serving(database)
    yield made
    made.writer.close()


def deliveries_of(service: Service) -> list[Delivery]:
    return [each for webhook in list_webhooks(service, "leaf") for each in webhook.deliveries]


def states(service: Service) -> list[tuple[str, int]]:
    return [(str(each.state), each.attempts) for each in deliveries_of(service)]


def test_a_receiver_can_tell_who_sent_it(service: Service) -> None:
    with receiving() as receiver, webhook_delivery(service):
        registered = register(service, "leaf", receiver.address + "/hook?key=1")
        tell(service)
        [received] = receiver.wait_for(1)
    verify_signature(registered.secret, received.headers, received.body)
    signed = received.headers["Sottovoce-Timestamp"].encode() + b"." + received.body
    expected = hmac.new(registered.secret.encode(), signed, hashlib.sha256).hexdigest()
    assert received.headers["Sottovoce-Signature"] == f"v1={expected}"
    assert received.path == "/hook?key=1"


def test_told_are_the_event_and_counts_and_nothing_of_a_worker(service: Service) -> None:
    with receiving() as receiver, webhook_delivery(service):
        register(service, "leaf", receiver.address)
        tell(service, "campaign.converged", truths=12)
        [received] = receiver.wait_for(1)
    content = json.loads(received.body)
    assert received.headers["Sottovoce-Event"] == content["event"] == "campaign.converged"
    assert received.headers["Sottovoce-Delivery"] == content["id"]
    assert set(content) == {
        "event", "id", "campaign", "day", "policy_hash", "workers", "submissions", "reports",
        "truths",
    }  # fmt: skip
    assert (content["campaign"], content["truths"]) == ("leaf", 12)


def test_it_is_told_at_once_and_not_again(service: Service) -> None:
    with receiving() as receiver, webhook_delivery(service):
        register(service, "leaf", receiver.address)
        start = time.monotonic()
        tell(service)
        receiver.wait_for(1)
        assert time.monotonic() - start < 2  # and not when it next looks
        wait_until(lambda: states(service) == [("done", 1)])
    with receiving(receiver), webhook_delivery(service):
        time.sleep(0.2)
    assert len(receiver.received) == 1


def test_nothing_is_told_of_what_was_rolled_back(service: Service) -> None:
    def work(connection: Connection) -> None:
        stored = find_campaign(connection, "leaf")
        assert stored is not None
        announce(connection, stored, "campaign.closed", {})
        raise LookupError

    with receiving() as receiver, webhook_delivery(service):
        register(service, "leaf", receiver.address)
        with pytest.raises(LookupError):
            service.change(work)
        tell(service, "campaign.converged")
        receiver.wait_for(1)
    assert [each.event for each in deliveries_of(service)] == ["campaign.converged"]


def test_a_receiver_that_fails_is_told_again_with_the_same_identifier(service: Service) -> None:
    with (
        receiving(Receiver([500, 302, 200])) as receiver,
        webhook_delivery(service, delays=AT_ONCE),
    ):
        registered = register(service, "leaf", receiver.address)
        tell(service)
        received = receiver.wait_for(3)
        wait_until(lambda: states(service) == [("done", 3)])
    assert [each.path for each in received] == ["/"] * 3  # a redirect is not followed
    assert len({each.headers["Sottovoce-Delivery"] for each in received}) == 1
    assert len({each.body for each in received}) == 1
    for each in received:
        verify_signature(registered.secret, each.headers, each.body)


def test_a_receiver_that_never_answers_well_is_given_up(service: Service) -> None:
    with receiving(Receiver([500])) as receiver, webhook_delivery(service, delays=AT_ONCE):
        register(service, "leaf", receiver.address)
        tell(service)
        wait_until(lambda: states(service) == [("given_up", 4)])
    assert len(receiver.received) == 4


def test_an_address_where_nobody_listens_is_tried_later(service: Service) -> None:
    with webhook_delivery(service):
        register(service, "leaf", "http://127.0.0.1:9/")
        tell(service)
        wait_until(lambda: states(service) == [("waiting", 1)])
    with service.database.reading() as connection:
        due = connection.execute(select(deliveries.c.due)).scalar_one()
    assert due == pytest.approx(time.time() + DELAYS[0], abs=3)


def test_eight_attempts_take_about_a_day() -> None:
    assert len(DELAYS) == 7
    assert sorted(DELAYS) == list(DELAYS)
    assert 12 * 3600 < sum(DELAYS) < 36 * 3600


def test_what_was_booked_while_nobody_delivered_is_told_later(service: Service) -> None:
    with receiving() as receiver:
        register(service, "leaf", receiver.address)
        tell(service)
        with webhook_delivery(service):
            receiver.wait_for(1)
            wait_until(lambda: states(service) == [("done", 1)])


def test_what_a_killed_server_was_sending_is_told_by_the_next(service: Service) -> None:
    with receiving() as receiver:
        register(service, "leaf", receiver.address)
        tell(service)
        # Claimed, and then nothing more is heard of whoever claimed it.
        now = int(time.time())
        assert len(service.change(lambda connection: claim(connection, now, 10))) == 1
        if not service.database.is_sqlite:  # others may be at it until the lease ends
            passed = update(deliveries).values(due=deliveries.c.due - LEASE)
            service.change(lambda connection: connection.execute(passed).rowcount)
        with webhook_delivery(service):
            receiver.wait_for(1)
            wait_until(lambda: states(service) == [("done", 1)])


def test_a_slow_receiver_holds_up_neither_others_nor_the_end(service: Service) -> None:
    with receiving(Receiver(pause=60)) as slow, receiving() as quick:
        with webhook_delivery(service):
            register(service, "leaf", slow.address)
            register(service, "leaf", quick.address)
            tell(service)
            quick.wait_for(1, seconds=PATIENCE)
            slow.wait_for(1, seconds=PATIENCE)
            wait_until(lambda: ("done", 1) in states(service))
            start = time.monotonic()
        assert time.monotonic() - start < PATIENCE / 2
        assert sorted(states(service)) == [("done", 1), ("waiting", 0)]


def test_an_endless_reply_is_not_read(service: Service) -> None:
    with receiving(Receiver(reply=b"x" * 50_000_000)) as receiver, webhook_delivery(service):
        register(service, "leaf", receiver.address)
        tell(service)
        wait_until(lambda: states(service) == [("done", 1)])


def test_a_proxy_in_the_environment_is_not_asked(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with receiving() as receiver, webhook_delivery(service):
        register(service, "leaf", receiver.address)
        tell(service)
        receiver.wait_for(1)


def test_a_removed_webhook_is_told_nothing(service: Service) -> None:
    with receiving() as receiver:
        registered = register(service, "leaf", receiver.address)
        tell(service)
        remove(service, "leaf", registered.id)
        tell(service)
        with webhook_delivery(service):
            time.sleep(0.2)
    assert receiver.received == []


def test_servers_on_one_database_do_not_claim_the_same(service: Service) -> None:
    """On PostgreSQL while another is at it; on SQLite one after the other."""
    register(service, "leaf", "http://127.0.0.1:9/")
    for _ in range(6):
        tell(service)
    now, database = int(time.time()), service.database
    claimed: list[Delivery] = []
    with database.writing() as one:
        claimed += claim(one, now, 3)
        if not database.is_sqlite:
            with database.writing() as other:
                claimed += claim(other, now, 10)
    with database.writing() as third:
        claimed += claim(third, now, 10)
    assert len(claimed) == 6
    assert len({each.id for each in claimed}) == 6


@pytest.mark.slow
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_several_servers_tell_each_event_once(service: Service) -> None:
    second = serving(Database.at(service.database.url.render_as_string(hide_password=False)))
    with receiving() as receiver, webhook_delivery(service), webhook_delivery(second):
        register(service, "leaf", receiver.address)
        threads = [threading.Thread(target=tell, args=(each,)) for each in (service, second) * 10]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        receiver.wait_for(20)
        # A busy receiver may refuse a connection, and is tried again: that is not told twice.
        wait_until(lambda: [state for state, _ in states(service)] == ["done"] * 20)
    second.close()
    assert len(receiver.received) == 20


def test_the_hour_of_a_delivery_is_forgotten_once_it_is_over(service: Service) -> None:
    with receiving() as receiver, webhook_delivery(service):
        register(service, "leaf", receiver.address)
        tell(service)
        wait_until(lambda: states(service) == [("done", 1)])
    with service.database.reading() as connection:
        row = connection.execute(select(deliveries)).one()
    assert row.due == 0
    assert str(int(time.time()))[:6] not in row.body


def test_old_deliveries_are_not_kept_for_ever(service: Service) -> None:
    def deliver(connection: Connection) -> None:
        for each in claim(connection, int(time.time()), 10):
            settle(connection, each.number, 1, DeliveryState.DONE)

    register(service, "leaf", "http://127.0.0.1:9/")
    for _ in range(30):
        tell(service)
        service.change(deliver)
    with service.database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM deliveries")).scalar_one() == 20


def test_the_secret_is_in_no_repr(service: Service) -> None:
    registered = register(service, "leaf", "https://example.org/")
    tell(service)
    assert isinstance(registered, Registered)
    assert registered.secret not in repr(registered) + repr(list_webhooks(service, "leaf"))
