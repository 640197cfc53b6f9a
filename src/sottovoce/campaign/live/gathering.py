"""A session is made, and workers join it, each by a link that works once."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from sottovoce.campaign.access import new_secret
from sottovoce.campaign.drafting import new_id
from sottovoce.campaign.live.agreeing import check_offer
from sottovoce.campaign.live.members import check_worker, seated
from sottovoce.campaign.live.offering import LiveOffer, wrong
from sottovoce.campaign.live.starting import start
from sottovoce.campaign.sealed.signing import coordinator_of
from sottovoce.campaign.service import Service
from sottovoce.errors import Reason, Refused
from sottovoce.model import Credential, digest
from sottovoce.model.keyholder import check_public_key
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.star.terms import Suite
from sottovoce.server.database.campaigns import note_event
from sottovoce.server.database.live_sessions import (
    DEALER,
    LiveState,
    StoredMember,
    add_session,
    find_member,
    members_of,
    set_joined,
    the_session,
)

__all__ = ["Created", "Joined", "create_session", "join", "offered"]


@dataclass(frozen=True, slots=True)
class Created:
    """A new session: a link for each worker, and the dealer's. They are shown once."""

    id: str
    links: tuple[str, ...]
    dealer_link: str | None


@dataclass(frozen=True, slots=True)
class Joined:
    """A worker's number, and whether it had joined before."""

    number: int
    replayed: bool


def create_session(service: Service, offer: LiveOffer, *, public_url: str) -> Created:
    """A new session that waits for its workers."""
    check_offer(offer, coordinator_of(service))
    sealed = offer.suite is Suite.DAMGARD_JURIK
    id, first = new_id(), DEALER if sealed else DEALER + 1
    secrets = {seat: new_secret(Credential.LIVE) for seat in range(first, offer.workers + 1)}
    digests = {seat: digest(secret) for seat, secret in secrets.items()}
    # The dealer seals the server's share of the key to it.
    sealing = X25519PrivateKey.generate().private_bytes_raw() if sealed else None

    def work(connection: Connection) -> None:
        add_session(connection, id, offer.as_json(), digests, sealing, service.today())
        note_event(connection, "live.created", service.today(), id)

    service.change(work)
    page = f"{public_url.rstrip('/')}/l/{id}"
    links = {seat: f"{page}#{secret}" for seat, secret in secrets.items()}
    dealer = links.pop(DEALER, None)
    return Created(id, tuple(links.values()), dealer)


def offered(service: Service, id: str, credential: str) -> dict[str, object]:
    """What a member is asked to take part in, and the key that the server signs with."""
    seated(service, id, credential)
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        count = len(members_of(connection, stored.number))
    return {"id": id, "state": stored.state, "joined": count,
            "coordinator": coordinator_of(service), **stored.offer}  # fmt: skip


def join(service: Service, id: str, credential: str, signing: str, sealing: str) -> Joined:
    """A worker joins with its public keys, while others are waited for. The last one begins it."""
    check_worker(seated(service, id, credential))
    for field, key in (("signing", signing), ("sealing", sealing)):
        with wrong(field):
            check_public_key(f"the {field} key", key)
    shown = digest(credential)

    def work(connection: Connection) -> tuple[Joined, bool]:
        stored = the_session(connection, id, hold=True)
        seat = find_member(connection, id, shown)
        assert seat is not None  # noqa: S101 - it was there, and the session still is
        if seat.member.number is not None:
            return Joined(_same(seat.member, signing, sealing), True), False
        if stored.state is not LiveState.GATHERING:
            raise Refused(Reason.NOT_OPEN, _too_late(stored.state))
        members = members_of(connection, stored.number)
        _check_new(members, signing, sealing)
        number = len(members) + 1
        set_joined(connection, stored.number, seat.member.seat, number, signing, sealing)
        return Joined(number, False), number == stored.offer["workers"]

    joined, complete = service.change(work)
    if complete:
        start(service, id)
    return joined


def _same(member: StoredMember, signing: str, sealing: str) -> int:
    if (member.signing, member.sealing) != (signing, sealing) or member.number is None:
        raise Refused(
            Reason.INVITE_USED,
            "somebody has joined by this link with other keys: a worker that has lost its keys "
            "cannot come back",
        )
    return member.number


def _check_new(members: list[StoredMember], signing: str, sealing: str) -> None:
    for field, key in (("signing", signing), ("sealing", sealing)):
        if any(getattr(member, field) == key for member in members):
            raise Refused(
                Reason.CONFLICT,
                "another worker of this session has this key: every worker makes its own",
                field=field,
            )


def _too_late(state: LiveState) -> str:
    over = "over" if state.is_over else "under way"
    return f"the session is {over}: nobody can join it any more"
