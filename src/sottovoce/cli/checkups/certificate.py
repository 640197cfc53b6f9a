"""A site's certificate: trusted, and for how long."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime
from urllib.parse import urlsplit

from sottovoce.cli.checkups.finding import Finding, fine, problem, warning

__all__ = ["certificate"]

PATIENCE = 10.0
FEW, LITTLE = 7, 21
"""Days left; one that renews itself does so with a month to go."""


def certificate(url: str, now: datetime) -> Finding:
    """Look at it."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 443
    look = f"openssl s_client -connect {host}:{port} -servername {host} </dev/null"
    try:
        ends = _ends(host, port)
    except ssl.SSLCertVerificationError as error:
        return problem("certificate", f"not trusted: {error.verify_message}", look)
    except (OSError, ValueError) as error:
        return problem("certificate", f"no TLS here ({type(error).__name__})", look)
    days = (ends - now).days
    found = f"{days} days left"
    if days < FEW:
        return problem("certificate", found, "renew it now: sudo certbot renew")
    if days < LITTLE:
        return warning("certificate", f"{found}, and nothing has renewed it", "sudo certbot renew")
    return fine("certificate", found)


def _ends(host: str, port: int) -> datetime:
    context = ssl.create_default_context()
    with socket.create_connection((host, port), PATIENCE) as plain:
        with context.wrap_socket(plain, server_hostname=host) as wrapped:
            shown = wrapped.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(shown["notAfter"])), UTC)
