"""`sottovoce sealed attack`: recover labels from the opened totals of a private EM."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli import console
from sottovoce.cli.options import ForceOption, JsonOption, answers_option, output_option
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
        help="A server's view, from `sealed simulate --transcript` or `sealed session transcript`.",
        show_default=False,
    ),
]


def attack(
    transcript: TranscriptArgument,
    answers: Annotated[
        str | None,
        answers_option("True answers to score against: columns worker, task and answer."),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("Write the recovered labels to this table."),
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Recover workers' labels from TRANSCRIPT without a key, to show what its mode leaks.

    Prints how many labels were recovered, never a label; -o writes worker (or column), task and
    label.
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
        console.note(f"wrote {output}: protect it like the answers")


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
        f"Rank of the opened totals: {found.rank}; {found.needed} reveals every worker's labels."
    )
    console.say(f"Recovered: the labels of {recovery.columns:,} of {transcript.workers:,} workers.")
    if recovery.columns:
        console.say(f"Names: {_owners(recovery)}")
    if found.outcome == "some":
        console.say("The counts do not confirm them; the majority decides which label is which.")
    if recovery.reproduced:
        console.say("These labels reproduce every total of every round exactly.")
    if recovery.unanimous:
        console.say(
            f"Unanimous tasks: {recovery.unanimous:,}; the counts of the first round reveal all "
            f"{recovery.unanimous_labels:,} labels."
        )
    if score is not None:
        _print_score(recovery, score)
    console.say(_advice(recovery))


def _owners(recovery: Recovery) -> str:
    if recovery.transcript.assignments is None:
        return "none, because the transcript does not contain who had which tasks."
    linked = recovery.linked
    if not linked:
        return "none, because no worker's set of tasks is unique."
    named = ", ".join(linked[:5]) + (", …" if len(linked) > 5 else "")
    return f"{len(linked):,} are linked to their worker by its tasks ({named})."


def _print_score(recovery: Recovery, score: RecoveryScore) -> None:
    if recovery.columns:
        owned = f", {score.owned:,} under the right name" if recovery.linked else ""
        console.say(
            f"Compared with the answers: {score.exact:,} of {recovery.columns:,} columns are "
            f"correct in every label{owned}."
        )
    same = "" if score.right != score.guessed else ": no better than guessing"
    console.say(
        f"Correct labels: {score.right:,} of {score.answers:,}; guessing the published truth for "
        f"everyone gives {score.guessed:,}{same}."
    )


def _advice(recovery: Recovery) -> str:
    found = recovery.found
    if recovery.transcript.terms.mode is Mode.NOISED:
        return "Every total has noise: the guarantee bounds the privacy loss."
    if found.outcome == "too large":
        return (
            "The rank is too large for this search, but the sums still determine the labels. Only "
            "--mode noised has a guarantee."
        )
    if recovery.transcript.terms.repeats > 1 and recovery.columns < recovery.transcript.workers:
        return (
            "This attack does not separate workers who answer a task more than once; that is no "
            "guarantee. Only --mode noised has a guarantee."
        )
    if recovery.columns:
        return "Nothing was decrypted. Encrypting these sums does not help: use --mode noised."
    little = "Too few tasks" if found.outcome == "too many" else "Too little was opened"
    return (
        f"{little} for this attack; that is no guarantee: more rounds or a better attack recover "
        "more. Only --mode noised has a guarantee."
    )
