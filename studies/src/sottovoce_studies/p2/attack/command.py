"""`sottovoce sealed attack`: recover labels from the opened totals of a private EM."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli import console
from sottovoce.cli.options import ForceOption, JsonOption, answers_option, output_option
from sottovoce.securesum.em.terms import Mode
from sottovoce.tables import check_path, write_columns
from sottovoce_studies.p2.attack.transcript_attack import (
    Recovery,
    RecoveryScore,
    read_transcript,
    recover_labels,
)

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

    If it is known who answered which tasks, prints for each worker how many columns of labels are
    left, proven to contain the true one, and how many labels are certain. Other columns found are
    likely. Never prints a label; -o writes worker (or column), task and label.
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
    transcript = recovery.transcript
    scored = {}
    if score is not None:
        scored = {
            "answers": score.answers,
            "columns_exact": score.exact,
            "linked_exact": score.owned,
            "labels_certain_right": score.certain_right,
            "labels_right": score.right,
            "labels_right_by_guessing": score.guessed,
        }
    return {
        "mode": str(transcript.terms.mode),
        "scale": transcript.terms.scale,
        "workers": transcript.workers,
        "tasks": len(transcript.terms.tasks),
        "rounds": len(transcript.opened),
        "assignments_known": transcript.assignments is not None,
        "rank": recovery.rank,
        "rank_needed": recovery.needed,
        "outcome": recovery.outcome,
        "columns": recovery.columns,
        "columns_proven": recovery.proven,
        "linked": list(recovery.linked),
        "reproduced": recovery.reproduced,
        "unanimous_tasks": recovery.unanimous,
        "unanimous_labels": recovery.unanimous_labels,
        "labels_certain": recovery.certain,
        "candidates": [
            {
                "worker": leak.worker,
                "answers": leak.answers,
                "columns": leak.candidates,
                "labels_certain": leak.certain,
            }
            for leak in recovery.leaks
        ],
        **scored,
    }


def _print(recovery: Recovery, score: RecoveryScore | None) -> None:
    transcript = recovery.transcript
    terms = transcript.terms
    rounds = "1 round" if len(transcript.opened) == 1 else f"{len(transcript.opened)} rounds"
    scale = "" if terms.noise else f" at scale {terms.scale:,}"
    console.say(
        f"{transcript.workers:,} workers, {len(terms.tasks):,} tasks; opened: {rounds} of mode "
        f"{terms.mode}{scale}."
    )
    console.say(_model(recovery))
    if not terms.noise and terms.repeats == 1:
        console.say(
            f"Rank of all that is known: {recovery.rank}; the labels span {recovery.needed} at "
            "most."
        )
    console.say(f"Recovered: the labels of {recovery.columns:,} of {transcript.workers:,} workers.")
    if recovery.columns:
        console.say(f"Names: {_owners(recovery)}")
    if recovery.outcome == "some" and not recovery.groups:
        console.say("The counts do not confirm them; the majority decides which label is which.")
    if recovery.columns:
        console.say(_proof(recovery))
    if recovery.reproduced:
        console.say("These labels reproduce every total of every round exactly.")
    if recovery.unanimous:
        console.say(
            f"Unanimous tasks: {recovery.unanimous:,}; the counts of the first round reveal all "
            f"{recovery.unanimous_labels:,} labels."
        )
    _print_candidates(recovery)
    if score is not None:
        _print_score(recovery, score)
    console.say(_advice(recovery))


def _model(recovery: Recovery) -> str:
    if recovery.transcript.assignments is not None:
        return "Attacker: a server that knows who was given which tasks."
    dense = " The counts show that all workers answered all tasks." if recovery.groups else ""
    return f"Attacker: a server that does not know who was given which tasks, as in P2.{dense}"


def _proof(recovery: Recovery) -> str:
    if recovery.proven == recovery.columns:
        return "Proven: no other labels of these workers explain the totals."
    others = "neither proven nor confirmed by the totals."
    if recovery.reproduced:
        others = "likely, not proven: other labels may explain the totals too."
    return f"Proven: {recovery.proven:,} of these columns. The others are {others}"


def _print_candidates(recovery: Recovery) -> None:
    """The columns that are left, for each worker, or once for all if there are no names."""
    leaks = recovery.leaks
    if not leaks:
        if recovery.certain:
            console.say(
                f"Certain labels: {recovery.certain:,}, those of unanimous tasks; whose they are "
                "is not known."
            )
        return
    total = sum(leak.answers for leak in leaks)
    counted = [leak.candidates for leak in leaks if leak.candidates is not None]
    exact = counted.count(1)
    console.say(
        f"Candidate columns, proven to contain the true one: 1 for {exact:,} workers, more for "
        f"{len(counted) - exact:,}, not counted for {len(leaks) - len(counted):,}. Certain labels: "
        f"{recovery.certain:,} of {total:,}."
    )
    if len(set(leaks)) > 1:
        rows = [
            (
                leak.worker or "",
                f"{leak.answers:,}",
                "not counted" if leak.candidates is None else f"{leak.candidates:,}",
                f"{leak.certain:,}",
            )
            for leak in leaks
        ]
        console.print_table(
            ("worker", "answers", "candidate columns", "certain labels"), rows[: console.SHOWN]
        )
        if len(rows) > console.SHOWN:
            console.say(f"… and {len(rows) - console.SHOWN:,} more workers; --json has all.")
    elif leaks[0].candidates is not None:
        console.say(
            f"Every worker has one of {leaks[0].candidates:,} columns; {leaks[0].certain:,} of its "
            "labels are certain."
        )


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
    if score.certain:
        console.say(
            f"Certain labels that are correct: {score.certain_right:,} of {score.certain:,}."
        )
    nothing = score.right == score.guessed and not score.certain and not recovery.columns
    console.say(
        f"Correct labels: {score.right:,} of {score.answers:,}; guessing the published truth for "
        f"everyone gives {score.guessed:,}{': no better than guessing' if nothing else ''}."
    )


def _advice(recovery: Recovery) -> str:
    if recovery.transcript.terms.mode is Mode.NOISED:
        return "Every total has noise: the guarantee bounds the privacy loss."
    if recovery.columns == recovery.transcript.workers:
        return "Nothing was decrypted. Encrypting these sums does not help: use --mode noised."
    why = {
        "too large": "The rank is too large for this search",
        "too many": "Too many columns fit the totals for this attack",
    }.get(recovery.outcome, "Too little was opened for this attack")
    if recovery.transcript.terms.repeats > 1 and not recovery.groups:
        why = "Workers answered tasks repeatedly, and it is not known how often"
    return (
        f"{why}; that is no guarantee: more rounds or a better attack may recover more. Only "
        "--mode noised has a guarantee."
    )
