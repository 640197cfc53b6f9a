"""A connection to one server: the same request again until it is answered, or retries end."""

from __future__ import annotations

import json as _json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit

from sottovoce.errors import SottovoceError, Unreachable, UsageError, absent
from sottovoce.http_client.addresses import checked_address, is_to_this_machine
from sottovoce.http_client.replies import Download, content_of, printable, refusal_of
from sottovoce.version import __version__

try:
    import httpx
except ImportError:
    if not TYPE_CHECKING:
        httpx = absent("httpx", purpose="talking to a server", extra="client")


T = TypeVar("T")

API = "/api/v1"
CONNECT_TIMEOUT = 10.0
LARGEST = 1 << 28
"""Bytes of a reply that is not streamed: nobody fills this machine's memory."""

AGAIN = frozenset({429, 502, 503, 504})
UNDONE = frozenset({429, 503})
"""After these the server has done nothing, so that even what must not happen twice is repeated."""


LONGEST_PAUSE = 60.0
"""Seconds. A server may ask for more, and is then tried too early."""

_chance = secrets.SystemRandom()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to so many retries, each after about twice as long as the one before.

    The pause is drawn between half of that and all of it, so that clients that were turned away
    together do not come back together. What the server asks for in Retry-After is the least.
    """

    retries: int = 4
    pause: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.retries <= 100 or not 0 <= self.pause <= LONGEST_PAUSE:
            raise UsageError("retries are from 0 to 100, and the first pause from 0 to 60 seconds")

    def before(self, retry: int, asked: str | None = None) -> float:
        """Seconds to wait before this retry, counted from 1."""
        full = self.pause * 2.0 ** (retry - 1)
        drawn = full / 2 + _chance.random() * full / 2
        return min(LONGEST_PAUSE, max(drawn, _seconds(asked)))


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why an attempt failed, whether another may follow, and what Retry-After says."""

    error: SottovoceError
    again: bool
    asked: str | None = None


