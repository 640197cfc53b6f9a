"""Checks of the site from outside: certificate, TLS, headers and the proxy."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sottovoce.cli.server.check import Check, fine, problem, unknown, warning
from sottovoce.errors import NotInstalled

if TYPE_CHECKING:
    import httpx


PATIENCE = 10.0

FEW, LITTLE = 7, 21
"""Days left; automatic renewal happens a month before the end."""

MOST_SKEW, GREAT_SKEW = 60, 3600
"""Seconds. Only days are stored, so only a large difference does harm."""

LONG_ENOUGH = 15_552_000
"""Seconds of HSTS: half a year."""


def site(url: str, now: datetime) -> Iterator[Check]:
    """Check the site at the address."""
    try:
        import httpx
    except ImportError:
        raise NotInstalled("httpx", purpose="checking a site", extra="client") from None
    if url.startswith("https://"):
        yield certificate(url, now)
    with httpx.Client(timeout=PATIENCE, follow_redirects=False) as client:
        try:
            yield from _looks(client, url, now)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            found = f"{url} does not respond ({type(error).__name__})"
            yield problem("reachable", found, f"curl -i {url}/healthz")


def _looks(client: httpx.Client, url: str, now: datetime) -> Iterator[Check]:
    secure, home = url.startswith("https://"), client.get(f"{url}/healthz")
    yield from _answers(client, url, home)
    yield from _plain(client, url) if secure else _without_tls(url)
    yield from _headers(home, secure)
    yield _skew(home, now)
    yield _prefix(client, url)
    yield _errors(client, url)
    yield unknown(
        "exports",
        "cannot check from here whether a proxy buffers them",
        "nginx: proxy_buffering off; an export of a large campaign must start immediately",
    )


def certificate(url: str, now: datetime) -> Check:
    """Check the certificate and its remaining days."""
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
        return warning(
            "certificate", f"{found}, and it was not renewed automatically", "sudo certbot renew"
        )
    return fine("certificate", found)


def _ends(host: str, port: int) -> datetime:
    context = ssl.create_default_context()
    with socket.create_connection((host, port), PATIENCE) as plain:
        with context.wrap_socket(plain, server_hostname=host) as wrapped:
            shown = wrapped.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(shown["notAfter"])), UTC)


def _answers(client: httpx.Client, url: str, home: httpx.Response) -> Iterator[Check]:
    if home.status_code != 200:
        found = f"{url}/healthz responds with {home.status_code}"
        way = "start the server with --public-url set to this address, and forward it in the proxy"
        yield problem("reachable", found, way)
    else:
        yield fine("reachable", f"{url} responds")
    ready = client.get(f"{url}/readyz")
    if ready.status_code != 200:
        yield problem("ready", _detail(ready), f"curl -s {url}/readyz")
    else:
        yield fine("ready", "the server can store reports")


def _without_tls(url: str) -> Iterator[Check]:
    host = urlsplit(url).hostname or ""
    if host in ("127.0.0.1", "localhost", "::1"):
        yield fine("TLS", "none, which is fine on this machine")
    else:
        way = "put a proxy with a certificate in front of it, such as: caddy reverse-proxy"
        yield problem("TLS", "none: anyone on the network path can read and change everything", way)


def _plain(client: httpx.Client, url: str) -> Iterator[Check]:
    """Check that http redirects to https, or that its port is closed."""
    import httpx

    parts = urlsplit(url)
    if parts.port not in (None, 443):
        return
    try:
        answer = client.get(f"http://{parts.hostname}{parts.path}/")
    except httpx.HTTPError:
        yield fine("http", "port 80 does not respond")
        return
    location = answer.headers.get("location", "")
    if answer.is_redirect and location.startswith("https://"):
        yield fine("http", "redirects to https")
    else:
        way = "nginx: return 301 https://$host$request_uri; (Caddy does this automatically)"
        yield problem("http", f"responds with {answer.status_code} without TLS", way)


def _headers(home: httpx.Response, secure: bool) -> Iterator[Check]:
    if secure:
        yield _hsts(home.headers.get("strict-transport-security", ""))
    policy = home.headers.get("content-security-policy", "")
    if "default-src 'none'" not in policy:
        found = "missing" if not policy else "not the server's own"
        way = "forward the server's headers in the proxy; nginx: no add_header for this one"
        yield problem("content security policy", found, way)
    elif len(home.headers.get_list("content-security-policy")) > 1:
        way = "remove the proxy's own Content-Security-Policy"
        yield warning("content security policy", "two headers", way)
    else:
        yield fine("content security policy", "the server's own")
    leaking = [
        f"{name}: {home.headers[name]}"
        for name in ("server", "x-powered-by", "via")
        if re.search(r"\d+\.\d", home.headers.get(name, ""))
    ]
    if leaking:
        yield warning("versions", f"shown in a header ({leaking[0]})", "nginx: server_tokens off;")
    else:
        yield fine("versions", "not shown in headers")


def _hsts(header: str) -> Check:
    age = re.search(r"max-age=(\d+)", header)
    if age is None or int(age[1]) < LONG_ENOUGH:
        found = "missing" if age is None else f"for {int(age[1]) // 86400} days only"
        way = "start the server with --public-url https://…, or let the proxy add it"
        return warning("strict transport security", found, way)
    return fine("strict transport security", f"for {int(age[1]) // 86400} days")


def _skew(home: httpx.Response, now: datetime) -> Check:
    try:
        there = parsedate_to_datetime(home.headers["date"])
        seconds = abs((there - now).total_seconds())
    except (KeyError, ValueError, TypeError):
        return warning(
            "clocks", "the site sends no Date header", "forward the header Date in the proxy"
        )
    found = f"{seconds:,.0f} s difference between the site and this machine"
    if seconds > GREAT_SKEW:
        return problem("clocks", found, "sudo timedatectl set-ntp true")
    if seconds > MOST_SKEW:
        return warning("clocks", found, "sudo timedatectl set-ntp true")
    return fine("clocks", found)


def _prefix(client: httpx.Client, url: str) -> Check:
    """Check that the server creates links with the address that reaches it."""
    answer = client.get(f"{url}/api/v1/openapi.json")
    way = f"sottovoce serve --public-url {url}"
    document = _json(answer)
    servers = document.get("servers") if isinstance(document, dict) else None
    if answer.status_code != 200 or not isinstance(document, dict):
        return problem("path prefix", f"{url}/api/v1/openapi.json is not the API description", way)
    stated = str(servers[0].get("url", "")) if servers else ""
    if urlsplit(stated).path.rstrip("/") != urlsplit(url).path.rstrip("/"):
        found = f"the server is configured for {stated or '/'}"
        return problem("path prefix", found, way)
    return fine("path prefix", stated or "none")


def _errors(client: httpx.Client, url: str) -> Check:
    """Check that refusals reach the worker software, instead of a proxy's error pages."""
    answer = client.get(f"{url}/api/v1/nothing-is-here")
    if answer.status_code == 404 and _reason(answer) == "not_found":
        return fine("refusals", "arrive unchanged")
    found = f"a wrong address gets {answer.status_code}, not the server's refusal"
    return problem("refusals", found, "nginx: proxy_intercept_errors off;")


def _json(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _reason(answer: httpx.Response) -> str | None:
    document = _json(answer)
    return document.get("reason") if isinstance(document, dict) else None


def _detail(answer: httpx.Response) -> str:
    document = _json(answer)
    detail = document.get("detail") if isinstance(document, dict) else None
    printable = "".join(letter for letter in str(detail)[:200] if letter.isprintable())
    return printable if detail else f"it responds with {answer.status_code}"
