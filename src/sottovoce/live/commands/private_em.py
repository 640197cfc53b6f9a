"""The worker-private EM on the command line: run it and print the outcome."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.api.simulate_private_em import PrivateRun, check_table, simulate_private_em
from sottovoce.cli import console
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import new_file
from sottovoce.live.commands.processes import run_live_processes
from sottovoce.planning.weighted_rounds import weighted_rounds_that_pay

if TYPE_CHECKING:
    from sottovoce.model import Reports, Score


NO_GUARANTEE = {
    "as_published": "the sums are exact; from such totals a server that knows who had which tasks "
    "recovered every answer to Duchenne's gold tasks, without a key",
    "log_odds": "the sums are exact; from such totals a server that knows who had which tasks "
    "recovered one answer per worker and task to Duchenne's gold tasks, all of them, without a key",
}


def run(
    table: Reports,
    *,
    suite: str,
    mode: str,
    epsilon: float,
    delta: float | None,
    weighted_rounds: int | None,
    processes: bool,
    **given: Any,
) -> PrivateRun:
    """Run all parties in this process, or in separate processes."""
    check_table(table)
    if mode != "noised" and (delta is not None or weighted_rounds is not None):
        raise UsageError(f"--mode {mode} has no noise: drop --delta and --weighted-rounds")
    if mode == "noised" and (given["scale"] is not None or given["rounds"] is not None):
        raise UsageError("--mode noised does not use --sum-scale and --rounds: drop them")
    given |= {"epsilon": epsilon, "delta": delta or 0.0, "weighted_rounds": weighted_rounds or 0}
    if mode == "noised" and weighted_rounds is None:
        given["weighted_rounds"] = _weighted_rounds(table, epsilon, delta or 0.0)
    if not processes:
        return simulate_private_em(table, suite=suite, mode=mode, **given)  # type: ignore[arg-type]
    if suite not in ("masked", "damgard_jurik"):
        raise UsageError(
            f"the EM with --suite {suite} cannot use separate processes: drop "
            "--separate-processes, or use --suite masked or damgard_jurik"
        )
    return run_live_processes(table, suite=suite, mode=mode, **given)


def _weighted_rounds(table: Reports, epsilon: float, delta: float) -> int:
    """The best number of rounds, from a simulation of sessions of this size."""
    workers, tasks = len(table.workers), len(table.tasks)
    each = min(len(table) / tasks, workers)
    found = weighted_rounds_that_pay(workers, tasks, each, epsilon, delta, labels=table.domain.size)
    console.note(f"note: {found.reason}")
    return found.rounds


def show(
    run: PrivateRun, score: Score | None, transcript: Path | None, *, json: bool, force: bool
) -> None:
    """Write the transcript if requested, and print the outcome."""
    if transcript is not None:
        with new_file(transcript, force=force) as temporary:
            temporary.write_text(run.transcript.text(), encoding="utf-8")
    if json:
        console.print_json(_as_json(run, score, transcript))
    else:
        _print(run, score)
    if transcript is not None:
        console.note(f"wrote {transcript}")
    mode = str(run.terms.mode)
    if mode in NO_GUARANTEE:
        console.note(f"warning: {_warning(mode, transcript)}")


def _warning(mode: str, transcript: Path | None) -> str:
    words = f"{mode} opens exact totals; to see which labels they give away"
    if transcript is not None:
        return f"{words}, run sottovoce sealed attack {transcript}"
    return f"{words}, add --transcript FILE and run sottovoce sealed attack FILE"


def _as_json(run: PrivateRun, score: Score | None, transcript: Path | None) -> dict[str, Any]:
    return {
        "suite": run.suite,
        "mode": str(run.terms.mode),
        "scale": run.terms.scale,
        "workers": run.workers,
        "excluded": dict(run.excluded),
        **({} if score is None else score.as_dict()),
        "identical_to_plain": run.identical_to_plain,
        "rounds": run.rounds,
        "converged": run.result.converged,
        "cpu_seconds": {party: round(seconds, 4) for party, seconds in run.cpu_seconds.items()},
        **_guarantee(run),
        "method": run.result.provenance.method,
        "transcript": None if transcript is None else str(transcript),
    }


def _guarantee(run: PrivateRun) -> dict[str, Any]:
    held, worker = run.guarantee, run.guarantee_worker
    if held is None or worker is None:
        return {"guarantee": None, "no_guarantee": NO_GUARANTEE[str(run.terms.mode)]}
    return {"guarantee": console.guarantee_json(held, worker)}


def _print(run: PrivateRun, score: Score | None) -> None:
    console.say(f"{run.workers:,} workers, {len(run.terms.tasks):,} tasks: {_rounds(run)}.")
    for worker, reason in run.excluded.items():
        console.say(f"Excluded: {worker}: {reason}")
    if score is not None:
        console.say(f"Truths, by {run.result.provenance.method}: {console.score_words(score)}")
    if run.identical_to_plain is not None:
        same = "the same integers as" if run.identical_to_plain else "NOT the integers of"
        console.say(f"Sums: {same} the plain suite, in every round.")
    _print_guarantee(run)
    console.print_cpu(run.cpu_seconds, len(run.skills))


def _rounds(run: PrivateRun) -> str:
    words = f"{run.rounds} round{'' if run.rounds == 1 else 's'}"
    if run.terms.noise is not None:
        return f"{words} of noised sums"
    ended = "until Q converged" if run.result.converged else "the round limit"
    return f"{words} after the counts, {ended}"


def _print_guarantee(run: PrivateRun) -> None:
    held, worker = run.guarantee, run.guarantee_worker
    if held is None or worker is None:
        console.say(f"Guarantee: none, because {NO_GUARANTEE[str(run.terms.mode)]}.")
        return
    console.print_guarantee(held, worker)
