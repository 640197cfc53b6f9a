"""Whether a live server serves the worker's page of this release, byte for byte.

Needs httpx only: checking a server does not need the server's dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.errors import Unreachable, absent
from sottovoce.http_client.addresses import is_to_this_machine, page_address
from sottovoce.http_client.connection import failure_words
from sottovoce.server.web.worker_page import (
    COMMON,
    NOTHING,
    PAGE,
    PAGE_RULES,
    SERVICE_WORKER,
    SHOWN,
    STATIC,
    fingerprint,
    worker_files,
)

try:
    import httpx
except ImportError:
    if not TYPE_CHECKING:
        httpx = absent("httpx", purpose="checking a server's page", extra="client")


LARGEST = 1 << 22
"""The most bytes of a file. All files of the release are smaller."""

PATIENCE = 20.0

# Browser headers, so that the server cannot easily distinguish a check from a visit.
AS_A_BROWSER = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Accept": "*/*",
    "Accept-Language": "en",
    "Accept-Encoding": "gzip, deflate",
}
UNWANTED = (
    "Clear-Site-Data", "Content-Location", "Content-Security-Policy-Report-Only", "Link",
    "Refresh", "Report-To", "Reporting-Endpoints", "Service-Worker-Allowed", "Set-Cookie",
    "SourceMap", "X-SourceMap",
)  # fmt: skip
"""Headers that redirect, load, store or report something that is not in the files."""

KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_VERSION = re.compile(rb'"info":\{[^}]{0,4000}?"version":"([0-9A-Za-z.+-]{1,40})"')


class PageState(StrEnum):
    """How a file or header on the server differs from the release."""

    SAME = "same"
    CHANGED = "CHANGED"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class PageDifference:
    """A file or header, in the release and on the server."""

    name: str
    state: PageState
    expected: str
    found: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class CheckedPage:
    """The result of a check. `version` is the release that a differing server claims to run."""

    address: str
    files: tuple[PageDifference, ...]
    headers: tuple[PageDifference, ...]
    version: str | None

    @property
    def is_same(self) -> bool:
        """Whether nothing differs."""
        return all(each.state is PageState.SAME for each in (*self.files, *self.headers))


def check_page(link: str, *, allow_http: bool = False, release: Path = STATIC) -> CheckedPage:
    """Fetch the worker page and every file it may load, and compare them with the release.

    The part of a link after the # is the worker's secret: it is cut off first and never sent.
    Redirects are not followed: they are not part of the release.
    """
    server, campaign = page_address(link.strip().partition("#")[0], "c", allow_http=allow_http)
    page = f"/c/{campaign}"
    places = {PAGE: page, **{name: f"/static/{name}" for name in worker_files(release)}}
    trusts = not is_to_this_machine(server)
    with httpx.Client(
        timeout=PATIENCE, follow_redirects=False, headers=AS_A_BROWSER, trust_env=trusts
    ) as client:
        files: list[PageDifference] = []
        headers: list[PageDifference] = []
        for name, place in places.items():
            reply = _fetched(client, server, place)
            files.append(_compared(name, (release / name).read_bytes(), reply))
            headers += _headers(name, reply)
        checked = CheckedPage(server + page, tuple(files), tuple(headers), None)
        if checked.is_same:
            return checked
        return _with_version(checked, _fetched(client, server, "/api/v1/openapi.json"))


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    headers: httpx.Headers
    content: bytes


def _fetched(client: httpx.Client, server: str, place: str) -> _Reply:
    """The decompressed content at an address of a server, without any credential."""
    content = bytearray()
    try:
        with client.stream("GET", server + place) as reply:
            for chunk in reply.iter_bytes():
                content += chunk
                if len(content) > LARGEST:
                    break
            return _Reply(reply.status_code, reply.headers, bytes(content))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unreachable(server, reason=failure_words(error)) from None


def _compared(name: str, ours: bytes, reply: _Reply) -> PageDifference:
    expected = fingerprint(ours)
    if reply.status != 200:
        return PageDifference(name, PageState.MISSING, expected, None, _trouble(name, reply.status))
    found = fingerprint(reply.content)
    return PageDifference(
        name, PageState.SAME if found == expected else PageState.CHANGED, expected, found
    )


def _trouble(name: str, status: int) -> str:
    if 300 <= status < 400:
        return "the server redirects visitors"
    if status == 404 and name == PAGE:
        return "the campaign does not exist or is a draft"
    return f"the server answers {status}"


def _headers(name: str, reply: _Reply) -> Iterator[PageDifference]:
    """All headers of the page; of the other files only those that differ."""
    if reply.status != 200:
        return
    expected = _expected(name)
    for header, value in expected.items():
        # Headers of the same name are joined: a second one changes the meaning of the first.
        finding = _told(f"{name}: {header}", value, reply.headers.get(header))
        if name == PAGE or finding.state is not PageState.SAME:
            yield finding
    for header in UNWANTED:
        if header not in expected and header in reply.headers:
            found = reply.headers[header]
            yield PageDifference(
                f"{name}: {header}", PageState.CHANGED, "", found, "not in the release"
            )


def _told(name: str, expected: str, found: str | None) -> PageDifference:
    if found is None:
        return PageDifference(name, PageState.MISSING, expected, None)
    # A UTF-8 charset may be given or not; any other charset changes the file.
    plain = re.sub(r"; ?charset=utf-8$", "", found, flags=re.IGNORECASE)
    return PageDifference(
        name, PageState.SAME if plain == expected else PageState.CHANGED, expected, found
    )


def _expected(name: str) -> Mapping[str, str]:
    kind = {"Content-Type": KINDS[Path(name).suffix]}
    if name == PAGE:
        return {**SHOWN, "Content-Security-Policy": PAGE_RULES, **kind}
    if name == "service-worker.js":
        return {**COMMON, **SERVICE_WORKER, **kind}
    return {**COMMON, "Content-Security-Policy": NOTHING, **kind}


def _with_version(checked: CheckedPage, reply: _Reply) -> CheckedPage:
    found = _VERSION.search(reply.content) if reply.status == 200 else None
    return replace(checked, version=found[1].decode("ascii") if found else None)
