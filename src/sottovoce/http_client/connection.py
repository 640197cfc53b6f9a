"""A connection to one server, with retries."""

from __future__ import annotations

import json as _json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack
from urllib.parse import urlsplit

from sottovoce.errors import SottovoceError, Unreachable, UsageError, absent
from sottovoce.http_client.addresses import checked_address, is_to_this_machine
from sottovoce.http_client.replies import Download, content_of, printable, refusal_of
from sottovoce.version import __version__

try:
    import httpx
except ImportError:
    if not TYPE_CHECKING:
        httpx = absent("httpx", purpose="connecting to a server", extra="client")


T = TypeVar("T")

API = "/api/v1"
CONNECT_TIMEOUT = 10.0
LARGEST = 1 << 28
"""The most bytes of a reply that is not streamed."""

AGAIN = frozenset({429, 502, 503, 504})
UNDONE = frozenset({429, 503})
"""After these the server has done nothing, so even a POST can be repeated."""


LONGEST_PAUSE = 60.0
"""The longest pause in seconds, even if the server asks for more."""

_chance = secrets.SystemRandom()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retries with pauses that double each time.

    The pause is drawn between half and all of that, so that clients do not retry at the same
    moment. Retry-After is the minimum.
    """

    retries: int = 4
    pause: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.retries <= 100 or not 0 <= self.pause <= LONGEST_PAUSE:
            raise UsageError(
                "retries must be from 0 to 100, and the first pause from 0 to 60 seconds"
            )

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


class Sent(TypedDict, total=False):
    """The options of a request: a query, another credential than the connection's, headers."""

    query: Mapping[str, Any] | None
    credential: str | None
    headers: Mapping[str, str] | None


class Connection:
    """Requests to one server, with a credential that is in no error, log or repr.

    GET, PUT and DELETE are idempotent: they are sent again, byte for byte, if there is no response
    or the server asks to wait. POST is sent again only if it had no effect. Redirects are not
    followed: a credential is sent only to its own server.

    Raises `Refused` if the server refuses a request, and `Unreachable` if it does not respond or is
    not a Sottovoce server.
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
            # A proxy would send requests for this machine, unencrypted, to another machine.
            trust_env=not is_to_this_machine(self.address),
        )

    def __repr__(self) -> str:
        return f"Connection({self.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def get(self, path: str, **sent: Unpack[Sent]) -> Any:
        """The JSON at a path below /api/v1."""
        return self._tried(self._request("GET", path, **sent), self._read)

    def put(
        self, path: str, json: Any = None, *, content: bytes | None = None, **sent: Unpack[Sent]
    ) -> Any:
        """The JSON answer to a PUT of JSON, or of these bytes."""
        return self._tried(self._request("PUT", path, _body(json, content), **sent), self._read)

    def post(
        self, path: str, json: Any = None, *, content: bytes | None = None, **sent: Unpack[Sent]
    ) -> Any:
        """The JSON answer to a POST of JSON, or of these bytes."""
        return self._tried(self._request("POST", path, _body(json, content), **sent), self._read)

    def delete(self, path: str, **sent: Unpack[Sent]) -> Any:
        """The JSON response to a DELETE; usually None."""
        return self._tried(self._request("DELETE", path, **sent), self._read)

    @contextmanager
    def stream(self, path: str, **sent: Unpack[Sent]) -> Iterator[Download]:
        """The bytes at a path, piece by piece; an interrupted download raises Unreachable."""
        request = self._request("GET", path, **sent)
        response = self._tried(request, lambda response: response)
        try:
            yield Download(response.headers, self._pieces(response))
        finally:
            response.close()

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        credential: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Request:
        sent = dict(headers or {})
        bearer = credential or self._credential
        if bearer is not None:
            if not (bearer.isascii() and bearer.isprintable()):
                raise UsageError(
                    "a credential may have only letters, digits, - and _ after its prefix"
                )
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
        """The result of `use` on a successful response, with retries.

        Errors are made in one place and raised in another: httpx's errors contain the request with
        its secrets and would be attached as context.
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
            return _Failure(self._unreachable(failure_words(error)), not _is_certificate(error))
        except httpx.TransportError as error:
            return _Failure(self._unreachable(failure_words(error)), not once)
        try:
            if response.is_success:
                return use(response)
            again = response.status_code in (UNDONE if once else AGAIN)
            return _Failure(self._fault(response), again, response.headers.get("retry-after"))
        except Unreachable as error:  # the reply was cut off
            response.close()
            return _Failure(Unreachable(error.address, reason=error.reason), not once)

    def _read(self, response: httpx.Response) -> Any:
        body = self._whole(response)
        try:
            return content_of(body)
        except ValueError:
            words = "this is not a Sottovoce server; check the address"
            return _Failure(self._unreachable(words), again=False)

    def _fault(self, response: httpx.Response) -> SottovoceError:
        status = response.status_code
        if 300 <= status < 400:
            response.close()
            return self._unreachable(
                f"it sends on to {_origin(response.headers.get('location', ''))}, and no secret "
                "is sent there; give the final address"
            )
        refused = refusal_of(status, response.headers, self._whole(response))
        return refused or self._unreachable(f"HTTP {status}, not from a Sottovoce server")

    def _whole(self, response: httpx.Response) -> bytes:
        """The whole body; the connection is free afterwards."""
        pieces, size = [], 0
        for piece in self._pieces(response):
            size += len(piece)
            if size > LARGEST:
                raise self._unreachable("its reply is too long")
            pieces.append(piece)
        return b"".join(pieces)

    def _pieces(self, response: httpx.Response) -> Iterator[bytes]:
        fault = None
        try:
            yield from response.iter_bytes()
        except (httpx.TransportError, httpx.DecodingError) as error:
            fault = self._unreachable(failure_words(error))
        if fault is not None:
            raise fault

    def _unreachable(self, reason: str) -> Unreachable:
        return Unreachable(self.address, reason=reason)


def _body(json: Any, content: bytes | None) -> bytes | None:
    if content is not None or json is None:
        return content
    return _json.dumps(json, allow_nan=False).encode()


def failure_words(error: Exception) -> str:
    """The error in words that quote nothing of the request."""
    if isinstance(error, httpx.TimeoutException):
        return "no response in time"
    if _is_certificate(error):
        return "its certificate is not trusted"
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
    """The seconds in Retry-After, given as seconds or a date; 0 if invalid."""
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
