"""`sottovoce weigh`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sottovoce.cli import console
from sottovoce.cli.options import (
    AllowHttpOption,
    JsonOption,
    OwnAnswersOption,
    folder_option,
    link_argument,
)
from sottovoce.worker.answer_table import read_answers
from sottovoce.worker.client import Client


def weigh(
    link: Annotated[str, link_argument("The link that you answered with, in quotes.")],
    answers: OwnAnswersOption,
    folder: Annotated[
        Path | None,
        folder_option("Folder of your receipts. Default: SOTTOVOCE_HOME or your data folder."),
    ] = None,
    allow_http: AllowHttpOption = False,
    json: JsonOption = False,
) -> None:
    """Compare your answers with the published truths on this machine; nothing is sent.

    In a sealed campaign nobody else can compute this, because only totals are opened.
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
