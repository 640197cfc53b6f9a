"""Keyholders' links and credentials, and the server's signing key."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import Connection

from sottovoce.errors import NotInstalled, Reason, Refused
from sottovoce.mechanisms.policies import sealed_of
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Campaign, Credential, digest
from sottovoce.securesum.envelope import public_text
from sottovoce.server.credentials import checked_credential, new_secret
from sottovoce.server.database.campaigns import note_event, the_campaign
from sottovoce.server.database.sealed_campaigns import (
    add_signing_key,
    find_seat,
    note_seen,
    set_seats,
    signing_key,
)
from sottovoce.server.sealed.contributions import SealedAdmission
from sottovoce.server.service import Service

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
except ImportError:
    raise NotInstalled("cryptography", purpose="sealed campaigns", extra="secure") from None


SEED_BYTES = 32

NOT_SEALED = "the campaign is not sealed, so it has no keyholders"


@dataclass(frozen=True, slots=True)
class SeatLink:
    """A link for one keyholder. It is shown only once."""

    seat: int
    name: str
    link: str


@dataclass(frozen=True, slots=True)
class AuthenticatedKeyholder:
    """A keyholder with a valid credential, and its campaign."""

    seat: int
    admission: SealedAdmission


def keyholder_links(service: Service, id: str, *, public_url: str) -> list[SeatLink]:
    """Make a link for each keyholder; earlier links no longer work."""
    with service.database.reading() as connection:
        keyholders = sealed_sum(the_campaign(connection, id).campaign).keyholders
    if not keyholders:
        raise Refused(Reason.MALFORMED, "the policy names no keyholders yet; add their cards")
    made = [new_secret(Credential.KEYHOLDER) for _ in keyholders]
    digests = [digest(secret) for secret in made]

    def work(connection: Connection) -> None:
        stored = the_campaign(connection, id, hold=True)
        if sealed_sum(stored.campaign).keyholders != keyholders:
            raise Refused(Reason.CONFLICT, "the keyholders have just been changed; try again")
        set_seats(connection, stored.number, digests)
        note_event(connection, "keyholders.invited", service.today(), id)

    service.change(work)
    page = f"{public_url.rstrip('/')}/k/{id}"
    return [
        SeatLink(seat, keyholder.name, f"{page}#{secret}")
        for seat, (keyholder, secret) in enumerate(zip(keyholders, made, strict=True), 1)
    ]


def authenticated_keyholder(service: Service, id: str, credential: str) -> AuthenticatedKeyholder:
    """The keyholder with this credential, of a campaign that is or was open; records its visit."""
    shown = digest(checked_credential(credential, Credential.KEYHOLDER))
    with service.database.reading() as connection:
        stored = the_campaign(connection, id)
        found = find_seat(connection, stored.number, shown)
    if found is None:
        raise Refused(
            Reason.BAD_CREDENTIAL,
            "this is not a keyholder's credential for this campaign, or it was replaced",
        )
    admission = sealed_admission(service, id)
    service.attendance.see(id, found.seat)
    day = service.today().toordinal()
    if found.seen_on != day:
        service.change(lambda connection: note_seen(connection, stored.number, found.seat, day))
    return AuthenticatedKeyholder(found.seat, admission)


def sealed_admission(service: Service, id: str) -> SealedAdmission:
    """The constant terms of a sealed campaign that is or was open."""
    admission = service.reception.admission(id)
    if not isinstance(admission, SealedAdmission):
        raise Refused(Reason.NOT_FOUND, NOT_SEALED)
    return admission


def sealed_sum(campaign: Campaign) -> SealedSum:
    """The sealed mechanism of a campaign's policy; it may not name keyholders yet."""
    policy = campaign.terms.policy
    if not policy.sealed:
        raise Refused(Reason.NOT_FOUND, NOT_SEALED)
    return sealed_of(policy)


def coordinator_key(service: Service) -> Ed25519PrivateKey:
    """The server's key. Policies pin its public half, so it is never replaced."""
    with service.database.reading() as connection:
        secret = signing_key(connection)
    if secret is None:
        made, day = secrets.token_bytes(SEED_BYTES), service.today().toordinal()
        # If two servers make a key at once, the first to write wins.
        secret = service.change(lambda connection: add_signing_key(connection, made, day))
    return Ed25519PrivateKey.from_private_bytes(secret)


def coordinator_of(service: Service) -> str:
    """The server's public key, as in policies."""
    return public_text(coordinator_key(service))
