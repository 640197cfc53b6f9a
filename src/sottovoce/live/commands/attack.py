"""`sottovoce sealed attack`: what the totals of a private EM give away of the answers in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli import console
from sottovoce.cli.options import ForceOption, JsonOption, output_option
from sottovoce.live.attack.transcript_attack import (
    Recovery,
    RecoveryScore,
    read_transcript,
    recover_labels,
)
from sottovoce.securesum.em.terms import Mode
from sottovoce.tables import check_path, write_columns

TranscriptArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TRANSCRIPT",
        help="What a server has seen: from sealed simulate --transcript, or session transcript.",
        show_default=False,
    ),
]


def attack(
    transcript: TranscriptArgument,
    answers: Annotated[
        str | None,
        typer.Option(help="The answers, to say how much is right: worker, task, answer."),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("Write the labels that were found to this table."),
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Compute the workers' labels from TRANSCRIPT, with no key: what its mode gives away.

    Prints how much was found, and never a label; -o writes worker (or column), task and label.
    """
    if output is not None:
        check_path(output, force=force)
    recovery = recover_labels(read_transcript(transcript))
    score = None if answers is None else recovery.score(answers)
    if json:
        console.print_json(_as_json(recovery, score))
    else:
        _print(recovery, score)
    if output is not None:
        write_columns(recovery.table(), output, force=force)
        console.note(f"wrote {output}: protect it like the answers themselves")


def _as_json(recovery: Recovery, score: RecoveryScore | None) -> dict[str, Any]:
    transcript, found = recovery.transcript, recovery.found
    scored = {}
    if score is not None:
        scored = {
            "answers": score.answers,
            "columns_exact": score.exact,
            "linked_exact": score.owned,
            "labels_right": score.right,
            "labels_right_by_guessing": score.guessed,
        }
    return {
        "mode": str(transcript.terms.mode),
        "scale": transcript.terms.scale,
        "workers": transcript.workers,
        "tasks": len(transcript.terms.tasks),
        "rounds": len(transcript.opened),
        "rank": found.rank,
        "rank_needed": found.needed,
        "outcome": found.outcome,
        "columns": recovery.columns,
        "linked": list(recovery.linked),
        "reproduced": recovery.reproduced,
        "unanimous_tasks": recovery.unanimous,
        "unanimous_labels": recovery.unanimous_labels,
        **scored,
    }


def _print(recovery: Recovery, score: RecoveryScore | None) -> None:
    transcript, found = recovery.transcript, recovery.found
    terms = transcript.terms
    rounds = "1 round" if len(transcript.opened) == 1 else f"{len(transcript.opened)} rounds"
    scale = "" if terms.noise else f" at scale {terms.scale:,}"
    console.say(
        f"{transcript.workers:,} workers, {len(terms.tasks):,} tasks; opened: {rounds} of mode "
        f"{terms.mode}{scale}."
    )
    console.say(
        f"Rank of what was opened: {found.rank}; at {found.needed} every worker's labels are in it."
    )
    console.say(f"Found: the labels of {recovery.columns:,} of {transcript.workers:,} workers.")
    if recovery.columns:
        console.say(f"Whose they are: {_owners(recovery)}")
    if found.outcome == "some":
        console.say(
            "The counts do not confirm them; which label is which is what most workers say."
        )
    if recovery.reproduced:
        console.say("These labels give every total of every round again, to the integer.")
    if recovery.unanimous:
        console.say(
            f"Unanimous tasks: {recovery.unanimous:,}, where the counts of the first round give "
            f"all {recovery.unanimous_labels:,} labels away."
        )
    if score is not None:
        _print_score(recovery, score)
    console.say(_advice(recovery))


def _owners(recovery: Recovery) -> str:
    if recovery.transcript.assignments is None:
        return "the transcript does not say who had which tasks, so columns have no names."
    linked = recovery.linked
    if not linked:
        return "nobody's tasks differ from everybody else's, so columns have no names."
    named = ", ".join(linked[:5]) + (", …" if len(linked) > 5 else "")
    return f"{len(linked):,} are linked to their worker by its tasks ({named})."


def _print_score(recovery: Recovery, score: RecoveryScore) -> None:
    if recovery.columns:
        owned = f", {score.owned:,} under the right name" if recovery.linked else ""
        console.say(
            f"Against the answers: {score.exact:,} of {recovery.columns:,} columns are right in "
            f"every label{owned}."
        )
    same = "" if score.right != score.guessed else ": no better than guessing"
    console.say(
        f"Labels right: {score.right:,} of {score.answers:,}; by guessing the published truth for "
        f"everybody {score.guessed:,}{same}."
    )


def _advice(recovery: Recovery) -> str:
    found = recovery.found
    if recovery.transcript.terms.mode is Mode.NOISED:
        return "Noise is in every total: what is betrayed is bounded by the guarantee."
    if found.outcome == "too large":
        return (
            "The search ends at a larger rank than this one's; the labels are in the sums all the "
            "same. Only --mode noised has a guarantee."
        )
    if recovery.transcript.terms.repeats > 1 and recovery.columns < recovery.transcript.workers:
        return (
            "Who answers a task more than once is not taken apart by this attack, which promises "
            "nothing. Only --mode noised has a guarantee."
        )
    if recovery.columns:
        return "Nothing was decrypted. No encryption of these sums helps: use --mode noised."
    little = "Too few tasks" if found.outcome == "too many" else "Too little was opened"
    return (
        f"{little} for this attack, which promises nothing: more rounds, or a better attack, find "
        "more. Only --mode noised has a guarantee."
    )
