"""`sottovoce keyholder`, and the screen that a keyholder reads before taking part.

The screen lists what is opened, who else holds keys, and the keyholder's duties.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import (
    AllowHttpOption,
    JsonOption,
    file_option,
    folder_option,
    yes_option,
)
from sottovoce.cli.prompts import Ended, confirmed, given_passphrase
from sottovoce.errors import UsageError
from sottovoce.files.user_folders import home_folder
from sottovoce.http_client.replies import printable
from sottovoce.keyholder.agreement import Agreement, check_seat
from sottovoce.keyholder.client import KeyholderClient, KeyholderLink
from sottovoce.keyholder.fact_log import Logged
from sottovoce.keyholder.key_file import (
    CARD_FILE,
    KEY_FILE,
    check_free,
    make_keys,
    open_keys,
    read_card,
)
from sottovoce.keyholder.seat import Seat, SeatRecord, seat_records
from sottovoce.keyholder.seat import serve as serve_seat
from sottovoce.model import Unit
from sottovoce.model.keyholder import Keyholder
from sottovoce.securesum.committee.terms import Session

FAILED, INTERRUPTED = 1, 130

FolderOption = Annotated[
    Path | None,
    folder_option(
        "Folder of the keys and logs. Default: keyholder in SOTTOVOCE_HOME or in your data folder.",
        show_default=False,
    ),
]

PassphraseOption = Annotated[
    Path | None,
    file_option(
        "Read the passphrase from the first line of this file. Default: SOTTOVOCE_PASSPHRASE, or a "
        "prompt.",
        "--passphrase-file",
        show_default=False,
    ),
]

_SAYING = Lock()


def init(
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Your name in campaigns: an organisation that people know."
        ),
    ],
    folder: FolderOption = None,
    passphrase_file: PassphraseOption = None,
) -> None:
    """Generate keys and a public card, once.

    The keys are generated on this machine and encrypted with your passphrase. Existing keys are
    never replaced.
    """
    home = keyholder_folder(folder)
    check_free(home)
    card = make_keys(home, name, given_passphrase(passphrase_file, twice=True))
    console.say(f"Your keys are in {home / KEY_FILE}, encrypted with your passphrase.")
    console.say("")
    console.say(f"  fingerprint  {card.fingerprint}")
    console.say(f"  card         {home / CARD_FILE}")
    console.say("")
    console.say(
        "Publish the fingerprint where people can find it, and give the card to the requester."
    )
    console.say("Keep a copy of the keys and the passphrase on another machine.")
    console.say("The requester then sends you a link: sottovoce keyholder serve 'LINK'")


def serve(
    links: Annotated[
        list[str],
        typer.Argument(
            metavar="LINK...",
            help="The links you were given, in quotes: https://host/k/ID#svh_…",
            show_default=False,
        ),
    ],
    folder: FolderOption = None,
    passphrase_file: PassphraseOption = None,
    yes: Annotated[bool, yes_option("Take part without confirmation.")] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Exit when there is nothing left to do now.")
    ] = False,
    allow_http: AllowHttpOption = False,
) -> None:
    """Take part in sealed campaigns until their totals are opened.

    Before you take part, it shows the request and the other keyholders. Then it deals noise, checks
    contributions without seeing them, confirms which are in the total, and opens the total once.
    You can stop and restart it at any time; it resumes. A protocol violation is refused and logged,
    and ends the command.
    """
    home = keyholder_folder(folder)
    parsed = list(dict.fromkeys(KeyholderLink.parse(each, allow_http=allow_http) for each in links))
    card = read_card(home)
    with ExitStack() as stack:
        seats: list[tuple[Seat, Callable[[str], None]]] = []
        agreements = []
        for link in parsed:
            client = stack.enter_context(KeyholderClient(link, allow_http=allow_http))
            agreements.append((_agreement(client, home, card, yes=yes), client))
        keys, _ = open_keys(home, given_passphrase(passphrase_file))
        for agreement, client in agreements:
            stack.enter_context(agreement.held())
            tell = partial(_tell, agreement.session.campaign)
            seats.append((Seat(agreement, keys, client, tell), tell))
        _serve_all(seats, once=once)


def status(folder: FolderOption = None, json: JsonOption = False) -> None:
    """List your campaigns and what you did in each; verify every log."""
    home = keyholder_folder(folder)
    card, found = read_card(home), seat_records(home)
    if json:
        console.print_json(
            {
                "name": card.name,
                "fingerprint": card.fingerprint,
                "campaigns": [each.as_json() for each in found],
            }
        )
    else:
        console.say(f"{card.name}, fingerprint {card.fingerprint}")
        for each in found:
            _show(each)
        if not found:
            console.say("You do not take part in any campaign yet.")
    if any(each.problem for each in found):
        raise typer.Exit(FAILED)


def keyholder_folder(folder: Path | None) -> Path:
    """The folder of a keyholder's keys."""
    return (folder or home_folder() / "keyholder").absolute()


