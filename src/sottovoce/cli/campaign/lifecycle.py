"""`sottovoce campaign list`, `open`, `status`, `close` and `delete`."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated, TypedDict

import typer

from sottovoce.cli import console
from sottovoce.cli.campaign.connection import CampaignArgument, OverBudgetOption, connected
from sottovoce.cli.campaign.connection import watch as watch_changes
from sottovoce.cli.campaign.description import (
    devices_lines,
    guarantee_lines,
    printable_line,
    summary_words,
    titled,
)
from sottovoce.cli.console import plural
from sottovoce.cli.options import JsonOption, YesOption
from sottovoce.errors import UsageError
from sottovoce.requester.client import Requester
from sottovoce.requester.views import CampaignView, InviteCounts, RejectionsView, SummaryView


class CampaignStatus(TypedDict):
    """The status of a campaign."""

    campaign: CampaignView
    invites: InviteCounts
    summary: SummaryView | None
    reports_waiting: int
    rejections: RejectionsView


def list_campaigns(context: typer.Context, json: JsonOption = False) -> None:
    """List the server's campaigns, newest first."""
    with connected(context) as requester:
        campaigns = requester.campaigns()
    if json:
        console.print_json({"campaigns": campaigns})
        return
    if not campaigns:
        console.note("no campaigns yet; next: sottovoce campaign create TASKS.csv …")
        return
    columns = ["id", "state", "title", "tasks", "workers", "reports", "closes on"]
    rows = [
        [
            each["id"],
            each["state"],
            titled(each),
            f"{each['tasks']:,}",
            f"{each['workers']:,}",
            f"{each['reports']:,}",
            each["closes_on"] or "-",
        ]
        for each in campaigns
    ]
    console.print_table(columns, rows)


def status(
    context: typer.Context,
    campaign: CampaignArgument,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Show changes every two seconds until the campaign is closed."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show a campaign's progress: workers, reports, guarantee and results so far.

    --watch prints it again after each change, until Ctrl-C.
    """
    with connected(context, campaign) as requester:
        look, show = partial(_look, requester, campaign), partial(_print, json=json)
        found = look()
        show(found)
        if watch:
            watch_changes(found, look, show, _is_over)


def open_campaign(
    context: typer.Context,
    campaign: CampaignArgument,
    over_budget: OverBudgetOption = False,
    json: JsonOption = False,
) -> None:
    """Open a campaign for reports; its tasks and guarantee can no longer change."""
    with connected(context, campaign) as requester:
        opened = requester.open(campaign, over_budget=over_budget)
    if json:
        console.print_json(opened)
        return
    console.note(f"campaign {campaign} is open, under policy {opened['policy_hash']}")
    for line in devices_lines(opened):
        console.note(line)
    console.note(f"next: sottovoce campaign invite {campaign}")


def close_campaign(
    context: typer.Context, campaign: CampaignArgument, json: JsonOption = False
) -> None:
    """Close a campaign permanently: it takes no more reports. Its results remain."""
    with connected(context, campaign) as requester:
        closed = requester.close(campaign)
    if json:
        console.print_json(closed)
        return
    console.note(
        f"campaign {campaign} is closed with {plural(closed['reports'], 'report')} from "
        f"{plural(closed['workers'], 'worker')}"
    )
    console.note(f"next: sottovoce campaign results {campaign} -o truths.csv")


def delete_campaign(
    context: typer.Context,
    campaign: CampaignArgument,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Delete a campaign with its tasks, reports and results, permanently."""
    with connected(context, campaign) as requester:
        found = requester.campaign(campaign)
        if not yes:
            confirm_deletion(
                f"Delete campaign {campaign} ({printable_line(found['title'])}) with its "
                f"{plural(found['reports'], 'report')}, permanently?"
            )
        requester.delete(campaign)
    if json:
        console.print_json({"deleted": campaign})
        return
    console.note(f"campaign {campaign} is deleted")


def confirm_deletion(sentence: str) -> None:
    """Ask before a deletion; the answer no ends the command."""
    if not sys.stdin.isatty():
        raise UsageError("no terminal to ask for confirmation: add --yes to delete")
    if not typer.confirm(sentence, err=True):
        console.note("nothing was deleted")
        raise typer.Exit(1)


def _is_over(found: CampaignStatus) -> bool:
    """Whether the status can no longer change."""
    return found["campaign"]["state"] == "closed" and not found["reports_waiting"]


def _look(requester: Requester, campaign: str) -> CampaignStatus:
    page = requester.results_page(campaign, limit=1)
    return {
        "campaign": requester.campaign(campaign),
        "invites": requester.invites(campaign),
        "summary": page["summary"],
        "reports_waiting": page["reports_waiting"],
        "rejections": requester.rejections(campaign),
    }


def _print(found: CampaignStatus, *, json: bool) -> None:
    if json:
        console.print_json(found)
        return
    campaign = found["campaign"]
    console.say(f"{campaign['id']}: {titled(campaign)}")
    refused = _refused(found["rejections"])
    state, counts = _state(campaign), _counts(campaign)
    promised = [*guarantee_lines(campaign), *devices_lines(campaign)]
    for line in [state, counts, *refused, *_progress(found), *promised]:
        console.say(f"  {line}")
    console.say(f"  policy {campaign['policy_hash']}")


def _state(campaign: CampaignView) -> str:
    ends = f"; closes on {campaign['closes_on']}" if campaign["closes_on"] else ""
    match campaign["state"]:
        case "draft":
            return f"draft; open it with: sottovoce campaign open {campaign['id']}{ends}"
        case "open":
            return f"open since {campaign['opened_on']}{ends}"
        case _:
            return f"closed on {campaign['closed_on']}"


def _counts(campaign: CampaignView) -> str:
    quota = f" of {campaign['quota']:,}" if campaign["quota"] else ""
    workers = f"{campaign['workers']:,}{quota} worker{'s'[: campaign['workers'] != 1]}"
    cut_short = campaign["cut_short"]
    stopped = f"; {plural(cut_short, 'device')} stopped early at the worker's budget"
    return (
        f"{workers}, {plural(campaign['submissions'], 'submission')}, "
        f"{plural(campaign['reports'], 'report')}{stopped if cut_short else ''}"
    )


def _refused(found: RejectionsView) -> list[str]:
    """Refused reports by reason, if any."""
    if not found["total"]:
        return []
    each = (f"{one['count']:,} {printable_line(one['words'])}" for one in found["rejections"])
    return [f"refused: {plural(found['total'], 'submission')}; {', '.join(each)}"]


def _progress(found: CampaignStatus) -> list[str]:
    campaign, invites, summary = found["campaign"], found["invites"], found["summary"]
    tasks = campaign["tasks"]
    each = campaign["reports"] / tasks if tasks else 0.0
    covered = f"{summary['tasks']:,} have a truth, " if summary else ""
    return [
        f"{plural(tasks, 'task')}: {covered}{each:.1f} reports per task on average",
        f"invites: {invites['open']:,} open, {invites['single']:,} for one worker each "
        f"({invites['used']:,} used)",
        f"results: {summary_words(found['summary'], found['reports_waiting'])}",
    ]
