"""`sottovoce campaign`."""

from __future__ import annotations

import typer

from sottovoce.cli.campaign.connection import AllowHttpOption, ServerChoice, ServerOption

__all__ = ["campaign"]


def campaign(
    context: typer.Context, server: ServerOption = None, allow_http: AllowHttpOption = False
) -> None:
    """Run a campaign on a server: ask a crowd, and read truths while its reports arrive."""
    context.obj = ServerChoice(server, allow_http)
