"""The roster of a live session: created, joined by workers with links, and started.

Each link works once. When a session starts, its terms are fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused
from sottovoce.live.server.draft import SessionDraft, check_draft, session_terms
from sottovoce.model import Credential, digest
from sottovoce.model.canonical_json import canonical
from sottovoce.model.keyholder import check_public_key
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.star.terms import FEWEST_MEMBERS, Member, Suite
from sottovoce.server.campaigns.drafts import malformed_field, new_id
from sottovoce.server.credentials import checked_credential, new_secret
from sottovoce.server.database.campaigns import note_event
from sottovoce.server.database.live_sessions import (
    DEALER,
    AuthenticatedMember,
    LiveState,
    MemberRow,
    StoredSession,
    add_session,
    change_session,
    find_member,
    members_of,
    set_joined,
    state_of,
    the_session,
)
from sottovoce.server.sealed.keyholders import coordinator_of
from sottovoce.server.service import Service

FOREIGN = "this credential is not for this session"


def seated(service: Service, id: str, credential: str) -> AuthenticatedMember:
    """The member with this credential; it must be of this session."""
    shown = digest(checked_credential(credential, Credential.LIVE))
    with service.database.reading() as connection:
        found = find_member(connection, id, shown)
        if found is None:
            state_of(connection, id)  # the session must exist
            raise Refused(Reason.BAD_CREDENTIAL, FOREIGN)
    return found


def check_worker(seat: AuthenticatedMember) -> None:
    """Refuse the dealer in a route for workers."""
    if seat.member.seat == DEALER:
        raise Refused(
            Reason.BAD_CREDENTIAL, "this is the dealer's credential; only workers can do this"
        )


def check_dealer(seat: AuthenticatedMember) -> None:
    """Refuse a worker in a route for the dealer."""
    if seat.member.seat != DEALER:
        raise Refused(
            Reason.BAD_CREDENTIAL, "this is a worker's credential; only the dealer can deal"
        )


def worker_number(seat: AuthenticatedMember) -> int:
    """The number of a worker who has joined."""
    check_worker(seat)
    if seat.member.number is None:
        raise Refused(Reason.NOT_OPEN, "nobody has joined with this link; join first")
    return seat.member.number


def over_words(stored: StoredSession) -> str:
    """The end of a session and its reason, in words."""
    reason = (stored.outcome or {}).get("reason")
    return f"the session is {stored.state}" + (f": {reason}" if reason else "")


def start(service: Service, id: str) -> None:
    """Start with the workers who have joined. A running session is not changed."""
    while not _started(service, id):
        pass  # another worker has joined in the meantime


def _started(service: Service, id: str) -> bool:
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        joined = members_of(connection, stored.number)
    if stored.state is not LiveState.GATHERING:
        if stored.state.is_over:
            raise Refused(Reason.NOT_OPEN, f"the session is {stored.state}; make another")
        return True
    if len(joined) < FEWEST_MEMBERS:
        raise Refused(
            Reason.NOT_OPEN,
            f"{len(joined)} workers have joined, but a session needs {FEWEST_MEMBERS}; with two, "
            "each would know the other's part of a sum",
        )
    offer = SessionDraft.of_json(stored.offer)
    # Done here: calibrating noise may take seconds, and the writer must stay free.
    terms = session_terms(offer, id, coordinator_of(service), [_member(each) for each in joined])
    state = LiveState.DEALING if offer.suite is Suite.DAMGARD_JURIK else LiveState.RUNNING

    def work(connection: Connection) -> bool:
        now = the_session(connection, id, hold=True)
        if now.state is not LiveState.GATHERING:
            return True
        if len(members_of(connection, now.number)) != len(joined):
            return False
        change_session(connection, now.number, state=state, terms=canonical(terms.as_json()))
        note_event(connection, "live.started", service.today(), id)
        return True

    began = service.change(work)
    if began:
        service.attendance.ring(id)
    return began


def _member(joined: MemberRow) -> Member:
    assert joined.number and joined.signing and joined.sealing  # noqa: S101, PT018 - it has joined
    return Member(joined.number, joined.signing, joined.sealing)


@dataclass(frozen=True, slots=True)
class Created:
    """A new session: a link for each worker, and the dealer's. They are shown only once."""

    id: str
    links: tuple[str, ...]
    dealer_link: str | None


@dataclass(frozen=True, slots=True)
class Joined:
    """A worker's number, and whether it joined before."""

    number: int
    replayed: bool


def create_session(service: Service, offer: SessionDraft, *, public_url: str) -> Created:
    """Make a session that waits for its workers."""
    check_draft(offer, coordinator_of(service))
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
    """A session's offer for a member, and the server's signing key."""
    seated(service, id, credential)
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        count = len(members_of(connection, stored.number))
    now = {"id": id, "state": stored.state, "joined": count}
    return {**now, "coordinator": coordinator_of(service), **stored.offer}


def join(service: Service, id: str, credential: str, signing: str, sealing: str) -> Joined:
    """Add a worker with its public keys while the session gathers. The last one starts it."""
    check_worker(seated(service, id, credential))
    for field, key in (("signing", signing), ("sealing", sealing)):
        with malformed_field(field):
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


def _same(member: MemberRow, signing: str, sealing: str) -> int:
    if (member.signing, member.sealing) != (signing, sealing) or member.number is None:
        raise Refused(
            Reason.INVITE_USED,
            "a worker has joined with this link and other keys; a worker that has lost its keys "
            "cannot rejoin",
        )
    return member.number


def _check_new(members: list[MemberRow], signing: str, sealing: str) -> None:
    for field, key in (("signing", signing), ("sealing", sealing)):
        if any(getattr(member, field) == key for member in members):
            raise Refused(
                Reason.CONFLICT,
                "another worker of this session has this key; every worker needs its own",
                field=field,
            )


def _too_late(state: LiveState) -> str:
    over = "over" if state.is_over else "under way"
    return f"the session is {over}; nobody can join it"
