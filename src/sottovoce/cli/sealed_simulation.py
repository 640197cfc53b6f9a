"""`sottovoce sealed simulate`: a sealed campaign on one machine, with all its parties."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import sottovoce
from sottovoce.api.simulate_sealed import SealedRun, simulate_sealed
from sottovoce.cli import console, options
from sottovoce.cli.sealed_processes import run_processes
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target
from sottovoce.hooks import filled
from sottovoce.model import Result, Score

Suite = Literal["committee", "plain", "masked", "damgard_jurik"]
"""How sums are computed."""

Mode = Literal["noised", "as_published", "log_odds"]
"""The sums that are opened."""

WeightedRounds = Literal["auto", "0", "1", "2", "3"]
"""Number of noised rounds after the first; the planner decides about auto."""


def simulate(
    answers: options.AnswersArgument,
    suite: Annotated[
        Suite,
        typer.Option(
            help="Parties that compute sums: keyholders (committee), online workers (masked, "
            "damgard_jurik), or the same sums unprotected (plain)."
        ),
    ] = "committee",
    mode: Annotated[
        Mode,
        typer.Option(
            help="Sums to open: noised sums (noised), everything that the paper's EM opens "
            "(as_published), or half of it (log_odds). Only noised has a guarantee; the others "
            "leak labels."
        ),
    ] = "noised",
    epsilon: Annotated[
        float, typer.Option(metavar="EPSILON", help="Privacy loss per answer.")
    ] = 1.0,
    delta: Annotated[
        float | None,
        typer.Option(metavar="DELTA", help="Online workers: failure probability delta."),
    ] = None,
    weighted_rounds: Annotated[
        WeightedRounds,
        typer.Option(
            help="Online workers: number of noised rounds after the first; auto simulates."
        ),
    ] = "auto",
    sum_scale: Annotated[
        int | None,
        typer.Option(help="EM without noise: numbers are multiplied by this and rounded."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="EM without noise: round limit. Default: 100.")
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option(
            help="Online workers: how many must agree. Default: 2(J + 1)/3 for J workers."
        ),
    ] = None,
    bits: Annotated[
        int,
        typer.Option(help="damgard_jurik: key size, 1024 (to reproduce the paper), 2048 or 3072."),
    ] = 2048,
    transcript: Annotated[
        Path | None, options.file_option("EM: write the server's view to this file.")
    ] = None,
    assignments: Annotated[
        bool,
        typer.Option("--assignments", help="Include in the transcript who had which tasks."),
    ] = False,
    gold: options.GoldOption = None,
    separate_processes: Annotated[
        bool,
        typer.Option(
            "--separate-processes",
            help="Run a server, the keyholders and the workers in separate processes.",
        ),
    ] = False,
    hide_participation: options.HideOption = False,
    layout: Annotated[
        options.Layout | None,
        typer.Option(
            help="Keyholders: which sums to compute: votes for labels; sum or histogram (robust) "
            "for numbers."
        ),
    ] = None,
    keyholders: Annotated[int, typer.Option(help="Number of keyholders.")] = 3,
    colluding: Annotated[
        int, typer.Option(help="How many keyholders may collude without learning anything.")
    ] = 1,
    columns: options.ColumnsOption = None,
    gold_columns: options.GoldColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = "first",
    bad_rows: options.BadRowsOption = "error",
    format: options.FormatOption = None,
    force: options.ForceOption = False,
    json: options.JsonOption = False,
) -> None:
    """Seal, sum, open and infer ANSWERS on this machine, and print the outcome.

    Every worker of the table seals its answers. Keyholders deal noise, check, certify and open.
    Truths are inferred from the sums. Keys and noise are real, so every run differs. With a suite
    of online workers, or another mode than noised, the workers and a server compute the truths
    together in rounds (the worker-private EM).
    """
    private = mode != "noised" or suite in ("masked", "damgard_jurik")
    _refuse_others(
        private,
        keyholders={
            "--hide-participation": hide_participation,
            "--layout": layout is not None,
            "--keyholders": keyholders != 3,
            "--colluding": colluding != 1,
        },
        online={
            "--sum-scale": sum_scale is not None,
            "--rounds": rounds is not None,
            "--bits": bits != 2048,
            "--threshold": threshold is not None,
            "--transcript": transcript is not None,
            "--delta": delta is not None,
            "--assignments": assignments,
            "--weighted-rounds": weighted_rounds != "auto",
        },
    )
    if separate_processes and suite == "plain":
        raise UsageError("--suite plain has no parties: drop --separate-processes")
    if assignments and transcript is None:
        raise UsageError("--assignments needs --transcript FILE")
    if transcript is not None:
        check_target(transcript, force=force)
    table = console.read_table(answers, options.reading(columns, domain, repeats, bad_rows, format))
    console.notes_of(table.reading)
    if table.simulated:
        raise UsageError("these are randomised reports: sealing needs raw answers")
    known = gold or (answers if answers.startswith("dataset:") else None)
    mapping = options.pairs(gold_columns, "--gold-columns")

    def scored(result: Result) -> Score | None:
        return sottovoce.score(result, known, columns=mapping) if known else None

    if private:
        private_em = filled("sealed.simulate")
        run = private_em.run(
            table,
            suite=suite,
            mode=mode,
            epsilon=epsilon,
            delta=delta,
            weighted_rounds=None if weighted_rounds == "auto" else int(weighted_rounds),
            scale=sum_scale,
            rounds=rounds,
            threshold=threshold,
            bits=bits,
            assignments=assignments,
            processes=separate_processes,
        )
        private_em.show(run, scored(run.result), transcript, json=json, force=force)
        return
    how: dict[str, Any] = {
        "epsilon": epsilon,
        "hide_participation": hide_participation,
        "layout": layout,
        "keyholders": keyholders,
        "colluding": colluding,
    }
    if separate_processes:
        summed = run_processes(table, **how)
    else:
        summed = simulate_sealed(table, suite=suite, **how)  # type: ignore[arg-type]
    score = scored(summed.result)
    if json:
        console.print_json(_as_json(summed, score, mode))
    else:
        _print(summed, score, table_tasks=len(table.tasks))


def _refuse_others(
    private: bool, *, keyholders: Mapping[str, bool], online: Mapping[str, bool]
) -> None:
    """Raise a usage error for options that would have no effect."""
    named = [option for option, given in (keyholders if private else online).items() if given]
    if named and private:
        raise UsageError(f"{named[0]} has no effect on the EM of online workers: drop it")
    if named:
        raise UsageError(
            f"{named[0]} has no effect with keyholders: drop it, or use --suite masked"
        )


def _as_json(run: SealedRun, score: Score | None, mode: Mode) -> dict[str, Any]:
    return {
        "suite": run.suite,
        "mode": mode,
        "workers": run.workers,
        "dropped": run.dropped,
        **({} if score is None else score.as_dict()),
        "identical_to_plain": run.identical_to_plain,
        "rounds": run.rounds,
        "cpu_seconds": {party: round(seconds, 4) for party, seconds in run.cpu_seconds.items()},
        "guarantee": console.guarantee_json(run.guarantee, run.guarantee_worker),
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
    console.print_guarantee(run.guarantee, run.guarantee_worker)
    console.print_cpu(run.cpu_seconds, run.workers)
