"""`sottovoce sealed worker` and `sealed deal`: taking part in a live session, and dealing its key.

People read first what is opened, and whom they trust.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from sottovoce.cli import console
from sottovoce.cli.keyholder import FolderOption, PassphraseOption, keyholder_folder
from sottovoce.cli.options import (
    BudgetOption,
    JsonOption,
    OwnAnswersOption,
    PatienceOption,
    allow_http_option,
    link_argument,
    yes_option,
)
from sottovoce.cli.prompts import Ended, agreed, given_passphrase, read_line
from sottovoce.cli.worker.consent import ledger_in, parsed_limits, quoted_lines
from sottovoce.errors import DataError, UsageError
from sottovoce.http_client.replies import printable
from sottovoce.keyholder.key_file import open_keys, read_card
from sottovoce.live.dealer import check_dealer, deal_key, usual_seconds
from sottovoce.live.member_client import LiveLink, MemberClient
from sottovoce.live.offer import LiveOffer
from sottovoce.live.worker import LiveAnswers, LiveOutcome, LiveWorker
from sottovoce.model import Domain, Guarantee, Unit
from sottovoce.worker.answer_table import sound_rows

if TYPE_CHECKING:
    from sottovoce.securesum.star.terms import KeyTerms


FAILED, INTERRUPTED = 1, 130
NOTHING = "You do not take part: nothing was sent, and nothing was spent."
GONE = "Stopped. You are out of this session: the others go on without you."


def worker_lines(
    offer: LiveOffer, answers: int, promise: Mapping[Unit, Guarantee] | None
) -> Iterator[str]:
    """The whole screen of a worker. Quoted words are the requester's, all else is computed here."""
    yield "WHO ASKS, in the requester's own words:"
    yield from quoted_lines(offer.title)
    yield f"Live session {offer.session} at {offer.server}, for up to {offer.workers:,} workers."
    yield ""
    yield "WHAT LEAVES THIS MACHINE: numbers that are computed from your answers and sealed here."
    yield f"For each of {len(offer.tasks):,} tasks something is sent, whichever you answered."
    yield f"What is opened, round after round, are totals of {_fewest(offer)}."
    yield ""
    yield from _what_it_betrays(answers, promise)
    yield from _whom_to_trust(offer)
    yield "Stay online until the end: a worker that falls silent is left out, and cannot come back."
    yield ""


def dealer_lines(offer: LiveOffer, key: KeyTerms, seconds: int) -> Iterator[str]:
    """The whole screen of a dealer."""
    yield "WHO ASKS, in the requester's own words:"
    yield from quoted_lines(offer.title)
    yield f"Live session {offer.session} at {offer.server} asks you to deal a key of {key.bits:,}"
    yield f"bits to up to {offer.workers:,} workers and the server."
    yield ""
    yield "WHAT YOU COULD DO: whoever has the primes of the key can decrypt every contribution of"
    yield "every worker. They trust you not to keep them, and not to be in league with the server"
    yield "or the requester. If you are the requester or a worker yourself, do not deal."
    yield "This program makes the key in memory once it is known who takes part, seals a share of"
    yield "it to each holder, sends that, keeps nothing and ends. Let nobody read its memory."
    yield f"Making the key takes seconds; it may take {seconds}."
    yield ""


def _fewest(offer: LiveOffer) -> str:
    _, minimum = offer.quorum(offer.workers)
    known = offer.minimum or offer.threshold
    return f"at least {minimum:,} workers" if known else "at least two thirds of all workers"


def _what_it_betrays(answers: int, promise: Mapping[Unit, Guarantee] | None) -> Iterator[str]:
    if promise is not None:
        yield "WHAT IT BETRAYS AT MOST, since noise is in every total:"
        yield f"  about one answer: {promise[Unit.ANSWER]}"
        yield f"  about all {answers:,} answers together: {promise[Unit.WORKER]}"
        for assumption in promise[Unit.ANSWER].assumptions:
            yield f"  if {assumption}"
        yield "It is booked in your ledger before the first contribution leaves."
    else:
        yield "PRIVACY LOSS: THE SERVER CAN COMPUTE YOUR LABELS from the opened totals."
        yield "Encryption hides your numbers, but not the exact totals."
        yield "Nothing is promised, so nothing is booked in your ledger."
    yield ""


