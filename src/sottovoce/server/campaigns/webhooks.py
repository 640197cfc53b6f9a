"""Webhooks: signed notifications of campaign events, with retries."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from sqlalchemy import Connection, event

from sottovoce.errors import Reason, Refused
from sottovoce.http_client.addresses import is_this_machine
from sottovoce.model import Credential
from sottovoce.model.campaign import check_text, check_web_address
from sottovoce.model.credentials import sign
from sottovoce.server.campaigns.drafts import malformed_field
from sottovoce.server.credentials import new_secret
from sottovoce.server.database.campaigns import Stored, the_campaign
from sottovoce.server.database.webhooks import (
    Delivery,
    DeliveryState,
    Webhook,
    add_webhook,
    book,
    claim,
    next_due,
    put_back,
    remove_webhook,
    settle,
    webhooks_of,
)
from sottovoce.server.service import Service
from sottovoce.version import __version__

T = TypeVar("T")

DELAYS = (10, 60, 300, 1_800, 7_200, 21_600, 43_200)
"""Seconds from a failed attempt to the next; after the last, the delivery is given up."""

PATIENCE = 10.0
"""The most seconds of an attempt."""

POLL = 10.0
"""Seconds between two checks for deliveries that other servers on the same database have queued."""

SHORTEST = 0.02
"""Seconds between two checks while another server holds the due deliveries."""

MOST_AT_ONCE = 32
"""The most concurrent deliveries: a slow receiver occupies one for up to `PATIENCE` seconds."""

LONGEST_ADDRESS = 2_000
MOST_WEBHOOKS = 10
"""The most webhooks of a campaign: each is a request at every event."""

_ANNOUNCED = "sottovoce_announced"
_LIMITS = httpx.Limits(max_keepalive_connections=0)

log = logging.getLogger("sottovoce.webhooks")


@dataclass(frozen=True, slots=True)
class Registered:
    """A new webhook. The secret is shown only once; the server stores it for signing."""

    id: str
    secret: str = field(repr=False)


def register(
    service: Service, campaign: str, address: str, *, allow_http: bool = False
) -> Registered:
    """Add a webhook; `allow_http` allows http:// to any machine."""
    _check_address(address, allow_http=allow_http)
    secret = new_secret(Credential.WEBHOOK)

    def work(connection: Connection) -> str:
        number = the_campaign(connection, campaign, hold=True).number
        if len(webhooks_of(connection, number)) >= MOST_WEBHOOKS:
            raise Refused(
                Reason.NOT_ADMITTED,
                f"a campaign has up to {MOST_WEBHOOKS} webhooks; remove one first",
            )
        return add_webhook(connection, number, address, secret)

    return Registered(service.change(work), secret)


def list_webhooks(service: Service, campaign: str) -> list[Webhook]:
    """The campaign's webhooks and their newest deliveries."""
    with service.database.reading() as connection:
        return webhooks_of(connection, the_campaign(connection, campaign).number)


def remove(service: Service, campaign: str, id: str) -> None:
    """Remove a webhook, including its waiting deliveries."""

    def work(connection: Connection) -> None:
        if not remove_webhook(connection, the_campaign(connection, campaign).number, id):
            raise Refused(Reason.NOT_FOUND, "the campaign has no such webhook")

    service.change(work)


def _check_address(address: str, *, allow_http: bool) -> None:
    with malformed_field("address"):
        check_text("the address", address, LONGEST_ADDRESS)
        check_web_address("the address", address)
    parts = urlsplit(address)
    if any(letter.isspace() for letter in address):
        raise Refused(Reason.MALFORMED, "the address has a space in it", field="address")
    if parts.scheme != "https" and not allow_http and not is_this_machine(parts.hostname or ""):
        raise Refused(
            Reason.MALFORMED,
            "the address must start with https://, because over http:// others could read and "
            "change messages; the server's operator can allow http://",
            field="address",
        )


def announce(
    connection: Connection, stored: Stored, event: str, details: Mapping[str, Any]
) -> None:
    """Queue the notifications of an event, in the transaction that causes it.

    They contain counts and the policy's hash: no report, no worker, and no time except the day.
    """
    campaign = stored.campaign
    content = {
        "campaign": campaign.id,
        "day": datetime.now(UTC).date().isoformat(),
        "policy_hash": campaign.terms.policy.hash,
        "workers": campaign.counts.workers,
        "submissions": campaign.counts.submissions,
        "reports": campaign.counts.reports,
        **({"simulated": True} if campaign.simulated else {}),
        **details,
    }
    if book(connection, stored.number, event, content, _now()):
        connection.info[_ANNOUNCED] = True


