"""`sottovoce sealed session`: live sessions on a server, as their requester runs them."""

from __future__ import annotations

import time
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import sottovoce
from sottovoce.cli import console
from sottovoce.cli.campaign.connection import AllowHttpOption, ServerChoice, ServerOption, connected
from sottovoce.cli.campaign.description import printable_line, printable_sentence
from sottovoce.cli.campaign.keyholders import card_from
from sottovoce.cli.campaign.lifecycle import confirm_deletion
from sottovoce.cli.console import plural, print_truths
from sottovoce.cli.options import (
    ForceOption,
    GoldColumnsOption,
    GoldOption,
    JsonOption,
    YesOption,
    output_option,
    pairs,
)
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.model.canonical_json import canonical
from sottovoce.tables import check_path

if TYPE_CHECKING:
    from sottovoce.live.requester import LiveResultView, LiveView
    from sottovoce.model import Score
    from sottovoce.requester.client import Requester


PAUSE = 1.0
"""Seconds between two looks."""

OVER = ("done", "aborted")


class OnlineSuite(StrEnum):
    """How sums are sealed."""

    masked = "masked"
    damgard_jurik = "damgard_jurik"


class SessionMode(StrEnum):
    """What is opened."""

    noised = "noised"
    log_odds = "log_odds"
    as_published = "as_published"


SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The session, as `sottovoce sealed session list` names it.",
        show_default=False,
    ),
]
TasksArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TASKS",
        help="Table with a column task: CSV, TSV, JSONL or JSON.",
        show_default=False,
    ),
]
LabelsOption = Annotated[str, typer.Option(help="Answers are one of these labels, as no,yes.")]
WorkersOption = Annotated[int, typer.Option(help="How many links to make, one for each worker.")]
TitleOption = Annotated[
    str | None, typer.Option(help="What workers see first; the file's name if not given.")
]
SuiteOption = Annotated[
    OnlineSuite, typer.Option(help="How sums are sealed: masks, or a key that somebody deals.")
]
ModeOption = Annotated[
    SessionMode,
    typer.Option(help="What is opened. Only noised has a guarantee: others give labels away."),
]
EpsilonOption = Annotated[
    float | None, typer.Option(help="noised: how much may be betrayed of an answer.")
]
DeltaOption = Annotated[
    float | None, typer.Option(help="noised: the chance with which more may be betrayed.")
]
WeightedRoundsOption = Annotated[int | None, typer.Option(help="noised: rounds after the counts.")]
ScaleOption = Annotated[
    int | None, typer.Option(help="Without noise: numbers are multiplied by it and rounded.")
]
RoundsOption = Annotated[int, typer.Option(help="Without noise: the most rounds.")]
ThresholdOption = Annotated[
    int | None, typer.Option(help="How many must agree on a set; 2(J + 1)/3 if not given.")
]
MinimumOption = Annotated[
    int | None,
    typer.Option(help="The fewest workers of whom a sum is opened; as the threshold."),
]
PhasePatienceOption = Annotated[
    float, typer.Option(help="Seconds that a phase waits: who is later is out of the rest.")
]
DealerOption = Annotated[
    Path | None,
    typer.Option(
        metavar="CARD.json",
        help="damgard_jurik: the card of who deals the key, as `sottovoce keyholder init` "
        "writes it. Neither you nor a worker.",
        show_default=False,
    ),
]
BitsOption = Annotated[
    int | None, typer.Option(help="damgard_jurik: size of the key, 2048 if not given.")
]
RoomOption = Annotated[
    int | None, typer.Option("--s", help="damgard_jurik: room in a ciphertext, 1 if not given.")
]


def session(
    context: typer.Context,
    server: ServerOption = None,
    allow_http: AllowHttpOption = False,
) -> None:
    """Run a live session on a server: workers who are all online add up sums, and keep the parts.

    Log in with `sottovoce campaign login`.
    """
    context.obj = ServerChoice(server, allow_http)


def create(
    context: typer.Context,
    tasks: TasksArgument,
    labels: LabelsOption,
    workers: WorkersOption,
    title: TitleOption = None,
    suite: SuiteOption = OnlineSuite.masked,
    mode: ModeOption = SessionMode.noised,
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    weighted_rounds: WeightedRoundsOption = None,
    scale: ScaleOption = None,
    rounds: RoundsOption = 100,
    threshold: ThresholdOption = None,
    minimum: MinimumOption = None,
    patience: PhasePatienceOption = 60.0,
    dealer: DealerOption = None,
    bits: BitsOption = None,
    s: RoomOption = None,
    json: JsonOption = False,
) -> None:
    """Make a session about TASKS, and a link for each worker. It begins when all have joined.

    Each worker runs `sottovoce sealed worker LINK` and stays online until it is over.
    """
    card = None if dealer is None else card_from(dealer)
    if mode is SessionMode.noised and epsilon is None:
        raise UsageError("noised sums need --epsilon: how much may be betrayed of an answer")
    with connected(context) as requester:
        made = requester.live.create(
            title or tasks.stem,
            tasks,
            [label.strip() for label in labels.split(",")],
            workers=workers,
            suite=suite.value,
            mode=mode.value,
            epsilon=epsilon,
            delta=delta,
            weighted_rounds=weighted_rounds,
            scale=scale,
            rounds=rounds,
            threshold=threshold,
            minimum=minimum,
            patience=patience,
            dealer=card,
            bits=bits,
            s=s,
        )
    if json:
        console.print_json(made)
        return
    for link in made["links"]:
        console.say(link)
    if made["dealer_link"] is not None:
        console.note(f"for the dealer alone: {made['dealer_link']}")
    console.note(
        f"session {made['id']}: each link is for one worker, and is not shown again; a worker "
        "runs sottovoce sealed worker LINK --answers FILE"
    )
    console.note(f"next: sottovoce sealed session show {made['id']} --watch")