def _whom_to_trust(offer: LiveOffer) -> Iterator[str]:
    threshold, _ = offer.quorum(offer.workers)
    split = 2 * threshold - offer.workers
    yield "WHOM YOU TRUST: this program on this machine, and that few workers are in league with"
    yield f"the server: fewer than {split:,} if all {offer.workers:,} join."
    if offer.key is not None:
        yield f"Also the dealer of the key ({offer.key.bits:,} bits), who could read everything:"
        yield f"  {offer.key.dealer.fingerprint}  {printable(offer.key.dealer.name)}"
        yield "Compare the fingerprint with what the dealer published."
    else:
        yield "There is no third party: keys are made here, afresh in every round."
    yield ""


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
        with MemberClient(
            address, patience=patience, tell=console.note, allow_http=allow_http
        ) as line:
            offer = LiveOffer.parse(address, line.offer())
            key = check_dealer(offer, own)
            for text in dealer_lines(offer, key, usual_seconds(key)):
                console.say(text)
            if not yes and not _agreed("Deal the key?", "deal"):
                raise UsageError("you do not deal; nothing was sent")
            keys, _ = open_keys(home, given_passphrase(passphrase_file))
            deal_key(line, offer, keys, _tell_dealer)
    except (Ended, KeyboardInterrupt):
        console.note("Stopped. Where nothing was dealt, it can be started again.")
        raise typer.Exit(INTERRUPTED) from None


def _agreed(question: str, to: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(f"nobody can be asked here: say --yes to {to}")
    return agreed(question)


def _tell_dealer(text: str) -> None:
    console.say(text)
    sys.stdout.flush()


def worker(
    link: Annotated[
        str,
        link_argument(
            "The link you were given, in quotes: https://host/l/ID#svl_…; - reads it from "
            "the first line of standard input, where no list of processes shows it."
        ),
    ],
    answers: OwnAnswersOption,
    yes: Annotated[bool, yes_option("Take part without being asked.")] = False,
    budget: BudgetOption = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where your ledger is; SOTTOVOCE_HOME, or your data folder, if not given."
        ),
    ] = None,
    patience: PatienceOption = 120.0,
    allow_http: Annotated[
        bool, allow_http_option("Send over plain http to another machine.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Take part in the live session behind LINK: your answers stay here, sums leave, sealed.

    You see what is opened, what that betrays and whom you trust before you agree. Then it works
    until the session is over, and shows how good your answers are, which nobody else learns.
    """
    say = console.note if json else console.say
    limits = parsed_limits(budget)
    try:
        address = read_line("Link: ") if link == "-" else link
        with LiveWorker(
            address,
            ledger=ledger_in(folder, limits),
            patience=patience,
            tell=console.note,
            allow_http=allow_http,
        ) as member:
            offer = member.offer
            given = read_live_answers(answers, offer.tasks, offer.labels)
            for line in worker_lines(offer, len(given), member.promise(given)):
                say(line)
            member.check(given)
            if not yes and not _agreed("Take part?", "take part"):
                say(NOTHING)
                return
            outcome = member.run(given)
    except Ended:
        console.note(NOTHING)
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        console.note(GONE)
        raise typer.Exit(INTERRUPTED) from None
    if json:
        console.print_json(outcome.as_json())
    else:
        _tell(outcome)
    if not outcome.is_done:
        raise typer.Exit(FAILED)


def read_live_answers(path: Path, tasks: Sequence[str], labels: Sequence[str]) -> LiveAnswers:
    """One worker's answers to some of these tasks, each of which is answered once."""
    places = {name: place for place, name in enumerate(tasks)}
    with sound_rows(path, Domain.categorical(labels)) as (table, task, answer):
        known = [places.get(str(name), -1) for name in task.names]
        codes = np.array(known, np.int64)[task.codes]
        seen: set[int] = set()
        for place, code in enumerate(codes.tolist()):
            if code < 0:
                fault = f"this is none of the {len(tasks):,} tasks that are asked: take it out"
            elif code in seen:
                fault = "this task is answered twice: keep one row"
            else:
                seen.add(code)
                continue
            row, column = table.row_of(place), table.columns["task"]
            raise DataError(fault, file=table.name, row=row, column=column)
        return LiveAnswers(codes, answer.values.astype(np.int64))


def _tell(outcome: LiveOutcome) -> None:
    from rich.markup import escape

    ended, rounds = outcome.ended, f"{outcome.rounds:,} round{'s'[: outcome.rounds != 1]}"
    if outcome.is_done:
        console.say(f"Done: {rounds} opened.")
    else:
        who = f"{', '.join(map(printable, ended.culprits))}: " if ended.culprits else ""
        console.say(f"{ended.state.capitalize()} after {rounds}: {who}{printable(ended.reason)}")
    if outcome.skill is None:
        return
    names = [escape(printable(label, longest=60)) for label in outcome.labels]
    shares = [[f"{share:.3f}" for share in row] for row in outcome.skill]
    rows = [[name, *row] for name, row in zip(names, shares, strict=True)]
    console.say("How often you give each answer, by what is true. Only you see this:")
    console.print_table(["truth", *names], rows)