@contextmanager
def webhook_delivery(service: Service, *, delays: Sequence[float] = DELAYS) -> Iterator[None]:
    """Deliver queued notifications while the block runs; unfinished ones are sent later."""
    courier = Courier(service, delays)
    thread = threading.Thread(
        target=lambda: asyncio.run(courier.work()), name="sottovoce-webhooks", daemon=True
    )

    def committing(connection: Connection) -> None:
        # The courier claims deliveries through the writer's thread, so after this commit.
        if connection.info.pop(_ANNOUNCED, False):
            courier.wake()

    event.listen(service.database.engine, "commit", committing)
    thread.start()
    try:
        yield
    finally:
        event.remove(service.database.engine, "commit", committing)
        courier.stop()
        thread.join()


class Courier:
    """Sends due deliveries concurrently, in its own thread and event loop."""

    def __init__(self, service: Service, delays: Sequence[float]) -> None:
        self._service, self._delays = service, delays
        self._woken, self._stopping = asyncio.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._under_way: dict[int, asyncio.Task[None]] = {}

    def wake(self) -> None:
        """Check for due deliveries now."""
        self._tell(self._woken.set)

    def stop(self) -> None:
        """Stop sending."""
        self._tell(self._stopping.set)
        self._tell(self._woken.set)

    def _tell(self, work: Callable[[], None]) -> None:
        self._started.wait()
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(work)

    async def work(self) -> None:
        """Claim and send until told to stop."""
        self._loop = asyncio.get_running_loop()
        self._started.set()
        if self._service.database.is_sqlite:
            # A server on SQLite is the only one: deliveries claimed before a crash are due.
            await self._change(lambda connection: put_back(connection, _now()))
        # No proxy from the environment, and no redirects.
        async with httpx.AsyncClient(
            timeout=PATIENCE, trust_env=False, follow_redirects=False, limits=_LIMITS
        ) as client:
            while not self._stopping.is_set():
                self._woken.clear()
                wait = await self._turn(client)
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._woken.wait()
            await self._put_back()

    async def _turn(self, client: httpx.AsyncClient) -> float:
        """Start due deliveries; return the seconds until the next one."""
        room = MOST_AT_ONCE - len(self._under_way)
        if not room:
            return POLL

        def work(connection: Connection) -> tuple[list[Delivery], int | None]:
            return claim(connection, _now(), room), next_due(connection)

        claimed, due = await self._change(work) or ([], None)
        for delivery in claimed:
            task = asyncio.create_task(self._deliver(client, delivery))
            self._under_way[delivery.number] = task
        return POLL if due is None else min(POLL, max(SHORTEST, due - time.time()))

    async def _deliver(self, client: httpx.AsyncClient, delivery: Delivery) -> None:
        arrived = await _post(client, delivery)
        attempts = delivery.attempts + 1
        if arrived:
            state, due = DeliveryState.DONE, 0
        elif attempts > len(self._delays):
            state, due = DeliveryState.GIVEN_UP, 0
        else:
            state, due = DeliveryState.WAITING, int(time.time() + self._delays[attempts - 1])
        await self._change(
            lambda connection: settle(connection, delivery.number, attempts, state, due)
        )
        log.info(f"a webhook's delivery is {state}", extra={"count": attempts})
        self._under_way.pop(delivery.number, None)
        self._woken.set()

    async def _put_back(self) -> None:
        tasks, numbers = list(self._under_way.values()), list(self._under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if numbers:
            await self._change(lambda connection: put_back(connection, _now(), numbers))

    async def _change(self, work: Callable[[Connection], T]) -> T | None:
        """The outcome of work once it is durable; None if storage does not respond."""
        try:
            # Shielded: a write that has started is not cancelled.
            return await asyncio.shield(asyncio.wrap_future(self._service.writer.change(work)))
        except Exception as error:
            log.warning("webhooks wait for storage", extra={"error": type(error).__name__})
            return None


async def _post(client: httpx.AsyncClient, delivery: Delivery) -> bool:
    """Whether the receiver confirms the delivery. The rest of its response is not read."""
    body, timestamp = delivery.body.encode("utf-8"), _now()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"sottovoce/{__version__}",
        "Sottovoce-Event": delivery.event,
        "Sottovoce-Delivery": delivery.id,
        "Sottovoce-Timestamp": str(timestamp),
        "Sottovoce-Signature": sign(delivery.secret, timestamp, body),
    }
    try:
        # httpx limits each read; this limits the whole attempt.
        async with (
            asyncio.timeout(PATIENCE),
            client.stream("POST", delivery.address, content=body, headers=headers) as response,
        ):
            return response.is_success
    except Exception as error:
        # A failing address must not affect the others. The message could quote the address, which
        # could contain a secret: only the type of the error is logged.
        log.info("a webhook was not reached", extra={"error": type(error).__name__})
        return False


def _now() -> int:
    return int(time.time())
