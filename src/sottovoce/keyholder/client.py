"""A keyholder's HTTP client: fetches work, sends messages, checks replies.

A keyholder's link names the server and the campaign, and contains the secret of its seat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from sottovoce.errors import Reason, Refused, SealedRefused, Unreachable, UsageError
from sottovoce.http_client.addresses import parsed_link
from sottovoce.http_client.connection import Connection
from sottovoce.model import Credential, Policy
from sottovoce.model.canonical_json import canonical_bytes
from sottovoce.securesum.committee.messages import WorkKind
from sottovoce.securesum.committee.terms import Session


@dataclass(frozen=True, slots=True)
class KeyholderLink:
    """A campaign on a server, and the secret that lets a keyholder fetch its work.

    The secret only gives access to the server: messages are signed with the keyholder's own keys.

    >>> KeyholderLink.parse("https://answers.example/k/leaf0#svh_" + "A" * 43)
    KeyholderLink(server='https://answers.example', campaign='leaf0')
    """

    server: str
    campaign: str
    secret: str = field(repr=False)

    @classmethod
    def parse(cls, link: str, *, allow_http: bool = False) -> Self:
        """Parse a link. Errors quote nothing of it."""
        return cls(*parsed_link(link, "k", Credential.KEYHOLDER, allow_http=allow_http))


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeyholderWork:
    """The next step, and its batch."""

    kind: WorkKind
    number: int


@dataclass(frozen=True, slots=True)
class BatchMessages:
    """The messages of one batch; `document` is the whole reply, kept as evidence."""

    propose: bytes
    items: tuple[bytes, ...]
    checks: tuple[bytes, ...]
    document: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClosingMessages:
    """The state that the server asks to open, with its confirmations."""

    close: bytes
    confirms: tuple[bytes, ...]
    document: Any = field(repr=False)


class KeyholderClient:
    """The routes of one campaign for one keyholder. Repeated messages count once."""

    def __init__(
        self,
        link: KeyholderLink,
        *,
        allow_http: bool = False,
        timeout: float = 60.0,
        retries: int = 4,
    ) -> None:
        self.link = link
        self._path = f"/campaigns/{link.campaign}/sealed"
        self._connection = Connection(
            link.server, link.secret, timeout=timeout, retries=retries, allow_http=allow_http
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def session(self) -> tuple[Session, int]:
        """The campaign's terms, and the seat that the server gives this keyholder."""
        return self._parsed("", self._session)

    def work(self, wait: int) -> KeyholderWork:
        """The next step; the server replies at once if there is one, otherwise within `wait`."""
        return self._parsed(f"/next?wait={wait}", _work)

    def batch(self, number: int) -> BatchMessages:
        """The batch with this number."""
        return self._parsed(f"/batches/{number}", _batch)

    def closing(self) -> ClosingMessages:
        """The state to open."""
        return self._parsed("/close", _closing)

    def send(self, message: bytes) -> None:
        """Send a message; the server has it when this returns."""
        try:
            self._connection.post(f"{self._path}/messages", content=message)
        except Refused as refused:
            if refused.reason is Reason.CONFLICT:
                raise SealedRefused(
                    "the server",
                    "it has another message of this keyholder for the same step; the keys are "
                    "used on another machine, or this folder is an old copy",
                ) from None
            raise

    def _session(self, document: Any) -> tuple[Session, int]:
        policy = Policy.of_json(document["policy"])
        names = tuple(document["tasks"])
        if document["campaign"] != self.link.campaign or not set(map(type, names)) <= {str}:
            raise ValueError
        if document["policy_hash"] != policy.hash:
            raise SealedRefused("the server", "the policy does not match its hash")
        return Session(self.link.campaign, policy, names), int(document["seat"])

    def _parsed(self, path: str, parse: Callable[[Any], T]) -> T:
        document = self._connection.get(f"{self._path}{path}")
        try:
            return parse(document)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Unreachable(self.link.server, reason="its reply is invalid") from None
        except UsageError as error:
            raise SealedRefused("the server", str(error)) from None


def _work(document: Any) -> KeyholderWork:
    number = document["number"]
    if number is not None and (type(number) is not int or number < 0):
        raise ValueError
    return KeyholderWork(WorkKind(document["work"]), number or 0)


def _batch(document: Any) -> BatchMessages:
    return BatchMessages(
        canonical_bytes(document["propose"]),
        tuple(map(canonical_bytes, document["items"])),
        tuple(map(canonical_bytes, document["checks"])),
        document,
    )


def _closing(document: Any) -> ClosingMessages:
    return ClosingMessages(
        canonical_bytes(document["close"]),
        tuple(map(canonical_bytes, document["confirms"])),
        document,
    )
