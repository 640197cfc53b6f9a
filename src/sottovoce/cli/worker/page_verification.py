"""`sottovoce verify-page`."""

from __future__ import annotations

from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import JsonOption, allow_http_option
from sottovoce.cli.prompts import read_line
from sottovoce.server.web.page_verification import CheckedPage, PageDifference, check_page
from sottovoce.version import __version__

SHOWN = 16
"""Digits of a hash in the table: enough to compare by eye; --json has all of them."""


def verify_page(
    link: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="The link a worker was given; what follows its # is cut off and never sent. "
            "- reads it from the first line of standard input.",
            show_default=False,
        ),
    ],
    allow_http: Annotated[
        bool, allow_http_option("Look at another machine over plain http.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Compare a live server's worker page, and every file it loads, with this release.

    The page turns answers into reports on the worker's device, so it matters that it is the one
    that was published. Exit code 0 only if every byte and every rule for browsers is the same.
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
            f"All {len(checked.files)} files and {len(checked.headers)} headers are those of "
            f"sottovoce {__version__}.",
            "This proves what the server sent to you, now. It may send others something else: the "
            "page comes from the party it protects against. `sottovoce answer` needs no page.",
        ]
    every = (*checked.files, *checked.headers)
    wrong = sum(each.state != "same" for each in every)
    told = (
        f"Of {len(every)} files and headers {wrong} differ from those of sottovoce {__version__}."
    )
    return [told, _way_out(checked)]


def _way_out(checked: CheckedPage) -> str:
    page = checked.files[0]
    if page.state == "missing":
        return f"Without its page nothing is proved: {page.note}. Check the link."
    if checked.version is None:
        return "What answers there does not say what it is: do not answer there."
    if checked.version != __version__:
        return (
            f"The server says that it runs sottovoce {checked.version}: install that release to "
            f"compare (pip install 'sottovoce[client]=={checked.version}')."
        )
    return (
        "The server says that it runs this release: answer there with `sottovoce answer`, or not "
        "at all, until its operator explains the difference."
    )


def _as_json(checked: CheckedPage) -> dict[str, object]:
    return {
        "same": checked.is_same,
        "address": checked.address,
        "release": __version__,
        "server": checked.version,
        "files": [_finding(each) for each in checked.files],
        "headers": [_finding(each) for each in checked.headers],
    }


def _finding(each: PageDifference) -> dict[str, object]:
    return {
        "name": each.name,
        "state": str(each.state),
        "expected": each.expected,
        "found": each.found,
        "note": each.note,
    }
