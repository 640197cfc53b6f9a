"""Links to a campaign: their secrets are nowhere on the server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from sqlalchemy import select, update
from tests.server.drafts import TODAY, draft, running

from sottovoce.errors import Reason, Refused
from sottovoce.model import Credential, check_credential, digest
from sottovoce.server.campaigns.invites import (
    MOST_INVITES,
    InviteCounts,
    InviteKind,
    count_invites,
    invite,
    revoke_invites,
)
from sottovoce.server.campaigns.lifecycle import close_campaign, open_campaign
from sottovoce.server.database import Database
from sottovoce.server.database.schema import invites
from sottovoce.server.service import Service

URL = "https://answers.example/ask"


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as made:
        yield made


def secret_of(link: str) -> str:
    return link.partition("#")[2]


def test_a_link_has_its_secret_behind_the_hash_sign(service: Service) -> None:
    made = draft(service)
    [link] = invite(service, made.id, InviteKind.OPEN, public_url=URL + "/")
    assert link.startswith(f"{URL}/c/{made.id}#svi_")
    check_credential(secret_of(link), Credential.INVITE)


def test_only_hashes_are_kept(service: Service) -> None:
    made = draft(service)
    links = invite(service, made.id, InviteKind.SINGLE, public_url=URL, count=5)
    with service.database.reading() as connection:
        kept = set(connection.execute(select(invites.c.digest)).scalars())
    assert kept == {digest(secret_of(link)) for link in links}


def test_expiry_is_kept_to_the_day(service: Service) -> None:
    made = draft(service)
    day = TODAY + timedelta(days=1)
    invite(service, made.id, InviteKind.OPEN, public_url=URL, expires_on=day)
    with service.database.reading() as connection:
        assert connection.scalar(select(invites.c.expires_on)) == day.toordinal()


@pytest.mark.parametrize(
    ("kind", "count", "expires_on", "field"),
    [
        (InviteKind.SINGLE, 0, None, "count"),
        (InviteKind.SINGLE, MOST_INVITES + 1, None, "count"),
        (InviteKind.OPEN, 2, None, "count"),
        (InviteKind.OPEN, 1, TODAY, "expires_on"),
        (InviteKind.SINGLE, 1, TODAY - timedelta(days=1), "expires_on"),
    ],
)
def test_links_that_make_no_sense_are_refused(
    service: Service, kind: InviteKind, count: int, expires_on: date | None, field: str
) -> None:
    made = draft(service)
    with pytest.raises(Refused) as refused:
        invite(service, made.id, kind, public_url=URL, count=count, expires_on=expires_on)
    assert (refused.value.reason, refused.value.field) == (Reason.MALFORMED, field)
    assert count_invites(service, made.id) == InviteCounts(0, 0, 0)


def test_counts_tell_used_from_unused(service: Service) -> None:
    made = draft(service)
    invite(service, made.id, InviteKind.OPEN, public_url=URL)
    links = invite(service, made.id, InviteKind.SINGLE, public_url=URL, count=4)
    used = update(invites).where(invites.c.digest == digest(secret_of(links[0])))
    service.change(lambda connection: connection.execute(used.values(worker=b"w" * 16)) and None)
    assert count_invites(service, made.id) == InviteCounts(open=1, single=4, used=1)


def test_revoking_ends_all_links_of_this_campaign_only(service: Service) -> None:
    made, other = draft(service), draft(service)
    for each in (made, other):
        invite(service, each.id, InviteKind.SINGLE, public_url=URL, count=3)
        invite(service, each.id, InviteKind.OPEN, public_url=URL)
    assert revoke_invites(service, made.id) == 4
    assert revoke_invites(service, made.id) == 0
    assert count_invites(service, made.id) == InviteCounts(0, 0, 0)
    assert count_invites(service, other.id) == InviteCounts(1, 3, 0)


def test_nobody_is_invited_to_a_closed_campaign(service: Service) -> None:
    made = draft(service)
    open_campaign(service, made.id)
    invite(service, made.id, InviteKind.OPEN, public_url=URL)
    close_campaign(service, made.id)
    with pytest.raises(Refused, match="closed") as refused:
        invite(service, made.id, InviteKind.OPEN, public_url=URL)
    assert refused.value.reason is Reason.NOT_OPEN


def test_what_is_not_there_is_not_found(service: Service) -> None:
    for ask in (
        lambda: invite(service, "absent", InviteKind.OPEN, public_url=URL),
        lambda: count_invites(service, "absent"),
        lambda: revoke_invites(service, "absent"),
    ):
        with pytest.raises(Refused) as refused:
            ask()
        assert refused.value.reason is Reason.NOT_FOUND


@pytest.mark.parametrize(
    "count", [10_000, pytest.param(MOST_INVITES, marks=pytest.mark.slow)], ids="{:,}".format
)
def test_as_many_links_as_a_town_needs_differ_from_each_other(service: Service, count: int) -> None:
    made = draft(service)
    links = invite(service, made.id, InviteKind.SINGLE, public_url=URL, count=count)
    assert len(set(links)) == count
    assert count_invites(service, made.id).single == count
