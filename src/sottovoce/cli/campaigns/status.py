"""`sottovoce campaign status`."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from sottovoce.cli import screen
from sottovoce.cli.campaigns.connecting import CampaignArgument, connected
from sottovoce.cli.campaigns.words import counted, guarantee_lines, shown, summary_words, titled
from sottovoce.cli.options import JsonOption

if TYPE_CHECKING:
    from sottovoce.requester.client import Requester
    from sottovoce.requester.views import (
        CampaignView,
        InviteCounts,
        RejectionsView,
        SummaryView,
    )

__all__ = ["status"]

PAUSE = 2.0
"""Seconds between two looks."""


class Look(TypedDict):
    """What a look at a campaign finds."""

    campaign: CampaignView
    invites: InviteCounts
    summary: SummaryView | None
    reports_waiting: int
    rejections: RejectionsView


def status(
    context: typer.Context,
    campaign: CampaignArgument,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again every other second, until it is closed.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say how far a campaign is: who took part, what is promised, and what is inferred so far.

    With --watch it is said again at each change; Ctrl-C ends that.
    """
    with connected(context, campaign) as requester:
        found = _look(requester, campaign)
        _print(found, json=json)
        if watch:
            with suppress(KeyboardInterrupt):
                _watch(requester, found, json=json)


def _watch(requester: Requester, found: Look, *, json: bool) -> None:
    """Until nothing can change any more."""
    while found["campaign"]["state"] != "closed" or found["reports_waiting"]:
        time.sleep(PAUSE)
        before, found = found, _look(requester, found["campaign"]["id"])
        if found != before:
            screen.note("")
            _print(found, json=json)


def _look(requester: Requester, campaign: str) -> Look:
    page = requester.results_page(campaign, limit=1)
    return {
        "campaign": requester.campaign(campaign),
        "invites": requester.invites(campaign),
        "summary": page["summary"],
        "reports_waiting": page["reports_waiting"],
        "rejections": requester.rejections(campaign),
    }


def _print(found: Look, *, json: bool) -> None:
    if json:
        screen.print_json(found)
        return
    campaign = found["campaign"]
    screen.say(f"{campaign['id']}: {titled(campaign)}")
    refused = _refused(found["rejections"])
    state, counts = _state(campaign), _counts(campaign)
    for line in [state, counts, *refused, *_progress(found), *_promise(campaign)]:
        screen.say(f"  {line}")


def _state(campaign: CampaignView) -> str:
    ends = f"; closes on {campaign['closes_on']}" if campaign["closes_on"] else ""
    match campaign["state"]:
        case "draft":
            return f"a draft: sottovoce campaign open {campaign['id']} opens it{ends}"
        case "open":
            return f"open since {campaign['opened_on']}{ends}"
        case _:
            return f"closed on {campaign['closed_on']}"


def _counts(campaign: CampaignView) -> str:
    quota = f" of {campaign['quota']:,}" if campaign["quota"] else ""
    workers = f"{campaign['workers']:,}{quota} worker{'s'[: campaign['workers'] != 1]}"
    return (
        f"{workers}, {counted(campaign['submissions'], 'submission')}, "
        f"{counted(campaign['reports'], 'report')}"
    )


def _refused(found: RejectionsView) -> list[str]:
    """Refused reports by reason, if there are any."""
    if not found["total"]:
        return []
    each = (f"{one['count']:,} {shown(one['words'])}" for one in found["rejections"])
    return [f"refused: {counted(found['total'], 'submission')}; {', '.join(each)}"]


def _progress(found: Look) -> list[str]:
    campaign, invites, summary = found["campaign"], found["invites"], found["summary"]
    tasks = campaign["tasks"]
    each = campaign["reports"] / tasks if tasks else 0.0
    covered = f"{summary['tasks']:,} have a truth, " if summary else ""
    return [
        f"{counted(tasks, 'task')}: {covered}{each:.1f} reports each on average",
        f"invites: {invites['open']:,} open, {invites['single']:,} for one worker each "
        f"({invites['used']:,} used)",
        f"results: {summary_words(found['summary'], found['reports_waiting'])}",
    ]


def _promise(campaign: CampaignView) -> list[str]:
    return [*guarantee_lines(campaign), f"policy {campaign['policy_hash']}"]
