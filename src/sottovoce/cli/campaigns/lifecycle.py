"""`sottovoce campaign list`, `open`, `close` and `delete`."""

from __future__ import annotations

import sys

import typer

from sottovoce.cli import screen
from sottovoce.cli.campaigns.connecting import CampaignArgument, connected
from sottovoce.cli.campaigns.words import counted, shown, titled
from sottovoce.cli.options import JsonOption, YesOption
from sottovoce.errors import UsageError

__all__ = ["close_campaign", "confirm_deletion", "delete_campaign", "list_campaigns",
           "open_campaign"]  # fmt: skip


def list_campaigns(context: typer.Context, json: JsonOption = False) -> None:
    """List the server's campaigns, the newest first."""
    with connected(context) as requester:
        campaigns = requester.campaigns()
    if json:
        screen.print_json({"campaigns": campaigns})
        return
    if not campaigns:
        screen.note("no campaigns yet; next: sottovoce campaign create TASKS.csv …")
        return
    columns = ["id", "state", "title", "tasks", "workers", "reports", "closes on"]
    rows = [
        [
            each["id"], each["state"], titled(each), f"{each['tasks']:,}",
            f"{each['workers']:,}", f"{each['reports']:,}", each["closes_on"] or "-",
        ]
        for each in campaigns
    ]  # fmt: skip
    screen.print_table(columns, rows)


def open_campaign(
    context: typer.Context, campaign: CampaignArgument, json: JsonOption = False
) -> None:
    """Open a campaign: it takes reports, and its tasks and its promise are fixed."""
    with connected(context, campaign) as requester:
        opened = requester.open(campaign)
    if json:
        screen.print_json(opened)
        return
    screen.note(f"campaign {campaign} is open, under policy {opened['policy_hash']}")
    screen.note(f"next: sottovoce campaign invite {campaign}")


def close_campaign(
    context: typer.Context, campaign: CampaignArgument, json: JsonOption = False
) -> None:
    """Close a campaign: it takes no more reports, for good. Its results stay."""
    with connected(context, campaign) as requester:
        closed = requester.close(campaign)
    if json:
        screen.print_json(closed)
        return
    screen.note(
        f"campaign {campaign} is closed with {counted(closed['reports'], 'report')} of "
        f"{counted(closed['workers'], 'worker')}"
    )
    screen.note(f"next: sottovoce campaign results {campaign} -o truths.csv")


def delete_campaign(
    context: typer.Context,
    campaign: CampaignArgument,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Delete a campaign with its tasks, reports and results, for good."""
    with connected(context, campaign) as requester:
        found = requester.campaign(campaign)
        if not yes:
            confirm_deletion(
                f"Delete campaign {campaign} ({shown(found['title'])}) with its "
                f"{counted(found['reports'], 'report')}, for good?"
            )
        requester.delete(campaign)
    if json:
        screen.print_json({"deleted": campaign})
        return
    screen.note(f"campaign {campaign} is deleted")


def confirm_deletion(sentence: str) -> None:
    """Ask before something is deleted; whoever says no ends the command."""
    if not sys.stdin.isatty():
        raise UsageError("deleting asks first, and nobody is there to answer: say --yes")
    if not typer.confirm(sentence, err=True):
        screen.note("nothing was deleted")
        raise typer.Exit(1)
