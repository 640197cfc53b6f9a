"""`sottovoce sealed deal`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sottovoce.cli import screen
from sottovoce.cli.keyholding import FolderOption, PassphraseOption, keyholder_folder
from sottovoce.cli.live_consent import dealer_lines
from sottovoce.cli.options import PatienceOption, allow_http_option, link_argument, yes_option
from sottovoce.cli.passphrases import given_passphrase
from sottovoce.cli.questioning import Ended, agreed, read_line
from sottovoce.connection.live.line import LiveLine, LiveLink
from sottovoce.connection.live.offers import LiveOffer
from sottovoce.errors import UsageError
from sottovoce.keyholder.dealing import check_dealer, deal_key, usual_seconds
from sottovoce.keyholder.key_file import open_keys, read_card

__all__ = ["deal"]

INTERRUPTED = 130


def deal(
    link: Annotated[
        str,
        link_argument(
            "The dealer's link, in quotes: https://host/l/ID#svl_…; - reads it from the first "
            "line of standard input, where no list of processes shows it."
        ),
    ],
    folder: FolderOption = None,
    passphrase_file: PassphraseOption = None,
    yes: Annotated[bool, yes_option("Deal without being asked.")] = False,
    patience: PatienceOption = 120.0,
    allow_http: Annotated[
        bool, allow_http_option("Talk over plain http to another machine.")
    ] = False,
) -> None:
    """Deal the key of a live session: make it, seal everybody's share, send that, forget it.

    The keys of `sottovoce keyholder init` say who you are, and the session must name your card.
    Waits until it is known who takes part. Whoever deals could decrypt everything: deal only if
    you are neither the requester nor a worker.
    """
    home = keyholder_folder(folder)
    own = read_card(home)
    try:
        address = LiveLink.parse(
            read_line("Link: ") if link == "-" else link, allow_http=allow_http
        )
        with LiveLine(address, patience=patience, tell=screen.note, allow_http=allow_http) as line:
            offer = LiveOffer.parse(address, line.offer())
            key = check_dealer(offer, own)
            for text in dealer_lines(offer, key, usual_seconds(key)):
                screen.say(text)
            if not yes and not _asked():
                raise UsageError("you do not deal; nothing was sent")
            keys, _ = open_keys(home, given_passphrase(passphrase_file))
            deal_key(line, offer, keys, _tell)
    except (Ended, KeyboardInterrupt):
        screen.note("Stopped. Where nothing was dealt, it can be started again.")
        raise typer.Exit(INTERRUPTED) from None


def _asked() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked here: say --yes to deal")
    return agreed("Deal the key?")


def _tell(text: str) -> None:
    screen.say(text)
    sys.stdout.flush()