class Connection:
    """Requests to one server, with a credential that is in no error, log or repr.

    GET, PUT and DELETE mean the same however often they arrive: they are sent again, byte for byte,
    when nobody answers or the server asks for patience. POST is sent again only where it was not
    acted upon. Redirects are not followed: a credential goes where its owner sent it.

    Raises `Refused` for what the server refuses, and `Unreachable` when it does not answer, or
    something answers that is no Sottovoce server.
    """

    def __init__(
        self,
        url: str,
        credential: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 4,
        pause: float = 0.5,
        allow_http: bool = False,
    ) -> None:
        self.address: str = checked_address(url, allow_http=allow_http)
        self._credential = credential
        self._retry_policy = RetryPolicy(retries, pause)
        self._client = httpx.Client(
            timeout=httpx.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT)),
            headers={"User-Agent": f"sottovoce/{__version__}", "Accept-Encoding": "identity"},
            follow_redirects=False,
            # A proxy would carry what is for this machine, unencrypted, to another.
            trust_env=not is_to_this_machine(self.address),
        )

    def __repr__(self) -> str:
        return f"Connection({self.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def get(
        self,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        credential: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON at a path below /api/v1."""
        return self._tried(self._request("GET", path, query, credential, headers), self._read)

    def put(
        self,
        path: str,
        json: Any = None,
        *,
        content: bytes | None = None,
        credential: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON answer to a PUT of JSON, or of these very bytes."""
        body = _body(json, content)
        return self._tried(self._request("PUT", path, None, credential, headers, body), self._read)

    def post(
        self,
        path: str,
        json: Any = None,
        *,
        content: bytes | None = None,
        credential: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON answer to a POST of JSON, or of these very bytes."""
        body = _body(json, content)
        return self._tried(self._request("POST", path, None, credential, headers, body), self._read)

    def delete(
        self, path: str, *, credential: str | None = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The JSON answer to a DELETE; mostly None."""
        return self._tried(self._request("DELETE", path, None, credential, headers), self._read)

    @contextmanager
    def stream(
        self,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        credential: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Download]:
        """The bytes at a path, piece by piece; a download that breaks off raises Unreachable."""
        request = self._request("GET", path, query, credential, headers)
        response = self._tried(request, lambda response: response)
        try:
            yield Download(response.headers, self._pieces(response))
        finally:
            response.close()

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        credential: str | None,
        headers: Mapping[str, str] | None,
        body: bytes | None = None,
    ) -> httpx.Request:
        sent = dict(headers or {})
        bearer = credential or self._credential
        if bearer is not None:
            if not (bearer.isascii() and bearer.isprintable()):
                raise UsageError("a credential has only letters, digits, - and _ after its prefix")
            sent["Authorization"] = f"Bearer {bearer}"
        if body is not None and not any(name.lower() == "content-type" for name in sent):
            sent["Content-Type"] = "application/json"
        fault = None
        try:
            return self._client.build_request(
                method, f"{self.address}{API}{path}", params=query, headers=sent, content=body
            )
        except (httpx.InvalidURL, ValueError) as error:
            fault = type(error).__name__
        raise UsageError(f"no request can be made for this address ({fault})")

    def _tried(self, request: httpx.Request, use: Callable[[httpx.Response], T | _Failure]) -> T:
        """What `use` makes of a response that says yes, trying again as patience allows.

        Errors are made in one place and raised in another: the library's own hold the request,
        secrets and all, and would travel along as their context.
        """
        retry = 0
        while True:
            outcome = self._attempt(request, use)
            if not isinstance(outcome, _Failure):
                return outcome
            retry += 1
            if not outcome.again or retry > self._retry_policy.retries:
                raise outcome.error
            time.sleep(self._retry_policy.before(retry, outcome.asked))

    def _attempt(
        self, request: httpx.Request, use: Callable[[httpx.Response], T | _Failure]
    ) -> T | _Failure:
        once = request.method == "POST"
        try:
            response = self._client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            return _Failure(self._unreachable(_words(error)), not _is_certificate(error))
        except httpx.TransportError as error:
            return _Failure(self._unreachable(_words(error)), not once)
        try:
            if response.is_success:
                return use(response)
            again = response.status_code in (UNDONE if once else AGAIN)
            return _Failure(self._fault(response), again, response.headers.get("retry-after"))
        except Unreachable as error:  # the reply broke off
            response.close()
            return _Failure(Unreachable(error.address, reason=error.reason), not once)

    def _read(self, response: httpx.Response) -> Any:
        body = self._whole(response)
        try:
            return content_of(body)
        except ValueError:
            words = "what answers is no Sottovoce server: is the address right?"
            return _Failure(self._unreachable(words), again=False)

    def _fault(self, response: httpx.Response) -> SottovoceError:
        status = response.status_code
        if 300 <= status < 400:
            response.close()
            return self._unreachable(
                f"it sends on to {_origin(response.headers.get('location', ''))}, and no secret "
                "is sent after that: give the address that it really has"
            )
        refused = refusal_of(status, response.headers, self._whole(response))
        return refused or self._unreachable(f"HTTP {status}, not from a Sottovoce server")

    def _whole(self, response: httpx.Response) -> bytes:
        """The body, after which the connection is free again."""
        pieces, size = [], 0
        for piece in self._pieces(response):
            size += len(piece)
            if size > LARGEST:
                raise self._unreachable("its reply does not end")
            pieces.append(piece)
        return b"".join(pieces)

    def _pieces(self, response: httpx.Response) -> Iterator[bytes]:
        fault = None
        try:
            yield from response.iter_bytes()
        except (httpx.TransportError, httpx.DecodingError) as error:
            fault = self._unreachable(_words(error))
        if fault is not None:
            raise fault

    def _unreachable(self, reason: str) -> Unreachable:
        return Unreachable(self.address, reason=reason)


def _body(json: Any, content: bytes | None) -> bytes | None:
    if content is not None or json is None:
        return content
    return _json.dumps(json, allow_nan=False).encode()


def _words(error: Exception) -> str:
    """What went wrong, in words that hold nothing of the request."""
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    if _is_certificate(error):
        return "its certificate is not to be trusted"
    if isinstance(error, httpx.ConnectError):
        return "no connection"
    return "the connection broke"


def _is_certificate(error: Exception) -> bool:
    return "CERTIFICATE_VERIFY" in str(error)


def _origin(location: str) -> str:
    try:
        parts = urlsplit(location)
    except ValueError:
        return "another address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "another address"
    return printable(f"{parts.scheme}://{parts.hostname}", longest=200)


def _seconds(asked: str | None) -> float:
    """What Retry-After says: seconds, or a moment; 0 for what cannot be read."""
    if asked is None:
        return 0.0
    text = asked.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        return 0.0
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
