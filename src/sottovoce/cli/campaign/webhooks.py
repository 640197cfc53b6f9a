"""`sottovoce campaign webhook`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.campaign.connection import CampaignArgument, connected
from sottovoce.cli.options import JsonOption
from sottovoce.errors import UsageError
from sottovoce.http_client.replies import printable
from sottovoce.requester.views import WebhookView
from sottovoce.requester.webhook_signatures import verify_signature

SECRET = "SOTTOVOCE_WEBHOOK_SECRET"  # noqa: S105 - where it is, not what it is


def add(
    context: typer.Context,
    campaign: CampaignArgument,
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="Where to send events to.", show_default=False)
    ],
    json: JsonOption = False,
) -> None:
    """Send a campaign's events to ADDRESS; print the secret that they are signed with."""
    with connected(context, campaign) as requester:
        made = requester.add_webhook(campaign, address)
    if json:
        console.print_json(made)
    else:
        console.say(made["secret"])
    console.note(f"webhook {made['id']} is told when campaign {campaign} closes or converges")
    console.note("Keep the secret: it is shown once, and messages are signed with it.")


def list_webhooks(
    context: typer.Context, campaign: CampaignArgument, json: JsonOption = False
) -> None:
    """List who is told about a campaign."""
    with connected(context, campaign) as requester:
        webhooks = requester.webhooks(campaign)
    if json:
        console.print_json({"webhooks": webhooks})
    elif webhooks:
        rows = [[each["id"], printable(each["address"]), _last(each)] for each in webhooks]
        console.print_table(["id", "address", "last told"], rows)
    else:
        console.note(f"nobody is told about campaign {campaign}")


def remove(
    context: typer.Context,
    campaign: CampaignArgument,
    webhook: Annotated[
        str,
        typer.Argument(
            metavar="WEBHOOK_ID", help="As `webhook list` names it.", show_default=False
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Tell a webhook nothing more."""
    with connected(context, campaign) as requester:
        requester.remove_webhook(campaign, webhook)
    if json:
        console.print_json({"removed": webhook})
    else:
        console.note(f"webhook {webhook} is told nothing more")


def _last(webhook: WebhookView) -> str:
    if not webhook["deliveries"]:
        return "nothing yet"
    newest = webhook["deliveries"][0]
    return f"{newest['event']}: {newest['state'].replace('_', ' ')}"


def verify(
    body: Annotated[
        Path,
        typer.Argument(
            metavar="BODY",
            help="The message's body, byte by byte as it came; - for standard input.",
            show_default=False,
        ),
    ],
    timestamp: Annotated[str, typer.Option(help="What Sottovoce-Timestamp says.")],
    signature: Annotated[str, typer.Option(help="What Sottovoce-Signature says.")],
    tolerance: Annotated[
        float, typer.Option(help="How many seconds ago it may have been signed.")
    ] = 300,
) -> None:
    """Check that a message to a webhook was signed with its secret, and lately.

    The secret is read from the environment: SOTTOVOCE_WEBHOOK_SECRET.
    """
    secret = os.environ.get(SECRET)
    if secret is None:
        raise UsageError(f"put the webhook's secret into the environment, as {SECRET}")
    content = sys.stdin.buffer.read() if str(body) == "-" else body.read_bytes()
    headers = {"Sottovoce-Timestamp": timestamp, "Sottovoce-Signature": signature}
    verify_signature(secret, headers, content, tolerance=tolerance)
    console.note("signed with this secret")
