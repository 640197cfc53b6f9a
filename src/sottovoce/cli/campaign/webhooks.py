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

SECRET = "SOTTOVOCE_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable


def add(
    context: typer.Context,
    campaign: CampaignArgument,
    address: Annotated[
        str,
        typer.Argument(metavar="ADDRESS", help="URL that receives the events.", show_default=False),
    ],
    json: JsonOption = False,
) -> None:
    """Send a campaign's events to ADDRESS; print the secret that signs them."""
    with connected(context, campaign) as requester:
        made = requester.add_webhook(campaign, address)
    if json:
        console.print_json(made)
    else:
        console.say(made["secret"])
    console.note(
        f"webhook {made['id']} gets a message when campaign {campaign} closes or converges"
    )
    console.note("Save the secret: it is shown only once, and it signs the messages.")


def list_webhooks(
    context: typer.Context, campaign: CampaignArgument, json: JsonOption = False
) -> None:
    """List a campaign's webhooks."""
    with connected(context, campaign) as requester:
        webhooks = requester.webhooks(campaign)
    if json:
        console.print_json({"webhooks": webhooks})
    elif webhooks:
        rows = [[each["id"], printable(each["address"]), _last(each)] for each in webhooks]
        console.print_table(["id", "address", "last message"], rows)
    else:
        console.note(f"campaign {campaign} has no webhooks")


def remove(
    context: typer.Context,
    campaign: CampaignArgument,
    webhook: Annotated[
        str,
        typer.Argument(
            metavar="WEBHOOK_ID", help="The ID from `campaign webhook list`.", show_default=False
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Remove a webhook."""
    with connected(context, campaign) as requester:
        requester.remove_webhook(campaign, webhook)
    if json:
        console.print_json({"removed": webhook})
    else:
        console.note(f"webhook {webhook} is removed")


def _last(webhook: WebhookView) -> str:
    if not webhook["deliveries"]:
        return "none yet"
    newest = webhook["deliveries"][0]
    return f"{newest['event']}: {newest['state'].replace('_', ' ')}"


def verify(
    body: Annotated[
        Path,
        typer.Argument(
            metavar="BODY",
            help="File with the unchanged body of the message; - for standard input.",
            show_default=False,
        ),
    ],
    timestamp: Annotated[str, typer.Option(help="Value of the header Sottovoce-Timestamp.")],
    signature: Annotated[str, typer.Option(help="Value of the header Sottovoce-Signature.")],
    tolerance: Annotated[
        float, typer.Option(help="Largest age of the signature, in seconds.")
    ] = 300,
) -> None:
    """Check that a webhook message was signed recently with the webhook's secret.

    The secret is read from the variable SOTTOVOCE_WEBHOOK_SECRET.
    """
    secret = os.environ.get(SECRET)
    if secret is None:
        raise UsageError(f"set the variable {SECRET} to the webhook's secret")
    content = sys.stdin.buffer.read() if str(body) == "-" else body.read_bytes()
    headers = {"Sottovoce-Timestamp": timestamp, "Sottovoce-Signature": signature}
    verify_signature(secret, headers, content, tolerance=tolerance)
    console.note("the signature is valid")
