"""The site as workers' software sees it: certificate, TLS, headers, and what a proxy does."""

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
"""Days left; one that renews itself does so with a month to go."""

MOST_SKEW, GREAT_SKEW = 60, 3600
"""Seconds. Days are all that is stored, so only a great difference does harm."""

LONG_ENOUGH = 15_552_000
"""Seconds of HSTS: half a year."""


def site(url: str, now: datetime) -> Iterator[Check]:
    """Look at it."""
    try:
        import httpx
    except ImportError:
        raise NotInstalled("httpx", purpose="looking at a site", extra="client") from None
    if url.startswith("https://"):
        yield certificate(url, now)
    with httpx.Client(timeout=PATIENCE, follow_redirects=False) as client:
        try:
            yield from _looks(client, url, now)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            found = f"{url} does not answer ({type(error).__name__})"
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
        "whether a proxy holds them back cannot be told from here",
        "nginx: proxy_buffering off; an export of a large campaign must begin to arrive at once",
    )


def certificate(url: str, now: datetime) -> Check:
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


def _answers(client: httpx.Client, url: str, home: httpx.Response) -> Iterator[Check]:
    if home.status_code != 200:
        found = f"{url}/healthz answers {home.status_code}"
        way = "start the server with --public-url set to this address, and let the proxy pass it on"
        yield problem("reachable", found, way)
    else:
        yield fine("reachable", f"{url} answers")
    ready = client.get(f"{url}/readyz")
    if ready.status_code != 200:
        yield problem("ready", _detail(ready), f"curl -s {url}/readyz")
    else:
        yield fine("ready", "it can store reports")


def _without_tls(url: str) -> Iterator[Check]:
    host = urlsplit(url).hostname or ""
    if host in ("127.0.0.1", "localhost", "::1"):
        yield fine("TLS", "none, and none is needed on this machine")
    else:
        way = "put a proxy with a certificate before it, such as: caddy reverse-proxy"
        yield problem("TLS", "none: anybody on the way can read and change everything", way)


def _plain(client: httpx.Client, url: str) -> Iterator[Check]:
    """Whether http leads to https; a port that is closed is as good."""
    import httpx

    parts = urlsplit(url)
    if parts.port not in (None, 443):
        return
    try:
        answer = client.get(f"http://{parts.hostname}{parts.path}/")
    except httpx.HTTPError:
        yield fine("http", "port 80 does not answer")
        return
    location = answer.headers.get("location", "")
    if answer.is_redirect and location.startswith("https://"):
        yield fine("http", "redirects to https")
    else:
        way = "nginx: return 301 https://$host$request_uri; (Caddy does it by itself)"
        yield problem("http", f"answers {answer.status_code} without TLS", way)


def _headers(home: httpx.Response, secure: bool) -> Iterator[Check]:
    if secure:
        yield _hsts(home.headers.get("strict-transport-security", ""))
    policy = home.headers.get("content-security-policy", "")
    if "default-src 'none'" not in policy:
        found = "missing" if not policy else "not the server's own"
        way = "let the proxy pass the server's headers on; nginx: no add_header for this one"
        yield problem("content security policy", found, way)
    elif len(home.headers.get_list("content-security-policy")) > 1:
        way = "remove the proxy's own Content-Security-Policy"
        yield warning("content security policy", "there are two", way)
    else:
        yield fine("content security policy", "the server's own")
    leaking = [
        f"{name}: {home.headers[name]}"
        for name in ("server", "x-powered-by", "via")
        if re.search(r"\d+\.\d", home.headers.get(name, ""))
    ]
    if leaking:
        yield warning("versions", f"told to everybody ({leaking[0]})", "nginx: server_tokens off;")
    else:
        yield fine("versions", "no header tells any")


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
        return warning("clocks", "the site tells no time", "let the proxy pass the header Date on")
    found = f"{seconds:,.0f} s between the site's and this machine's"
    if seconds > GREAT_SKEW:
        return problem("clocks", found, "sudo timedatectl set-ntp true")
    if seconds > MOST_SKEW:
        return warning("clocks", found, "sudo timedatectl set-ntp true")
    return fine("clocks", found)


def _prefix(client: httpx.Client, url: str) -> Check:
    """Whether the server makes links with the address it is reached by."""
    answer = client.get(f"{url}/api/v1/openapi.json")
    way = f"sottovoce serve --public-url {url}"
    document = _json(answer)
    servers = document.get("servers") if isinstance(document, dict) else None
    if answer.status_code != 200 or not isinstance(document, dict):
        return problem("path prefix", f"{url}/api/v1/openapi.json is not the interface's", way)
    stated = str(servers[0].get("url", "")) if servers else ""
    if urlsplit(stated).path.rstrip("/") != urlsplit(url).path.rstrip("/"):
        found = f"the server believes that it is at {stated or '/'}"
        return problem("path prefix", found, way)
    return fine("path prefix", stated or "none")


def _errors(client: httpx.Client, url: str) -> Check:
    """Workers' software reads the server's refusals: a proxy's pages say nothing to it."""
    answer = client.get(f"{url}/api/v1/nothing-is-here")
    if answer.status_code == 404 and _reason(answer) == "not_found":
        return fine("refusals", "arrive as the server wrote them")
    found = f"a wrong address is answered with {answer.status_code}, not by the server"
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
    return printable if detail else f"it answers {answer.status_code}"
