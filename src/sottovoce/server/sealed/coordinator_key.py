"""What the server signs its part of a sealed sum with: one key, made once, kept in the database."""

from __future__ import annotations

import secrets

from sottovoce.errors import NotInstalled
from sottovoce.securesum.envelope import public_text
from sottovoce.server.database.sealed_campaigns import add_signing_key, signing_key
from sottovoce.server.service import Service

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
except ImportError:
    raise NotInstalled("cryptography", purpose="sealed campaigns", extra="secure") from None

__all__ = ["coordinator_key", "coordinator_of"]

SEED_BYTES = 32


def coordinator_key(service: Service) -> Ed25519PrivateKey:
    """The server's key. Policies pin its public half, so it is never replaced."""
    with service.database.reading() as connection:
        secret = signing_key(connection)
    if secret is None:
        made, day = secrets.token_bytes(SEED_BYTES), service.today().toordinal()
        # Of two servers that make one at once, the first to write wins.
        secret = service.change(lambda connection: add_signing_key(connection, made, day))
    return Ed25519PrivateKey.from_private_bytes(secret)


def coordinator_of(service: Service) -> str:
    """The public half, as policies have it."""
    return public_text(coordinator_key(service))
