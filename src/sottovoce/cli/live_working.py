"""`sottovoce sealed worker`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli import screen
from sottovoce.cli.answer_tables import sound_rows
from sottovoce.cli.budgets import ledger_in, parsed_limits
from sottovoce.cli.live_consent import worker_lines
from sottovoce.cli.options import (
    BudgetOption,
    JsonOption,
    OwnAnswersOption,
    PatienceOption,
    allow_http_option,
    link_argument,
    yes_option,
)
from sottovoce.cli.questioning import Ended, agreed, read_line
from sottovoce.errors import DataError, UsageError
from sottovoce.http_client import plain
from sottovoce.worker.live.working import LiveWorker

if TYPE_CHECKING:
    from sottovoce.worker.live.answers import LiveAnswers
    from sottovoce.worker.live.outcome import LiveOutcome

__all__ = ["worker"]

FAILED, INTERRUPTED = 1, 130
NOTHING = "You do not take part: nothing was sent, and nothing was spent."
GONE = "Stopped. You are out of this session: the others go on without you."


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
    say = screen.note if json else screen.say
    limits = parsed_limits(budget)
    try:
        address = read_line("Link: ") if link == "-" else link
        with LiveWorker(
            address,
            ledger=ledger_in(folder, limits),
            patience=patience,
            tell=screen.note,
            allow_http=allow_http,
        ) as member:
            offer = member.offer
            given = read_live_answers(answers, offer.tasks, offer.labels)
            for line in worker_lines(offer, len(given), member.promise(given)):
                say(line)
            member.check(given)
            if not yes and not _asked():
                say(NOTHING)
                return
            outcome = member.run(given)
    except Ended:
        screen.note(NOTHING)
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        screen.note(GONE)
        raise typer.Exit(INTERRUPTED) from None
    if json:
        screen.print_json(outcome.as_json())
    else:
        _tell(outcome)
    if not outcome.is_done:
        raise typer.Exit(FAILED)


def read_live_answers(path: Path, tasks: Sequence[str], labels: Sequence[str]) -> LiveAnswers:
    """One worker's answers to some of these tasks, each of which is answered once."""
    import numpy as np

    from sottovoce.model import Domain
    from sottovoce.worker.live.answers import LiveAnswers

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


def _asked() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked here: say --yes to take part")
    return agreed("Take part?")


def _tell(outcome: LiveOutcome) -> None:
    from rich.markup import escape

    ended, rounds = outcome.ended, f"{outcome.rounds:,} round{'s'[: outcome.rounds != 1]}"
    if outcome.is_done:
        screen.say(f"Done: {rounds} opened.")
    else:
        who = f"{', '.join(map(plain, ended.culprits))}: " if ended.culprits else ""
        screen.say(f"{ended.state.capitalize()} after {rounds}: {who}{plain(ended.reason)}")
    if outcome.skill is None:
        return
    names = [escape(plain(label, longest=60)) for label in outcome.labels]
    shares = [[f"{share:.3f}" for share in row] for row in outcome.skill]
    rows = [[name, *row] for name, row in zip(names, shares, strict=True)]
    screen.say("How often you give each answer, by what is true. Only you see this:")
    screen.print_table(["truth", *names], rows)
