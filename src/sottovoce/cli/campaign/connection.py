"""A requester's connection for one command, with errors that name its options."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from typing import Annotated, TypeVar

import typer

from sottovoce.cli import console
from sottovoce.errors import Reason, Refused, SottovoceError, Unreachable, UsageError
from sottovoce.requester.client import Requester
from sottovoce.requester.servers import chosen_server

CampaignArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The campaign's ID, from `sottovoce campaign list`.",
        show_default=False,
    ),
]

OverBudgetOption = Annotated[
    bool,
    typer.Option(
        "--over-budget",
        help="Open it even if devices refuse it at their default budget: your workers have raised "
        "theirs.",
    ),
]

ServerOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The server's address. Default: `SOTTOVOCE_URL`, or the server of your last login.",
        show_default=False,
    ),
]

UNKNOWN = (Reason.NO_CREDENTIAL, Reason.BAD_CREDENTIAL)
MOST_LISTED = 10
PAUSE = 2.0
"""Seconds between two requests."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """The server that was chosen by option, if any."""

    server: str | None = None
    allow_http: bool = False


@contextmanager
def connected(context: typer.Context, campaign: str | None = None) -> Iterator[Requester]:
    """A requester for one command, which may concern one campaign."""
    chosen: ServerChoice = context.obj
    server = chosen_server(chosen.server, allow_http=chosen.allow_http)
    with (
        Requester(server.address, server.token, allow_http=server.allow_http) as requester,
        reached(server.address),
    ):
        try:
            yield requester
        except Refused as refused:
            raise _explained(refused, requester, campaign) from None


@contextmanager
def reached(address: str) -> Iterator[None]:
    """Explain what to do if the server does not respond."""
    try:
        yield
    except Unreachable as error:
        if error.reason == "no connection":
            asks = "no connection: check that it is running, and its address"
            raise Unreachable(address, reason=asks) from None
        raise


def watch(
    found: T, look: Callable[[], T], show: Callable[[T], None], is_over: Callable[[T], bool]
) -> None:
    """Show each change until nothing can change any more, or until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        while not is_over(found):
            time.sleep(PAUSE)
            before, found = found, look()
            if found != before:
                console.note("")
                show(found)


def _explained(refused: Refused, requester: Requester, campaign: str | None) -> SottovoceError:
    """A refusal with advice for the user of the command."""
    if refused.reason in UNKNOWN:
        way = "log in again with `sottovoce campaign login`"
        if os.environ.get("SOTTOVOCE_TOKEN"):
            way = "SOTTOVOCE_TOKEN is not valid there"
        return Refused(refused.reason, f"{requester.address} does not accept your token: {way}")
    if refused.reason is Reason.NOT_FOUND and campaign is not None:
        return _misnamed(requester, campaign) or refused
    return refused


def asked_day(text: str | None, option: str) -> date | None:
    """A date such as 2031-05-09 from an option."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{option} takes a date such as {date.today():%Y}-12-31 (year-month-day), not {text!r}"
        ) from None


def _misnamed(requester: Requester, campaign: str) -> UsageError | None:
    """An error that lists the existing campaigns; None if this one exists."""
    found = [each["id"] for each in requester.campaigns()]
    if campaign in found:
        return None
    start = f"there is no campaign {campaign!r}"
    if not found:
        return UsageError(
            f"{start}, and the server has no other: create one with sottovoce campaign create"
        )
    near = difflib.get_close_matches(campaign.lower(), found, n=1)
    if near:
        return UsageError(f"{start}: did you mean {near[0]!r}?")
    more = ", …" if len(found) > MOST_LISTED else ""
    return UsageError(f"{start}; there are {', '.join(found[:MOST_LISTED])}{more}")
