"""`sottovoce campaign invite`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.campaign.connection import CampaignArgument, asked_day, connected
from sottovoce.cli.console import plural
from sottovoce.cli.options import ForceOption, JsonOption, output_option
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target, new_file


def invite(
    context: typer.Context,
    campaign: CampaignArgument,
    single: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Create N links for one worker each. Default: one link for any number of workers.",
        ),
    ] = None,
    expires_on: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="First day (UTC) on which the links no longer work."),
    ] = None,
    output: Annotated[
        Path | None, output_option("Write the links to this CSV file, in the column link.")
    ] = None,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="Revoke all links of the campaign instead.")
    ] = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Create invitation links for workers, one per line.

    A link is a secret: anyone with the link can answer. The server stores only its hash, so these
    are the only copies.
    """
    expires = asked_day(expires_on, "--expires-on")
    if revoke:
        if single is not None or expires is not None or output is not None:
            raise UsageError(
                "--revoke does not create links: drop --single, --expires-on and --output"
            )
        _revoke(context, campaign, json=json)
        return
    if output is not None:
        check_target(output, force=force)
    if single is not None and single < 1:
        raise UsageError(f"--single takes a number of links of at least 1, not {single}")
    with connected(context, campaign) as requester:
        links = requester.invite(
            campaign, "open" if single is None else "single", single or 1, expires
        )
        is_draft = requester.campaign(campaign)["state"] == "draft"
    if output is not None:
        _write(links, output, force=force)
    if json:
        console.print_json({"links": links} if output is None else {"links": len(links)})
    elif output is None:
        for link in links:
            console.say(link)
    _say(links, campaign, output, is_draft=is_draft)


def _revoke(context: typer.Context, campaign: str, *, json: bool) -> None:
    with connected(context, campaign) as requester:
        revoked = requester.revoke_invites(campaign)
    if json:
        console.print_json({"revoked": revoked})
    else:
        console.note(f"{plural(revoked, 'link')} of campaign {campaign} no longer work")


def _write(links: list[str], path: Path, *, force: bool) -> None:
    """A file that only its owner can read."""
    with new_file(path, force=force) as temporary:
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in ["link", *links])


def _say(links: list[str], campaign: str, output: Path | None, *, is_draft: bool) -> None:
    if output is not None:
        console.note(f"wrote {output}: {plural(len(links), 'link')}")
    what = "A link is a secret" if len(links) == 1 else "Each link is a secret"
    console.note(f"{what}: anyone with it can answer. It is shown only once.")
    if is_draft:
        console.note(f"next: sottovoce campaign open {campaign} (nobody can answer a draft)")
    else:
        console.note(f"next: sottovoce campaign status {campaign} --watch")
