"""Webhooks and their addresses: accepted and refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.server.webhook_receiver import serving, tell

from sottovoce.errors import Reason, Refused
from sottovoce.server.campaigns.webhooks import MOST_WEBHOOKS, list_webhooks, register, remove
from sottovoce.server.database import Database
from sottovoce.server.service import Service


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    made = serving(database)
    yield made
    made.writer.close()


def test_a_secret_is_shown_once_and_is_new_each_time(service: Service) -> None:
    first = register(service, "leaf", "https://example.org/hook")
    second = register(service, "leaf", "https://example.org/hook")
    assert first.secret.startswith("svw_")
    assert first.secret != second.secret
    listed = list_webhooks(service, "leaf")
    assert [each.id for each in listed] == [first.id, second.id]
    assert {each.address for each in listed} == {"https://example.org/hook"}


@pytest.mark.parametrize(
    "address",
    [
        "",
        "example.org",
        "ftp://example.org/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://",
        "https://user:password@example.org/",
        "https://example.org/a b",
        "https://example.org/\nHost: other",
        "https://example.org:99999/",
        "https://example.org/" + "a" * 2_000,
    ],
)
def test_what_is_no_web_address_is_refused(service: Service, address: str) -> None:
    with pytest.raises(Refused) as refused:
        register(service, "leaf", address)
    assert (refused.value.reason, refused.value.field) == (Reason.MALFORMED, "address")


@pytest.mark.parametrize("host", ["example.org", "10.0.0.1", "127.0.0.1.example.org", "[fe80::1]"])
def test_another_machine_is_told_over_https_only(service: Service, host: str) -> None:
    with pytest.raises(Refused, match="must start with https://"):
        register(service, "leaf", f"http://{host}/hook")
    assert register(service, "leaf", f"http://{host}/hook", allow_http=True).id


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1:1", "[::1]:80", "hook.localhost"])
def test_this_machine_is_told_over_http_too(service: Service, host: str) -> None:
    assert register(service, "leaf", f"http://{host}/hook").id


def test_a_campaign_has_a_bounded_number_of_webhooks(service: Service) -> None:
    for _ in range(MOST_WEBHOOKS):
        register(service, "leaf", "https://example.org/")
    with pytest.raises(Refused, match="up to 10 webhooks"):
        register(service, "leaf", "https://example.org/")


def test_a_webhook_that_is_not_there_is_not_removed(service: Service) -> None:
    registered = register(service, "leaf", "https://example.org/")
    remove(service, "leaf", registered.id)
    with pytest.raises(Refused, match="no such webhook"):
        remove(service, "leaf", registered.id)


def test_a_campaign_that_is_not_there_has_no_webhooks(service: Service) -> None:
    with pytest.raises(Refused, match="campaign does not exist"):
        register(service, "oak", "https://example.org/")
    with pytest.raises(Refused, match="campaign does not exist"):
        list_webhooks(service, "oak")


def test_an_event_of_a_campaign_without_webhooks_is_nobodys(service: Service) -> None:
    tell(service)
    register(service, "leaf", "https://example.org/")
    assert list_webhooks(service, "leaf")[0].deliveries == ()
