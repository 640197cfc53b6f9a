"""`sottovoce verify-page`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import AllowHttpOption, JsonOption
from sottovoce.cli.prompts import read_line
from sottovoce.server.web.page_verification import CheckedPage, PageDifference, check_page
from sottovoce.version import __version__

SHOWN = 16
"""Digits of a hash in the table; --json has all of them."""


def verify_page(
    link: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="A worker's link; the part after # is removed and never sent. - reads the link "
            "from the first line of standard input.",
            show_default=False,
        ),
    ],
    allow_http: AllowHttpOption = False,
    json: JsonOption = False,
) -> None:
    """Compare a server's worker page, and every file it loads, with this release.

    The page randomises answers on the worker's device, so it must be the published one. Exit code 0
    only if every byte and every checked header is identical.
    """
    address = read_line("Link: ") if link == "-" else link
    checked = check_page(address, allow_http=allow_http)
    if json:
        console.print_json(_as_json(checked))
    else:
        _show(checked)
    if not checked.is_same:
        raise typer.Exit(1)


def _show(checked: CheckedPage) -> None:
    console.print_table(
        ["file", "SHA-256 of the release", "on the server", ""],
        [
            [each.name, each.expected[:SHOWN], (each.found or "-")[:SHOWN], _state(each)]
            for each in checked.files
        ],
        title=checked.address,
    )
    if checked.headers:
        console.print_table(["header", ""], [[each.name, _state(each)] for each in checked.headers])
    for sentence in _sentences(checked):
        console.say(sentence)


def _state(finding: PageDifference) -> str:
    return f"{finding.state} ({finding.note})" if finding.note else str(finding.state)


def _sentences(checked: CheckedPage) -> list[str]:
    if checked.is_same:
        return [
            f"All {len(checked.files)} files and {len(checked.headers)} headers are identical to "
            f"sottovoce {__version__}.",
            "This proves what the server sent to you now. It may send other people something else: "
            "the page comes from the party it protects against. `sottovoce answer` needs no page.",
        ]
    every = (*checked.files, *checked.headers)
    wrong = sum(each.state != "same" for each in every)
    told = f"{wrong} of {len(every)} files and headers differ from sottovoce {__version__}."
    return [told, _way_out(checked)]


def _way_out(checked: CheckedPage) -> str:
    page = checked.files[0]
    if page.state == "missing":
        return f"The page is missing, so nothing is proved: {page.note}. Check the link."
    if checked.version is None:
        return "The server does not state its version: do not answer there."
    if checked.version != __version__:
        return (
            f"The server states sottovoce {checked.version}: install that release to compare "
            f"(in a checkout of v{checked.version}: pip install '.[client]')."
        )
    return (
        "The server states this release: use `sottovoce answer`, or do not answer there, until "
        "its operator explains the difference."
    )


def _as_json(checked: CheckedPage) -> dict[str, object]:
    return {
        "same": checked.is_same,
        "address": checked.address,
        "release": __version__,
        "server": checked.version,
        "files": [asdict(each) for each in checked.files],
        "headers": [asdict(each) for each in checked.headers],
    }
