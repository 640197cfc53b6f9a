"""`sottovoce sealed worker` and `sealed deal`: take part in a live session, and deal its key.

Before either starts, a screen shows what is opened and the trust assumptions.
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
    AllowHttpOption,
    BudgetOption,
    JsonOption,
    OwnAnswersOption,
    PatienceOption,
    folder_option,
    link_argument,
    yes_option,
)
from sottovoce.cli.prompts import Ended, confirmed, given_passphrase, read_line
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
NOTHING = "You do not take part. Nothing was sent, and no budget was spent."
GONE = "Stopped. You have left this session; the others continue without you."


def worker_lines(
    offer: LiveOffer, answers: int, promise: Mapping[Unit, Guarantee] | None
) -> Iterator[str]:
    """A worker's screen. Quotes are the requester's; everything else is computed here."""
    yield "REQUESTER, in their own words:"
    yield from quoted_lines(offer.title)
    yield f"Live session {offer.session} at {offer.server}, for up to {offer.workers:,} workers."
    yield ""
    yield "SENT FROM THIS MACHINE: numbers that are computed from your answers and sealed here."
    yield f"A number is sent for each of {len(offer.tasks):,} tasks, also for those you skip."
    yield f"OPENED IN EACH ROUND: totals of {_fewest(offer)}."
    yield ""
    yield from _privacy_loss(answers, promise)
    yield from _whom_to_trust(offer)
    yield "Stay online until the end: a worker that stops responding is removed and cannot return."
    yield ""


def dealer_lines(offer: LiveOffer, key: KeyTerms, seconds: int) -> Iterator[str]:
    """A dealer's screen."""
    yield "REQUESTER, in their own words:"
    yield from quoted_lines(offer.title)
    yield f"Live session {offer.session} at {offer.server} asks you to deal a key of {key.bits:,}"
    yield f"bits to up to {offer.workers:,} workers and the server."
    yield ""
    yield "YOUR POWER: anyone with the primes of the key can decrypt every contribution of every"
    yield "worker. The workers trust you not to keep them, and not to collude with the server or"
    yield "the requester. If you are the requester or a worker, do not deal."
    yield "When it is known who takes part, this program generates the key in memory, sends each"
    yield "holder a sealed share, keeps nothing and exits. Protect its memory from other users."
    yield f"Generating the key takes up to about {seconds} seconds."
    yield ""


def _fewest(offer: LiveOffer) -> str:
    _, minimum = offer.quorum(offer.workers)
    known = offer.minimum or offer.threshold
    return f"at least {minimum:,} workers" if known else "at least two thirds of all workers"


def _privacy_loss(answers: int, promise: Mapping[Unit, Guarantee] | None) -> Iterator[str]:
    if promise is not None:
        yield "PRIVACY LOSS AT MOST, because every total has noise:"
        yield f"  about one answer: {promise[Unit.ANSWER]}"
        yield f"  about all {answers:,} answers together: {promise[Unit.WORKER]}"
        for assumption in promise[Unit.ANSWER].assumptions:
            yield f"  if {assumption}"
        yield "It is recorded in your ledger before the first contribution is sent."
    else:
        yield "PRIVACY LOSS: NO BOUND. A server that knows your tasks CAN OFTEN COMPUTE YOUR LABELS"
        yield "from the opened totals. Encryption hides your numbers, but not the exact totals."
        yield "There is no guarantee, so nothing is recorded in your ledger."
    yield ""


def _whom_to_trust(offer: LiveOffer) -> Iterator[str]:
    threshold, _ = offer.quorum(offer.workers)
    split = 2 * threshold - offer.workers
    yield "TRUST: you trust this program on this machine, and that few workers collude with the"
    yield f"server: fewer than {split:,} if all {offer.workers:,} join."
    if offer.key is not None:
        yield f"Also the dealer of the key ({offer.key.bits:,} bits), who could read everything:"
        yield f"  {offer.key.dealer.fingerprint}  {printable(offer.key.dealer.name)}"
        yield "Compare the fingerprint with what the dealer published."
    else:
        yield "There is no third party: this machine generates new keys in every round."
    yield ""


def deal(
    link: Annotated[
        str,
        link_argument(
            "The dealer's link, in quotes: https://host/l/ID#svl_…; - reads it from the first "
            "line of standard input, which hides it from the process list."
        ),
    ],
    folder: FolderOption = None,
    passphrase_file: PassphraseOption = None,
    yes: Annotated[bool, yes_option("Deal without confirmation.")] = False,
    patience: PatienceOption = 120.0,
    allow_http: AllowHttpOption = False,
) -> None:
    """Deal the key of a live session: generate it, send sealed shares, discard it.

    Your keys from `sottovoce keyholder init` identify you, and the session must name your card. The
    command waits until it is known who takes part. A dealer could decrypt everything: deal only if
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
            if not yes and not confirmed("Deal the key?", "deal"):
                raise UsageError("declined: you do not deal; nothing was sent")
            keys, _ = open_keys(home, given_passphrase(passphrase_file))
            deal_key(line, offer, keys, _tell_dealer)
    except (Ended, KeyboardInterrupt):
        console.note("Stopped. If no key was dealt yet, you can start again.")
        raise typer.Exit(INTERRUPTED) from None


def _tell_dealer(text: str) -> None:
    console.say(text)
    sys.stdout.flush()


def worker(
    link: Annotated[
        str,
        link_argument(
            "Your link, in quotes: https://host/l/ID#svl_…; - reads it from the first line of "
            "standard input, which hides it from the process list."
        ),
    ],
    answers: OwnAnswersOption,
    yes: Annotated[bool, yes_option("Take part without confirmation.")] = False,
    budget: BudgetOption = None,
    folder: Annotated[
        Path | None,
        folder_option("Folder of your ledger. Default: SOTTOVOCE_HOME or your data folder."),
    ] = None,
    patience: PatienceOption = 120.0,
    allow_http: AllowHttpOption = False,
    json: JsonOption = False,
) -> None:
    """Take part in a live session: your answers stay here, sealed sums leave.

    Before you agree, you see what is opened, the privacy loss and the trust assumptions. The
    command runs until the session ends, and then shows your accuracy, which nobody else learns.
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
            if not yes and not confirmed("Take part?", "take part"):
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
    """One worker's answers to some of these tasks, at most one per task."""
    places = {name: place for place, name in enumerate(tasks)}
    with sound_rows(path, Domain.categorical(labels)) as (table, task, answer):
        known = [places.get(str(name), -1) for name in task.names]
        codes = np.array(known, np.int64)[task.codes]
        seen: set[int] = set()
        for place, code in enumerate(codes.tolist()):
            if code < 0:
                fault = f"not one of the {len(tasks):,} tasks of the session: remove this row"
            elif code in seen:
                fault = "this task occurs twice: keep one row"
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
    console.say("How often you give each answer, by true label. Only you see this:")
    console.print_table(["truth", *names], rows)
