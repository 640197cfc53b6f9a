"""`sottovoce campaign`."""

from __future__ import annotations

import typer

from sottovoce.cli.campaign.connection import ServerChoice, ServerOption
from sottovoce.cli.options import AllowHttpOption

__all__ = ["campaign"]


def campaign(
    context: typer.Context, server: ServerOption = None, allow_http: AllowHttpOption = False
) -> None:
    """Create and manage campaigns on a server.

    You can read the truths while reports arrive. Log in first: `sottovoce campaign login`.
    """
    context.obj = ServerChoice(server, allow_http)
