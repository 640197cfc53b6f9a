"""Study `p2-figure-4`: what one sealed sum costs, and all the sums that the protocol opens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from sottovoce.figures import Chart, Series
from sottovoce.planning.trials import Spread
from sottovoce.studies.cells import Cell
from sottovoce.studies.comparing import curve
from sottovoce.studies.p2.sealed_times import (
    CROWD,
    EACH,
    FIRST,
    FROM,
    PRINTED,
    ROUNDS,
    TASKS,
    Timing,
    by_the_paper,
    slope,
    sums_opened,
)
from sottovoce.studies.p2.sealed_timing import measured, session, threshold
from sottovoce.studies.study import Outcome, Row, Size, Study, Value, Verdict, Work

__all__ = ["LINEAR", "STUDY", "judge", "unchecked"]

WORKERS: Mapping[Size, tuple[int, ...]] = {
    "quick": (3, 10, 20),
    "full": (*range(3, 10), *range(10, 101, 10)),
}
RUNS: Mapping[Size, int] = {"quick": 1, "full": 10}
SUMS: Mapping[Size, int] = {"quick": 3, "full": 1}

LINEAR = 1.3
"""Almost linear: time grows at most like J to this power."""

LIBRARIES = ("gmpy2", "cryptography")
ABSENT = "the extra secure is not installed: pip install 'sottovoce[secure]'"


def plan(size: Size, seed: int) -> Work:
    """A cell for each run; a full run has a whole session too."""
    if any(find_spec(library) is None for library in LIBRARIES):
        return Work([], lambda results: unchecked())
    workers, runs = WORKERS[size], RUNS[size]
    cells = [
        Cell(measured, (each, TASKS, SUMS[size], run)) for each in workers for run in range(runs)
    ]
    cells += [Cell(session, (ROUNDS, seed))] if size == "full" else []

    def judged(results: Sequence[Any]) -> Outcome:
        timings = [
            Timing(each, results[place * runs : (place + 1) * runs])
            for place, each in enumerate(workers)
        ]
        return judge(timings, *results[len(workers) * runs :])

    return Work(cells, judged)


def judge(timings: Sequence[Timing], whole: Mapping[str, Any] | None = None) -> Outcome:
    """Fails, if times do not grow almost linearly, or if P2's time is not that of its protocol.

    The second: all sums that Protocol 1 opens take longer than what P2 prints, by P2's own time of
    a sum and by ours.
    """
    paper_size = next(each for each in timings if each.workers == CROWD)
    power = max(slope(timings, 0), slope(timings, 1))
    longer = min(paper_size.one_by_one(), by_the_paper()) > PRINTED
    verdict: Verdict = "fails" if longer or power > LINEAR else "holds"
    reasons = [f"time grows like J^{power:.2f}"] if power > LINEAR else []
    reasons += [f"{PRINTED} ms is one sum a round, the protocol opens {EACH}"] if longer else []
    return Outcome(
        (*_whole_rows(paper_size, whole), *map(_row, timings)),
        verdict,
        "; ".join(reasons),
        _words(timings, paper_size, whole),
        (_growth(timings), _all_rounds(paper_size)),
    )


def _words(timings: Sequence[Timing], paper_size: Timing, whole: Mapping[str, Any] | None) -> str:
    seconds = {
        "paper": by_the_paper() / 1e3, "ours": paper_size.one_by_one() / 1e3,
        "packed": paper_size.packed() / 1e3,
    }  # fmt: skip
    words = (
        f"From {FROM} workers on, dealing grows like J^{slope(timings, 0):.2f} and one sum like "
        f"J^{slope(timings, 1):.2f}. P2's {PRINTED} ms are keys and {ROUNDS} single sums, which "
        f"took {paper_size.single_sums():,.0f} ms here. Protocol 1 opens {FIRST} sums and then "
        f"{EACH} in each round, {sums_opened():,} in all: {seconds['paper']:,.0f} s by P2's own "
        f"{PRINTED / ROUNDS:.2f} ms a sum (keys are in it, so it is an upper bound), "
        f"{seconds['ours']:,.0f} s by ours, and {seconds['packed']:,.0f} s where many sums share a "
        "ciphertext."
    )
    if whole is None:
        return words
    return (
        f"{words} A whole session of {whole['rounds']} rounds, with proofs and signatures, took "
        f"{whole['seconds']:,.0f} s."
    )


def unchecked() -> Outcome:
    """What can be said without the libraries: P2's own figures, multiplied."""
    words = (
        f"Nothing was measured: {ABSENT}. By P2's own figures the {sums_opened():,} sums of its "
        f"protocol take {by_the_paper() / 1e3:,.0f} s, not {PRINTED} ms."
    )
    return Outcome(
        tuple(_whole_rows(None, None)), "cannot be checked", ABSENT, words, (_all_rounds(None),)
    )


