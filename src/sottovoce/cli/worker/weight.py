"""`sottovoce weigh`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import JsonOption, OwnAnswersOption, allow_http_option, link_argument
from sottovoce.worker.answer_table import read_answers
from sottovoce.worker.client import Client


def weigh(
    link: Annotated[str, link_argument("The link you answered with, in quotes.")],
    answers: OwnAnswersOption,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where your receipts are; SOTTOVOCE_HOME, or your data folder, if not given."
        ),
    ] = None,
    allow_http: Annotated[
        bool, allow_http_option("Fetch over plain http from another machine.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """How well your answers agree with the published truths: computed here, and nothing is sent.

    Of a sealed campaign nobody else can say it: only totals are opened.
    """
    with Client(link, folder=folder, allow_http=allow_http, contact=False) as client:
        own = client.weigh(read_answers(answers, client.offer.policy.domain))
    if json:
        console.print_json(
            {"agreement": own.agreement, "weight": own.weight, "answers": own.answers}
        )
        return
    console.say(f"answers    {own.answers:,} have a published truth")
    console.say(f"agreement  {own.agreement:.1%}")
    console.say(f"weight     {own.weight:.4g}")
    console.say("Computed on this machine; nothing was sent.")
