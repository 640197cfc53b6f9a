"""`sottovoce sealed session`: the requester's commands for live sessions on a server."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import sottovoce
from sottovoce.cli import console
from sottovoce.cli.campaign.connection import ServerChoice, ServerOption, connected
from sottovoce.cli.campaign.description import printable_line, printable_sentence
from sottovoce.cli.campaign.keyholders import card_from
from sottovoce.cli.campaign.lifecycle import confirm_deletion
from sottovoce.cli.console import plural, print_truths
from sottovoce.cli.options import (
    AllowHttpOption,
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
"""Seconds between two requests."""

OVER = ("done", "aborted")


SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The session's ID, from `sottovoce sealed session list`.",
        show_default=False,
    ),
]
TasksArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TASKS",
        help="Table with the column task: CSV, TSV, JSONL or JSON.",
        show_default=False,
    ),
]
LabelsOption = Annotated[
    str, typer.Option(metavar="LABEL,LABEL,…", help="Answers are one of these labels.")
]
WorkersOption = Annotated[int, typer.Option(help="Number of workers; each gets a link.")]
TitleOption = Annotated[
    str | None, typer.Option(help="Title shown to workers. Default: the name of the file.")
]
SuiteOption = Annotated[
    Literal["masked", "damgard_jurik"],
    typer.Option(help="How sums are sealed: with masks, or with a key from a dealer."),
]
ModeOption = Annotated[
    Literal["noised", "log_odds", "as_published"],
    typer.Option(help="Sums to open. Only noised has a guarantee; the others leak labels."),
]
EpsilonOption = Annotated[
    float | None, typer.Option(metavar="EPSILON", help="noised: privacy loss per answer.")
]
DeltaOption = Annotated[
    float | None, typer.Option(metavar="DELTA", help="noised: failure probability delta.")
]
WeightedRoundsOption = Annotated[
    Literal["0", "1", "2", "3"] | None,
    typer.Option(help="noised: number of noised rounds after the first."),
]
ScaleOption = Annotated[
    int | None, typer.Option(help="Without noise: numbers are multiplied by this and rounded.")
]
RoundsOption = Annotated[int, typer.Option(help="Without noise: round limit.")]
ThresholdOption = Annotated[
    int | None,
    typer.Option(help="How many workers must agree on a set. Default: 2(J + 1)/3 for J workers."),
]
MinimumOption = Annotated[
    int | None,
    typer.Option(help="Smallest number of workers whose total is opened. Default: --threshold."),
]
PhasePatienceOption = Annotated[
    float,
    typer.Option(help="Seconds to wait for workers in a phase; later workers are excluded."),
]
DealerOption = Annotated[
    Path | None,
    typer.Option(
        metavar="CARD.json",
        help="damgard_jurik: the dealer's card, from `sottovoce keyholder init`. The dealer must "
        "be neither you nor a worker.",
        show_default=False,
    ),
]
BitsOption = Annotated[int | None, typer.Option(help="damgard_jurik: key size. Default: 2048.")]
RoomOption = Annotated[
    int | None,
    typer.Option("--s", help="damgard_jurik: exponent s, the size of a plaintext. Default: 1."),
]


def session(
    context: typer.Context,
    server: ServerOption = None,
    allow_http: AllowHttpOption = False,
) -> None:
    """Run live sessions on a server: online workers add up sums and keep their parts secret.

    Log in first with `sottovoce campaign login`.
    """
    context.obj = ServerChoice(server, allow_http)


def create(
    context: typer.Context,
    tasks: TasksArgument,
    labels: LabelsOption,
    workers: WorkersOption,
    title: TitleOption = None,
    suite: SuiteOption = "masked",
    mode: ModeOption = "noised",
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    weighted_rounds: WeightedRoundsOption = None,
    sum_scale: ScaleOption = None,
    rounds: RoundsOption = 100,
    threshold: ThresholdOption = None,
    minimum: MinimumOption = None,
    phase_patience: PhasePatienceOption = 60.0,
    dealer: DealerOption = None,
    bits: BitsOption = None,
    s: RoomOption = None,
    json: JsonOption = False,
) -> None:
    """Create a session about TASKS, with a link per worker; it starts when all have joined.

    Each worker runs `sottovoce sealed worker LINK` and stays online until the session ends.
    """
    card = None if dealer is None else card_from(dealer)
    if mode == "noised" and epsilon is None:
        raise UsageError("--mode noised needs --epsilon, the privacy loss per answer")
    with connected(context) as requester:
        made = requester.live.create(
            title or tasks.stem,
            tasks,
            [label.strip() for label in labels.split(",")],
            workers=workers,
            suite=suite,
            mode=mode,
            epsilon=epsilon,
            delta=delta,
            weighted_rounds=None if weighted_rounds is None else int(weighted_rounds),
            scale=sum_scale,
            rounds=rounds,
            threshold=threshold,
            minimum=minimum,
            patience=phase_patience,
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
        console.note(f"for the dealer only: {made['dealer_link']}")
    console.note(
        f"session {made['id']}: each link is for one worker and is shown only once; a worker runs "
        "sottovoce sealed worker LINK --answers FILE"
    )
    console.note(f"next: sottovoce sealed session show {made['id']} --watch")


def list_sessions(context: typer.Context, json: JsonOption = False) -> None:
    """List the server's live sessions, newest first."""
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
        bool, typer.Option("--watch", help="Show changes every second until the session ends.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show a session's progress: who has joined, who is awaited, what was opened.

    --watch prints it again after each change, until Ctrl-C.
    """
    with connected(context) as requester:
        found = requester.live.show(session)
        _print(found, json=json)
        if watch:
            with suppress(KeyboardInterrupt):
                _watch(requester, found, json=json)


def start(context: typer.Context, session: SessionArgument, json: JsonOption = False) -> None:
    """Start a session with the workers who have joined; nobody else can join."""
    with connected(context) as requester:
        _print(requester.live.start(session), json=json)


def stop(context: typer.Context, session: SessionArgument, json: JsonOption = False) -> None:
    """End a session permanently. Opened totals remain, and workers are notified."""
    with connected(context) as requester:
        _print(requester.live.stop(session), json=json)


def delete(
    context: typer.Context,
    session: SessionArgument,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Delete a session and everything opened in it, permanently."""
    with connected(context) as requester:
        found = requester.live.show(session)
        if not yes:
            confirm_deletion(
                f"Delete session {session} ({printable_line(found['title'])}), permanently?"
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
        output_option("Write truths to this .csv, .tsv, .jsonl or .parquet file."),
    ] = None,
    gold: GoldOption = None,
    gold_columns: GoldColumnsOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Print the truth of every task of a finished session.

    A terminal shows the first tasks as a table; a pipe gets all tasks as CSV.
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
    output: Annotated[Path, output_option("Write the transcript to this file.")],
    force: ForceOption = False,
) -> None:
    """Write the server's view of a session: every opened total, no keys or answers.

    `sottovoce sealed attack` shows what can be computed from it.
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
        console.say(f"  worker {number} is excluded: {printable_sentence(why)}")
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