def _whole_rows(timing: Timing | None, whole: Mapping[str, Any] | None) -> Iterator[Row]:
    place = {"part": f"P2 §6.3.2: seconds of CPU, {CROWD} workers, {ROUNDS} rounds"}
    single, every = "keys, one sum a round", f"keys, all {sums_opened():,} sums"
    paper = {single: PRINTED / 1e3, f"{every}, one by one": by_the_paper() / 1e3}
    if timing is None:
        for what, value in paper.items():
            yield {**place, "what": what, "paper": value}
        return
    ours = zip(paper.items(), (timing.single_sums(), timing.one_by_one()), strict=True)
    for (what, value), milliseconds in ours:
        seconds = milliseconds / 1e3
        compared = {"ours": seconds, "paper": value, "difference": seconds - value}
        yield {**place, "what": what, **compared}
    yield {**place, "what": f"{every}, packed", "ours": timing.packed() / 1e3}
    if whole is not None:
        yield {**place, "what": "a whole session", "ours": whole["seconds"]}


def _row(timing: Timing) -> Row:
    def with_error(name: str, seen: Spread) -> dict[str, Value]:
        known = seen.trials > 1
        return {name: seen.mean, f"s.e. {name}": seen.standard_error if known else None}

    return {
        "part": "P2 Figure 4: ms of CPU",
        "workers": timing.workers,
        "opened by": threshold(timing.workers),
        **with_error("primes", timing.primes),
        **with_error("dealing", timing.dealing),
        **with_error("one sum", timing.one_sum()),
        "our blinds": timing.one_sum("blinds").mean,
        "runs": len(timing.runs),
    }


def _growth(timings: Sequence[Timing]) -> Chart:
    workers = [each.workers for each in timings]
    dealing, one = slope(timings, 0), slope(timings, 1)
    return Chart(
        "Time of a key and of one sealed sum (P2 Figure 4)",
        "workers J",
        "ms of CPU",
        (
            curve("keygen", workers, [each.keys for each in timings]),
            curve("one update", workers, [each.one_sum() for each in timings]),
            curve("one update, our blinds", workers, [each.one_sum("blinds") for each in timings],
                  "ours"),
            Series("P2: 789.3 ms / 15", (float(CROWD),), (PRINTED / ROUNDS,), role="reference"),
        ),
        note="P2 §6.3.2: both grow almost linearly with J. Here dealing of a key grows like "
        f"J^{dealing:.2f} and one update like J^{one:.2f} from {FROM} workers on; the search for "
        "primes, which is in keygen, is luck",
        better="lower",
    )  # fmt: skip


def _all_rounds(timing: Timing | None) -> Chart:
    rounds = tuple(float(each) for each in range(1, ROUNDS + 1))
    once = PRINTED / ROUNDS / 1e3
    series = [
        Series("P2: one sum a round", rounds, tuple(once * each for each in rounds),
               role="reference"),
        Series("P2's time, all sums", rounds,
               tuple(by_the_paper(int(each)) / 1e3 for each in rounds)),
    ]  # fmt: skip
    if timing is not None:
        series.append(
            Series("ours, packed", rounds,
                   tuple(timing.packed(int(each)) / 1e3 for each in rounds), role="ours")
        )  # fmt: skip
    return Chart(
        f"Time of the protocol with {CROWD} workers (P2 §6.3.2)", "rounds", "seconds of CPU",
        tuple(series),
        note=f"P2 §6.3.2: keys and {ROUNDS} rounds take {PRINTED} ms, so that times are practical. "
        f"That is one sum a round; Protocol 1 opens {EACH}",
        better="lower", y_scale="log",
    )  # fmt: skip


STUDY = Study(
    "p2-figure-4",
    "The times of key generation and of one sum grow almost linearly with the number J of workers, "
    "and with 20 workers keys and 15 rounds take 789.3 ms, which is practical",
    "P2 §6.3, Figure 4",
    "keys of 1024 bits, opened by ceil(2 (J + 1) / 3) of J workers and the server, L = 10^10; "
    "damgard_jurik in place of P2's Java library: safe primes are searched for, secret exponents "
    "are used in constant time, everything runs in one process, and CPU time is counted; P2's "
    "machine is not ours, and timings are not seeded: a run that is not kept measures anew; no "
    "answers, and so no ties",
    plan,
    "3, 10 and 20 workers with one key and 3 sums each, instead of 17 sizes with 10 keys, and no "
    "whole session",
    recorded="fails",
    items=("P2 Figure 4",),
)
