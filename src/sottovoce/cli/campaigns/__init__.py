"""`sottovoce campaign`."""

from __future__ import annotations

import typer

from sottovoce.cli.campaigns import (
    creating,
    exporting,
    inviting,
    lifecycle,
    login,
    results,
    sampling,
    sealing,
    status,
    tokens,
    webhooks,
)
from sottovoce.cli.campaigns.connecting import AllowHttpOption, Chosen, ServerOption
from sottovoce.cli.registry_help import RegistryCommand

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def campaign(
    context: typer.Context,
    server: ServerOption = None,
    allow_http: AllowHttpOption = False,
) -> None:
    """Run a campaign on a server: ask a crowd, and read truths while its reports arrive."""
    context.obj = Chosen(server, allow_http)


app.command("login")(login.login)
app.command("logout")(login.logout)
app.command("create", cls=RegistryCommand)(creating.create)
app.command("sample")(sampling.sample)
app.command("list")(lifecycle.list_campaigns)
app.command("open")(lifecycle.open_campaign)
app.command("invite")(inviting.invite)
app.command("status")(status.status)
app.command("results")(results.results)
app.command("export")(exporting.export)
app.command("keyholders")(sealing.keyholders)
app.command("rounds")(sealing.rounds)
app.command("publish")(sealing.publish)
app.command("close")(lifecycle.close_campaign)
app.command("delete")(lifecycle.delete_campaign)
app.add_typer(webhooks.app, name="webhook")
app.add_typer(tokens.app, name="token")
