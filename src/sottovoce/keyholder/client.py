"""HTTP client of a keyholder: fetches work, sends messages, verifies replies.

The link that a keyholder is given says which campaign of which server it is, and has the secret of
its seat.
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
    """A campaign at a server, and the secret that lets a keyholder fetch its work there.

    The secret proves nothing to anybody else: what counts are the keyholder's own keys.

    >>> KeyholderLink.parse("https://answers.example/k/leaf0#svh_" + "A" * 43)
    KeyholderLink(server='https://answers.example', campaign='leaf0')
    """

    server: str
    campaign: str
    secret: str = field(repr=False)

    @classmethod
    def parse(cls, link: str, *, allow_http: bool = False) -> Self:
        """The link in a text. Errors quote nothing of it."""
        return cls(*parsed_link(link, "k", Credential.KEYHOLDER, allow_http=allow_http))


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeyholderWork:
    """What is to do, and for which batch."""

    kind: WorkKind
    number: int


@dataclass(frozen=True, slots=True)
class BatchMessages:
    """What the server has of one batch; `document` is the whole reply, kept as evidence."""

    propose: bytes
    items: tuple[bytes, ...]
    checks: tuple[bytes, ...]
    document: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClosingMessages:
    """The state that the server asks to open, and who confirmed it."""

    close: bytes
    confirms: tuple[bytes, ...]
    document: Any = field(repr=False)


class KeyholderClient:
    """The routes of one campaign for one keyholder. A message that arrives twice is one message."""

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
        """What the campaign is about, and the seat that the server gives this keyholder."""
        return self._parsed("", self._session)

    def work(self, wait: int) -> KeyholderWork:
        """What is to do; the server answers at once if there is something, else within `wait`."""
        return self._parsed(f"/next?wait={wait}", _work)

    def batch(self, number: int) -> BatchMessages:
        """The batch with this number."""
        return self._parsed(f"/batches/{number}", _batch)

    def closing(self) -> ClosingMessages:
        """What is to be opened."""
        return self._parsed("/close", _closing)

    def send(self, message: bytes) -> None:
        """Send a message; the server has it when this returns."""
        try:
            self._connection.post(f"{self._path}/messages", content=message)
        except Refused as refused:
            if refused.reason is Reason.CONFLICT:
                raise SealedRefused(
                    "the server",
                    "it has another message of this keyholder for the same step: the keys are in "
                    "use elsewhere, or this folder is an old copy",
                ) from None
            raise

    def _session(self, document: Any) -> tuple[Session, int]:
        policy = Policy.of_json(document["policy"])
        names = tuple(document["tasks"])
        if document["campaign"] != self.link.campaign or not set(map(type, names)) <= {str}:
            raise ValueError
        if document["policy_hash"] != policy.hash:
            raise SealedRefused("the server", "the policy is not the one that its hash names")
        return Session(self.link.campaign, policy, names), int(document["seat"])

    def _parsed(self, path: str, parse: Callable[[Any], T]) -> T:
        document = self._connection.get(f"{self._path}{path}")
        try:
            return parse(document)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Unreachable(self.link.server, reason="what it says makes no sense") from None
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