def list_sessions(context: typer.Context, json: JsonOption = False) -> None:
    """List the server's live sessions, the newest first."""
    with connected(context) as requester:
        found = requester.live.sessions()
    if json:
        console.print_json({"sessions": found})
        return
    if not found:
        console.note("no live sessions yet; next: sottovoce sealed session create TASKS.csv …")
        return
    rows = [
        [
            each["id"],
            each["state"],
            printable_line(each["title"]),
            each["suite"],
            each["mode"],
            f"{each['tasks']:,}",
            f"{each['joined']:,} of {each['workers']:,}",
            f"{each['opened']:,}",
        ]
        for each in found
    ]
    columns = ["id", "state", "title", "suite", "mode", "tasks", "joined", "opened"]
    console.print_table(columns, rows)


def show(
    context: typer.Context,
    session: SessionArgument,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again every second, until it is over.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say how a session gets on: who has joined, who is waited for, what was opened.

    With --watch it is said again at each change; Ctrl-C ends that.
    """
    with connected(context) as requester:
        found = requester.live.show(session)
        _print(found, json=json)
        if watch:
            with suppress(KeyboardInterrupt):
                _watch(requester, found, json=json)


def start(context: typer.Context, session: SessionArgument, json: JsonOption = False) -> None:
    """Begin with the workers who have joined: nobody can join any more."""
    with connected(context) as requester:
        _print(requester.live.start(session), json=json)


def stop(context: typer.Context, session: SessionArgument, json: JsonOption = False) -> None:
    """End a session, for good. What was opened stays, and workers are told."""
    with connected(context) as requester:
        _print(requester.live.stop(session), json=json)


def delete(
    context: typer.Context,
    session: SessionArgument,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Delete a session with all that was opened in it, for good."""
    with connected(context) as requester:
        found = requester.live.show(session)
        if not yes:
            confirm_deletion(
                f"Delete session {session} ({printable_line(found['title'])}), for good?"
            )
        requester.live.delete(session)
    if json:
        console.print_json({"deleted": session})
        return
    console.note(f"session {session} is deleted")


def results(
    context: typer.Context,
    session: SessionArgument,
    output: Annotated[
        Path | None,
        output_option("Write truths here: .csv, .tsv, .jsonl or .parquet."),
    ] = None,
    gold: GoldOption = None,
    gold_columns: GoldColumnsOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Print the truth of every task of a session that is done.

    On a terminal the first tasks are shown as a table; into a pipe all of them go as CSV.
    """
    if output is not None:
        check_path(output, force=force)
    with connected(context) as requester:
        summary = requester.live.results_page(session, limit=1)["summary"]
        result = requester.live.results(session)
    score = None
    if gold is not None:
        score = sottovoce.score(result, gold, columns=pairs(gold_columns, "--gold-columns"))
    if output is not None:
        sottovoce.write(result, output, force=force)
    if json:
        console.print_json({"summary": summary, "score": score and score.as_dict()})
        return
    if output is None:
        print_truths(result)
    else:
        console.note(f"wrote {output}")
    _print_summary(summary, score)


def transcript(
    context: typer.Context,
    session: SessionArgument,
    output: Annotated[Path, output_option("Write it to this file.")],
    force: ForceOption = False,
) -> None:
    """Write what the server has seen of a session: every opened total, and no key or answer.

    `sottovoce sealed attack` reads it, and says what can be computed from it.
    """
    check_target(output, force=force)
    with connected(context) as requester:
        found = requester.live.transcript(session)
    with new_file(output, force=force) as place:
        place.write_text(canonical(found) + "\n", encoding="ascii")
    console.note(f"wrote {output}: {plural(len(found['rounds']), 'round')}")


def _watch(requester: Requester, found: LiveView, *, json: bool) -> None:
    while found["state"] not in OVER:
        time.sleep(PAUSE)
        before, found = found, requester.live.show(found["id"])
        if found != before:
            _print(found, json=json)


def _print(found: LiveView, *, json: bool) -> None:
    if json:
        console.print_json(found)
        return
    place = ""
    if found["round"] is not None:
        place = f", round {found['round']:,}, {found['phase']}"
    console.say(
        f"{found['state']}{place}: {found['joined']:,} of {plural(found['workers'], 'worker')} "
        f"joined, {plural(found['opened'], 'round')} opened"
    )
    if found["waiting"]:
        console.say(f"  waiting for {', '.join(map(str, found['waiting']))}")
    for number, why in found["excluded"].items():
        console.say(f"  worker {number} is out: {printable_sentence(why)}")
    if found["reason"] is not None:
        culprits = "".join(f"{printable_sentence(each)}: " for each in found["culprits"])
        console.note(f"problem: {culprits}{printable_sentence(found['reason'])}")


def _print_summary(summary: LiveResultView, score: Score | None) -> None:
    end = "converged" if summary["converged"] else "stopped at the round limit"
    console.note(
        f"{summary['method']}: {plural(summary['tasks'], 'task')}, "
        f"{plural(summary['workers'], 'worker')}, {plural(summary['rounds'], 'round')}, {end}"
    )
    if score is not None:
        console.note(console.score_words(score))
    kept = summary["guarantee"]
    if kept is not None:
        console.note(
            f"guarantee: epsilon {kept['per_answer']:g}, delta {kept['delta']:g} per answer"
        )
    console.note(printable_sentence(summary["words"]))
