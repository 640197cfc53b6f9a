"""`sottovoce sealed`: a sealed campaign on one machine, with all of its parties."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli import screen
from sottovoce.cli.options import (
    AnswersArgument,
    BadRows,
    BadRowsOption,
    ColumnsOption,
    DomainOption,
    FormatOption,
    GoldColumnsOption,
    HideOption,
    JsonOption,
    Repeats,
    RepeatsOption,
    pairs,
    reading,
)
from sottovoce.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.api.sealing import SealedRun
    from sottovoce.model import Score

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Answers shared among keyholders: one sum is opened.")


class Suite(StrEnum):
    """How sums are made."""

    committee = "committee"
    plain = "plain"


class Mode(StrEnum):
    """What is opened."""

    noised = "noised"


class Layout(StrEnum):
    """What is added up."""

    votes = "votes"
    sum = "sum"
    histogram = "histogram"


@app.callback()
def sealed() -> None:
    """Answers shared among keyholders: one sum is opened."""


@app.command("simulate")
def simulate(
    answers: AnswersArgument,
    suite: Annotated[
        Suite, typer.Option(help="Keyholders, or plain: the same sums in the open.")
    ] = Suite.committee,
    mode: Annotated[
        Mode, typer.Option(help="What is opened: one noised sum for each slot of a task.")
    ] = Mode.noised,
    epsilon: Annotated[float, typer.Option(help="How much may be betrayed of an answer.")] = 1.0,
    gold: Annotated[
        str | None, typer.Option(help="Table with columns task and truth, to score against.")
    ] = None,
    processes: Annotated[
        bool,
        typer.Option(
            "--processes", help="For real: a server, keyholders and workers in other processes."
        ),
    ] = False,
    hide_participation: HideOption = False,
    layout: Annotated[
        Layout | None,
        typer.Option(help="votes; for numbers sum, or histogram, which is robust."),
    ] = None,
    keyholders: Annotated[int, typer.Option(help="How many seats there are.")] = 3,
    colluding: Annotated[int, typer.Option(help="How many of them may be in league.")] = 1,
    columns: ColumnsOption = None,
    gold_columns: GoldColumnsOption = None,
    domain: DomainOption = None,
    repeats: RepeatsOption = Repeats.first,
    bad_rows: BadRowsOption = BadRows.error,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Seal ANSWERS, sum, open and infer, on this machine, and say what came of it.

    Every worker of the table seals its answers, keyholders deal noise, check, certify and open, and
    truths are inferred from the sums. Keys and noise are real, so that no two runs are the same.
    """
    import sottovoce
    from sottovoce.api.sealing import simulate_sealed

    with screen.reading(answers):
        table = sottovoce.read(answers, **reading(columns, domain, repeats, bad_rows, format))
    screen.notes_of(table.reading)
    if table.simulated:
        raise UsageError("these are randomised reports: seal answers as they are")
    given: dict[str, Any] = {
        "epsilon": epsilon, "hide_participation": hide_participation,
        "layout": layout and str(layout), "keyholders": keyholders, "colluding": colluding,
    }  # fmt: skip
    if processes:
        if suite is Suite.plain:
            raise UsageError("the plain suite has no parties: drop --processes")
        from sottovoce.cli.sealed_processes import run_processes

        run = run_processes(table, **given)
    else:
        run = simulate_sealed(table, suite=suite.value, **given)
    known = gold or (answers if answers.startswith("dataset:") else None)
    score = (
        sottovoce.score(run.result, known, columns=pairs(gold_columns, "--gold-columns"))
        if known
        else None
    )
    if json:
        screen.print_json(_as_json(run, score, mode))
    else:
        _print(run, score, table_tasks=len(table.tasks))


def _as_json(run: SealedRun, score: Score | None, mode: Mode) -> dict[str, Any]:
    held, worker = run.guarantee, run.guarantee_worker
    return {
        "suite": run.suite,
        "mode": str(mode),
        "workers": run.workers,
        "dropped": run.dropped,
        **({} if score is None else score.as_dict()),
        "identical_to_plain": run.identical_to_plain,
        "rounds": run.rounds,
        "cpu_seconds": {party: round(seconds, 4) for party, seconds in run.cpu_seconds.items()},
        "guarantee": {
            "per_answer": held.epsilon,
            "per_worker": worker.epsilon,
            "delta": held.delta,
            "answers": worker.answers,
            "assumptions": list(held.assumptions),
        },
        "method": run.result.provenance.method,
        "policy_hash": run.policy.hash,
    }


def _print(run: SealedRun, score: Score | None, *, table_tasks: int) -> None:
    screen.say(
        f"{run.workers:,} contributions to {table_tasks:,} tasks are in the sum, "
        f"{run.dropped:,} dropped; {run.rounds} round."
    )
    if score is not None:
        screen.say(f"Truths, by {run.result.provenance.method}: {screen.score_words(score)}")
    same = "the same integers as" if run.identical_to_plain else "NOT the integers of"
    screen.say(f"Sums: {same} the plain suite with the same noise.")
    screen.say(
        f"Guarantee: {run.guarantee}; {run.guarantee_worker} with up to "
        f"{run.guarantee_worker.answers:,} answers. It holds if"
    )
    for assumption in run.guarantee.assumptions:
        screen.say(f"  - {assumption}")
    for party, seconds in run.cpu_seconds.items():
        each = f", {1000 * seconds / run.workers:.2f} ms each" if party == "workers" else ""
        screen.say(f"CPU of {party}: {seconds:.2f} s{each}")
