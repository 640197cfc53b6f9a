"""`sottovoce sealed`: a sealed campaign on one machine, with all of its parties."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce
from sottovoce.api.simulate_sealed import SealedRun, simulate_sealed
from sottovoce.cli import console, options
from sottovoce.cli.sealed_processes import run_processes
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target
from sottovoce.hooks import filled
from sottovoce.model import Result, Score


class Suite(StrEnum):
    """How sums are made."""

    committee = "committee"
    plain = "plain"
    masked = "masked"
    damgard_jurik = "damgard_jurik"


class Mode(StrEnum):
    """What is opened."""

    noised = "noised"
    as_published = "as_published"
    log_odds = "log_odds"


class WeightedRounds(StrEnum):
    """How many noised rounds come after the first."""

    auto = "auto"
    none = "0"
    one = "1"
    two = "2"
    three = "3"

    @property
    def asked(self) -> int | None:
        """The number; None where it is left to the planner."""
        return None if self is WeightedRounds.auto else int(self.value)


def simulate(
    answers: options.AnswersArgument,
    suite: Annotated[
        Suite,
        typer.Option(
            help="Keyholders (committee); workers who are online (masked, damgard_jurik); or "
            "plain: the same sums in the open."
        ),
    ] = Suite.committee,
    mode: Annotated[
        Mode,
        typer.Option(
            help="What is opened: noised sums; or all that the paper's EM opens (as_published), "
            "or half of it (log_odds), which gives labels away."
        ),
    ] = Mode.noised,
    epsilon: Annotated[float, typer.Option(help="How much may be betrayed of an answer.")] = 1.0,
    delta: Annotated[
        float | None,
        typer.Option(help="Online workers: the chance with which more may be betrayed."),
    ] = None,
    weighted_rounds: Annotated[
        WeightedRounds,
        typer.Option(help="Online workers: noised rounds after the first, or auto: if they pay."),
    ] = WeightedRounds.auto,
    scale: Annotated[
        int | None, typer.Option(help="EM without noise: numbers are multiplied by it and rounded.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="EM without noise: the most rounds; 100 if not given.")
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option(help="Online workers: how many must agree; 2(J + 1)/3 if not given."),
    ] = None,
    bits: Annotated[
        int, typer.Option(help="damgard_jurik: size of the key, 1024 (to reproduce), 2048, 3072.")
    ] = 2048,
    transcript: Annotated[
        Path | None, typer.Option(help="EM: write what the server has seen to this file.")
    ] = None,
    assignments: Annotated[
        bool, typer.Option("--assignments", help="Into the transcript: who had which tasks.")
    ] = False,
    gold: Annotated[
        str | None, typer.Option(help="Table with columns task and truth, to score against.")
    ] = None,
    processes: Annotated[
        bool,
        typer.Option(
            "--processes", help="For real: a server, keyholders and workers in other processes."
        ),
    ] = False,
    hide_participation: options.HideOption = False,
    layout: Annotated[
        options.Layout | None,
        typer.Option(help="Keyholders: votes; for numbers sum, or histogram, which is robust."),
    ] = None,
    keyholders: Annotated[int, typer.Option(help="How many seats there are.")] = 3,
    colluding: Annotated[int, typer.Option(help="How many of them may be in league.")] = 1,
    columns: options.ColumnsOption = None,
    gold_columns: options.GoldColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = options.Repeats.first,
    bad_rows: options.BadRowsOption = options.BadRows.error,
    format: options.FormatOption = None,
    force: options.ForceOption = False,
    json: options.JsonOption = False,
) -> None:
    """Seal ANSWERS, sum, open and infer, on this machine, and say what came of it.

    Every worker of the table seals its answers, keyholders deal noise, check, certify and open, and
    truths are inferred from the sums. Keys and noise are real, so that no two runs are the same.
    With a suite of online workers, or a mode that is not noised, the workers and a server compute
    truths together, round after round (the worker-private EM).
    """
    private = mode is not Mode.noised or suite in (Suite.masked, Suite.damgard_jurik)
    _refuse_others(
        private,
        keyholders={
            "--hide-participation": hide_participation,
            "--layout": layout is not None,
            "--keyholders": keyholders != 3,
            "--colluding": colluding != 1,
        },
        online={
            "--scale": scale is not None,
            "--rounds": rounds is not None,
            "--bits": bits != 2048,
            "--threshold": threshold is not None,
            "--transcript": transcript is not None,
            "--delta": delta is not None,
            "--assignments": assignments,
            "--weighted-rounds": weighted_rounds is not WeightedRounds.auto,
        },
    )
    if processes and suite is Suite.plain:
        raise UsageError("the plain suite has no parties: drop --processes")
    if assignments and transcript is None:
        raise UsageError("--assignments go into a transcript: give --transcript FILE too")
    if transcript is not None:
        check_target(transcript, force=force)
    with console.reading(answers):
        table = sottovoce.read(
            answers, **options.reading(columns, domain, repeats, bad_rows, format)
        )
    console.notes_of(table.reading)
    if table.simulated:
        raise UsageError("these are randomised reports: seal answers as they are")
    known = gold or (answers if answers.startswith("dataset:") else None)
    mapping = options.pairs(gold_columns, "--gold-columns")

    def scored(result: Result) -> Score | None:
        return sottovoce.score(result, known, columns=mapping) if known else None

    if private:
        private_em = filled("sealed.simulate")
        run = private_em.run(
            table,
            suite=suite.value,
            mode=mode.value,
            epsilon=epsilon,
            delta=delta,
            weighted_rounds=weighted_rounds.asked,
            scale=scale,
            rounds=rounds,
            threshold=threshold,
            bits=bits,
            assignments=assignments,
            processes=processes,
        )
        private_em.show(run, scored(run.result), transcript, json=json, force=force)
        return
    how: dict[str, Any] = {
        "epsilon": epsilon,
        "hide_participation": hide_participation,
        "layout": layout and str(layout),
        "keyholders": keyholders,
        "colluding": colluding,
    }
    if processes:
        summed = run_processes(table, **how)
    else:
        summed = simulate_sealed(table, suite=suite.value, **how)  # type: ignore[arg-type]
    score = scored(summed.result)
    if json:
        console.print_json(_as_json(summed, score, mode))
    else:
        _print(summed, score, table_tasks=len(table.tasks))


def _refuse_others(
    private: bool, *, keyholders: Mapping[str, bool], online: Mapping[str, bool]
) -> None:
    """Refuse options that would do nothing."""
    named = [option for option, given in (keyholders if private else online).items() if given]
    if named and private:
        raise UsageError(f"the EM of online workers has no {named[0]}: drop it")
    if named:
        raise UsageError(
            f"one noised sum of keyholders has no {named[0]}: drop it, or give --suite masked"
        )


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
    console.say(
        f"{run.workers:,} contributions to {table_tasks:,} tasks are in the sum, "
        f"{run.dropped:,} dropped; {run.rounds} round."
    )
    if score is not None:
        console.say(f"Truths, by {run.result.provenance.method}: {console.score_words(score)}")
    same = "the same integers as" if run.identical_to_plain else "NOT the integers of"
    console.say(f"Sums: {same} the plain suite with the same noise.")
    console.say(
        f"Guarantee: {run.guarantee}; {run.guarantee_worker} with up to "
        f"{run.guarantee_worker.answers:,} answers. It holds if"
    )
    for assumption in run.guarantee.assumptions:
        console.say(f"  - {assumption}")
    for party, seconds in run.cpu_seconds.items():
        each = f", {1000 * seconds / run.workers:.2f} ms each" if party == "workers" else ""
        console.say(f"CPU of {party}: {seconds:.2f} s{each}")
