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
    put_back_all,
    remove_webhook,
    settle,
    webhooks_of,
)
from sottovoce.server.service import Service
from sottovoce.version import __version__

T = TypeVar("T")

DELAYS = (10, 60, 300, 1_800, 7_200, 21_600, 43_200)
"""Seconds from an attempt that failed to the next; after the last, the delivery is given up."""

PATIENCE = 10.0
"""Seconds an attempt may take, all in all."""

POLL = 10.0
"""Seconds until a look at what other servers on the same database have booked."""

SHORTEST = 0.02
"""Seconds between two looks: another server may hold what is due, for a moment."""

MOST_AT_ONCE = 32
"""Deliveries under way: a slow receiver holds up one of them for as long as `PATIENCE`."""

LONGEST_ADDRESS = 2_000
MOST_WEBHOOKS = 10
"""Of one campaign: each is a request that the server makes at every event."""

_ANNOUNCED = "sottovoce_announced"
_LIMITS = httpx.Limits(max_keepalive_connections=0)

log = logging.getLogger("sottovoce.webhooks")


@dataclass(frozen=True, slots=True)
class Registered:
    """A new webhook. The secret is shown this once; the server keeps it, since it signs with it."""

    id: str
    secret: str = field(repr=False)


def register(
    service: Service, campaign: str, address: str, *, allow_http: bool = False
) -> Registered:
    """Tell this address what happens to the campaign; `allow_http` for any machine."""
    _check_address(address, allow_http=allow_http)
    secret = new_secret(Credential.WEBHOOK)

    def work(connection: Connection) -> str:
        number = the_campaign(connection, campaign, hold=True).number
        if len(webhooks_of(connection, number)) >= MOST_WEBHOOKS:
            raise Refused(
                Reason.NOT_ADMITTED,
                f"a campaign has up to {MOST_WEBHOOKS} webhooks: remove one first",
            )
        return add_webhook(connection, number, address, secret)

    return Registered(service.change(work), secret)


def list_webhooks(service: Service, campaign: str) -> list[Webhook]:
    """The campaign's webhooks and what became of their newest deliveries."""
    with service.database.reading() as connection:
        return webhooks_of(connection, the_campaign(connection, campaign).number)


def remove(service: Service, campaign: str, id: str) -> None:
    """Tell it no more, not even what waits."""

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
            "the address must start with https://: over http:// others could read and alter what "
            "is told; the server's operator can allow it",
            field="address",
        )


def announce(
    connection: Connection, stored: Stored, event: str, details: Mapping[str, Any]
) -> None:
    """Book that an event is to be told, in the transaction that makes it happen.

    Told are counts and the policy's hash: no report, no worker, and no time but the day.
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
    """Deliver what is booked while the block runs; what is under way at its end is sent later."""
    courier = Courier(service, delays)
    thread = threading.Thread(
        target=lambda: asyncio.run(courier.work()), name="sottovoce-webhooks", daemon=True
    )

    def committing(connection: Connection) -> None:
        # The courier claims through the writer's thread: after this commit, not before.
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
    """Sends what is due, many at once, in a thread and event loop of its own."""

    def __init__(self, service: Service, delays: Sequence[float]) -> None:
        self._service, self._delays = service, delays
        self._woken, self._stopping = asyncio.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._under_way: dict[int, asyncio.Task[None]] = {}

    def wake(self) -> None:
        """Look at what is due, now."""
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
            # A server on SQLite is the only one: what was under way when it died is due.
            await self._change(lambda connection: put_back_all(connection, _now()))
        # No proxy from the environment, and nowhere else than where the requester said.
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
        """Start what is due; how long nothing else will be."""
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
            await self._change(lambda connection: put_back(connection, numbers, _now()))

    async def _change(self, work: Callable[[Connection], T]) -> T | None:
        """The outcome of work once it is durable; None where storage does not answer now."""
        try:
            # Shielded: what the writer has begun is not cancelled.
            return await asyncio.shield(asyncio.wrap_future(self._service.writer.change(work)))
        except Exception as error:
            log.warning("webhooks wait for storage", extra={"error": type(error).__name__})
            return None


async def _post(client: httpx.AsyncClient, delivery: Delivery) -> bool:
    """Whether the receiver says that it has it. What else it says is not read."""
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
        # httpx limits each read, and a receiver may drip: this limits them all.
        async with (
            asyncio.timeout(PATIENCE),
            client.stream("POST", delivery.address, content=body, headers=headers) as response,
        ):
            return response.is_success
    except Exception as error:
        # Whatever an address or its receiver does, the others are told. The message may quote the
        # address, which may hold a secret: only the kind of error is kept.
        log.info("a webhook was not reached", extra={"error": type(error).__name__})
        return False


def _now() -> int:
    return int(time.time())
