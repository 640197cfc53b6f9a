"""`sottovoce sealed session results` and `transcript`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import sottovoce
from sottovoce.cli import screen
from sottovoce.cli.campaigns.connecting import connected
from sottovoce.cli.campaigns.words import counted, sentence
from sottovoce.cli.options import (
    ForceOption,
    GoldColumnsOption,
    GoldOption,
    JsonOption,
    output_option,
    pairs,
)
from sottovoce.cli.truths import print_truths
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.model.canonical_json import canonical
from sottovoce.tables import check_path

if TYPE_CHECKING:
    from sottovoce.model import Score
    from sottovoce.requester.live import LiveResultView

__all__ = ["SessionArgument", "results", "transcript"]

SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The session, as `sottovoce sealed session list` names it.",
        show_default=False,
    ),
]


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
        screen.print_json({"summary": summary, "score": score and score.as_dict()})
        return
    if output is None:
        print_truths(result)
    else:
        screen.note(f"wrote {output}")
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
    screen.note(f"wrote {output}: {counted(len(found['rounds']), 'round')}")


def _print_summary(summary: LiveResultView, score: Score | None) -> None:
    end = "converged" if summary["converged"] else "stopped at the round limit"
    screen.note(
        f"{summary['method']}: {counted(summary['tasks'], 'task')}, "
        f"{counted(summary['workers'], 'worker')}, {counted(summary['rounds'], 'round')}, {end}"
    )
    if score is not None:
        screen.note(screen.score_words(score))
    kept = summary["guarantee"]
    if kept is not None:
        screen.note(
            f"guarantee: epsilon {kept['per_answer']:g}, delta {kept['delta']:g} per answer"
        )
    screen.note(sentence(summary["words"]))