def _agreement(client: KeyholderClient, home: Path, card: Keyholder, *, yes: bool) -> Agreement:
    """The agreement for a link: an earlier one, or one made now."""
    session, seat = client.session()
    check_seat(session, seat, card)
    server = client.link.server
    if found := Agreement.find(home, server, session, seat):
        return found
    for line in seat_lines(session, server, seat):
        console.say(line)
    if not yes and not _asked():
        raise UsageError(
            f"declined: you do not take part in campaign {session.campaign}; nothing was sent"
        )
    return Agreement.join(home, server, session, seat)


def _asked() -> bool:
    try:
        return confirmed("Take part?", "take part")
    except Ended:
        return False


def seat_lines(session: Session, server: str, seat: int) -> Iterator[str]:
    """The screen. Names come from the requester, everything else is computed from the policy."""
    yield f"Campaign {session.campaign} at {server} asks you to be a keyholder."
    yield ""
    yield from _what_is_opened(session)
    yield from _who_else(session, seat)
    yield "YOUR DUTIES: keep your keys and this folder secret, draw noise once, and open one total,"
    yield "once. This program does that; leave it running until the campaign is opened. Nobody can"
    yield "replace you: while you are absent, new contributions are not counted, and without your"
    yield "noise nothing is ever opened."
    yield f"Policy {session.policy.hash}"
    yield "is pinned: if the campaign offers another policy, you send nothing."
    yield ""


def _what_is_opened(session: Session) -> Iterator[str]:
    sealed, tasks = session.sealed, len(session.names)
    promise = session.policy.promise
    answers = min(tasks, promise.answers) if promise else tasks
    held = [sealed.guarantee(answers, unit) for unit in (Unit.ANSWER, Unit.WORKER)]
    yield f"OPENED: noised totals of {tasks:,} tasks, once, from at least"
    answers_are = printable(str(session.policy.domain), longest=200)
    yield f"{sealed.minimum:,} contributions; answers are {answers_are}."
    yield f"Guarantee for workers: {held[0]} and {held[1]},"
    yield f"if at most {sealed.degree} of {sealed.seats} keyholders collude."
    yield ""


def _who_else(session: Session, seat: int) -> Iterator[str]:
    yield "KEYHOLDERS. Compare the fingerprints with those that the others published:"
    for number, each in enumerate(session.sealed.keyholders, 1):
        own = "   (you)" if number == seat else ""
        yield f"  {number}  {each.fingerprint}  {printable(each.name)}{own}"
    yield ""


def _serve_all(seats: list[tuple[Seat, Callable[[str], None]]], *, once: bool) -> None:
    """Serve each campaign in its own thread, so that waiting for one does not delay another.

    Threads end with the process at any point: every message was logged before it was sent.
    """
    failures: list[Exception] = []

    def run(seat: Seat, tell: Callable[[str], None]) -> None:
        try:
            serve_seat(seat, tell, once=once)
        except Exception as error:  # raised again in the main thread
            tell(f"STOPPED: {error}")
            failures.append(error)

    threads = [Thread(target=run, args=each, daemon=True) for each in seats]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        console.note("Stopped. The same command resumes.")
        raise typer.Exit(INTERRUPTED) from None
    if failures:
        raise failures[0]


def _tell(campaign: str, text: str) -> None:
    with _SAYING:
        console.say(f"{campaign}: {text}")
        sys.stdout.flush()


def _show(record: SeatRecord) -> None:
    agreement = record.agreement
    if agreement is None:
        console.say(f"{record.folder}: {record.problem}")
        return
    session = agreement.session
    console.say(f"{session.campaign} at {agreement.server}, seat {agreement.seat}")
    console.say(f"  policy     {session.policy.hash}")
    confirmed = record.confirmed
    count = f", {confirmed.fact['count']:,} contributions" if confirmed else ""
    batch = f"batch {confirmed.fact['number']:,}{count}, " if confirmed else ""
    console.say(f"  dealt      {_when(record.dealt)}")
    console.say(f"  confirmed  {batch}{_when(confirmed)}")
    console.say(f"  opened     {_when(record.opened)}")
    for refusal in record.refusals:
        culprit, reason = (printable(refusal.fact[name]) for name in ("culprit", "reason"))
        console.say(f"  REFUSED    {culprit}: {reason}, {_when(refusal)}")


def _when(logged: Logged | None) -> str:
    return "not yet" if logged is None else logged.at
