"""Study `p2-figure-4`: the time to generate a key and to compute one sealed sum (P2 §6.3).

P2's time for one sum per round is compared with that of all sums that its protocol opens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from sottovoce.figures import Chart, Series
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.p2.secure_sum_time import measured, session, threshold
from sottovoce_studies.paper_tables import curve, printed
from sottovoce_studies.rulings import Ruling, Rulings, Statement, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Value, Work

__all__ = [
    "EACH",
    "PUBLIC_ROUNDS",
    "STUDY",
    "TASKS",
    "Timing",
    "by_the_paper",
    "judge",
    "slope",
    "sums_opened",
]


FROM = 10
"""The smallest number of workers for judging growth; below it fixed costs dominate."""

TASKS = int(printed("P2 data").column("tasks")[0])
CROWD, ROUNDS = (int(printed("P2 time").column(name)[0]) for name in ("workers", "rounds"))
PRINTED = float(printed("P2 time").column("milliseconds")[0])
EACH, FIRST = 2 * TASKS, TASKS
"""Sums that Protocol 1 opens: log a and log b of every task per round, and labels before."""

WORKERS: Mapping[Size, tuple[int, ...]] = {
    "quick": (3, 10, 20, 40),
    "full": (*range(3, 10), *range(10, 101, 10)),
}

RUNS: Mapping[Size, int] = {"quick": 1, "full": 10}

SUMS: Mapping[Size, int] = {"quick": 3, "full": 1}

LINEAR = 1.3
"""The largest power of J that counts as almost linear."""

PRACTICAL = 600
"""Seconds of all sums that count as practical, by P2's own time of a sum: our choice."""

PUBLIC_ROUNDS: Mapping[str, int] = {"repeats kept": 20, "first answers": 63}
"""Rounds on the public answers to P2's images at L = 10^10."""

LIBRARIES = ("gmpy2", "cryptography")

ABSENT = "the extra secure is not installed: pip install 'sottovoce[secure]'"


@dataclass(frozen=True, slots=True)
class Timing:
    """CPU milliseconds of keys and of one sum, in runs with a given number of workers."""

    workers: int
    runs: Sequence[Mapping[str, Any]]

    @property
    def primes(self) -> Spread:
        """Two safe primes; the time of the search is random."""
        return Spread.of([1e3 * run["primes"] for run in self.runs])

    @property
    def dealing(self) -> Spread:
        """All shares of a key with given primes."""
        return Spread.of([1e3 * run["dealing"] for run in self.runs])

    @property
    def keys(self) -> Spread:
        """Primes and dealing: P2's keygen."""
        return Spread.of([1e3 * (run["primes"] + run["dealing"]) for run in self.runs])

    def one_sum(self, blinds: str = "blinds as published") -> Spread:
        """P2's one update, with its blinds or with ours."""
        return Spread.of(self._sums(blinds))

    @property
    def best(self) -> tuple[float, float]:
        """The fastest dealing and the fastest sum, because other load can only slow them down."""
        dealing = min(1e3 * run["dealing"] for run in self.runs)
        return dealing, min(self._sums("blinds as published"))

    def single_sums(self) -> float:
        """P2's measurement: a key and one sum per round."""
        return self.keys.mean + ROUNDS * self.one_sum().mean

    def one_by_one(self) -> float:
        """A key and all sums that P2's protocol opens, each in separate ciphertexts."""
        return self.keys.mean + sums_opened() * self.one_sum().mean

    def packed(self, rounds: int = ROUNDS) -> float:
        """A key and one sum per ciphertext, when many numbers share a ciphertext."""
        start, each = map(int, self.runs[0]["ciphertexts"])
        return self.keys.mean + (start + rounds * each) * self.one_sum("blinds").mean

    def _sums(self, blinds: str) -> list[float]:
        return [
            1e3 * (blind + rest)
            for run in self.runs
            for blind, rest in zip(run[blinds], run["rest"], strict=True)
        ]


def sums_opened(rounds: int = ROUNDS) -> int:
    """The count of numbers that P2's protocol opens in a given number of rounds.

    >>> sums_opened()
    4929
    """
    return FIRST + rounds * EACH


def by_the_paper(rounds: int = ROUNDS) -> float:
    """Milliseconds of all sums of some rounds, from P2's time of one (which includes keys).

    >>> round(by_the_paper())
    259364
    """
    return sums_opened(rounds) * PRINTED / ROUNDS


def slope(timings: Sequence[Timing], place: int) -> float:
    """The power of J at which the fastest dealing (0) or sum (1) grows from 10 workers on."""
    large = [each for each in timings if each.workers >= FROM]
    logs = np.log([(each.workers, each.best[place]) for each in large])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def plan(size: Size, seed: int) -> Work:
    """One cell per run; a full run also has a whole session."""
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
    """Numbers: whether all sums of the protocol take the printed time. Shape: linear growth.

    The printed time is compared by P2's time of a sum and by ours, so it fails on both machines.
    """
    paper_size = next(each for each in timings if each.workers == CROWD)
    said = statements(timings)
    longer = min(paper_size.one_by_one(), by_the_paper()) > PRINTED
    numbers = _printed_time() if longer else Ruling("holds")
    return Outcome(
        (*_whole_rows(paper_size, whole), *map(_row, timings)),
        Rulings(numbers, _growth_ruling(said)),
        _words(timings, paper_size, whole),
        (_growth(timings), _all_rounds(paper_size)),
        claims={
            "P2-6.3.1-1": _sums_claim(),
            "P2-6.3.2-1": _growth_ruling(said),
            "P2-6.3.2-2": _practical(paper_size),
            "P2-6.3.2-3": _printed_claim(numbers),
        },
    )


def statements(timings: Sequence[Timing]) -> list[Statement]:
    """P2's text on Figure 4: both times grow almost linearly with J."""
    names = ("key generation", "one sum")
    powers = [slope(timings, place) for place in range(len(names))]
    return [
        Statement(f"{name} grows almost linearly", power <= LINEAR, f"like J^{power:.2f}")
        for name, power in zip(names, powers, strict=True)
    ]


def _growth_ruling(said: Sequence[Statement]) -> Ruling:
    ruling = ruling_on(said)
    if ruling.verdict != "holds":
        return ruling
    return Ruling("holds", "; ".join(f"{each.text}, {each.seen}" for each in said))


def _printed_time() -> Ruling:
    return Ruling(
        "fails",
        f"{PRINTED} ms is keys and one sum per round; the protocol opens {EACH}: for all of them "
        f"and {CROWD} workers it would leave {_each():.0f} microseconds per encryption; at most "
        f"{by_the_paper() / 1e3:.0f} s by P2's own time of a sum",
    )


def _printed_claim(numbers: Ruling) -> Ruling:
    """The printed time together with P2's conclusion, that time is no practical problem."""
    if numbers.verdict == "holds" or _practical(None).verdict != "holds":
        return numbers
    return Ruling("partly", f"practical, but not the number: {numbers.reason}")


def _sums_claim() -> Ruling:
    return Ruling(
        "partly",
        f"true of the count of iterations; but each opens 2 sums a task, {EACH} with {TASKS} "
        "tasks, and P2 measured one",
    )


def _practical(timing: Timing | None) -> Ruling:
    """Whether all sums of P2's rounds take less than our limit, by P2's own time of a sum."""
    seconds = by_the_paper() / 1e3
    rounds = " and ".join(
        f"{count} rounds with {repeats} (at most {by_the_paper(count) / 1e3:,.0f} s)"
        for repeats, count in PUBLIC_ROUNDS.items()
    )
    packed = ""
    if timing is not None:
        packed = f", and {timing.packed() / 1e3:.0f} s here if many sums share a ciphertext"
    return Ruling(
        "holds" if seconds < PRACTICAL else "fails",
        f"at most {seconds:.0f} s by P2's own time of a sum with {ROUNDS} rounds (our limit: "
        f"{PRACTICAL} s){packed}; but the public answers to P2's images take {rounds}",
    )


def _words(timings: Sequence[Timing], paper_size: Timing, whole: Mapping[str, Any] | None) -> str:
    seconds = {
        "paper": by_the_paper() / 1e3,
        "ours": paper_size.one_by_one() / 1e3,
        "packed": paper_size.packed() / 1e3,
    }
    words = (
        f"From {FROM} workers on, dealing grows like J^{slope(timings, 0):.2f} and one sum like "
        f"J^{slope(timings, 1):.2f}. P2's {PRINTED} ms are keys and {ROUNDS} single sums, which "
        f"took {paper_size.single_sums():,.0f} ms here. Protocol 1 opens {FIRST} sums and then "
        f"{EACH} in each round, {sums_opened():,} in total: at most {seconds['paper']:,.0f} s with "
        f"P2's {PRINTED / ROUNDS:.2f} ms per sum (which includes keys; for all {EACH} "
        f"sums of {CROWD} workers they would leave {_each():.0f} microseconds per "
        "encryption), "
        f"{seconds['ours']:,.0f} s with ours, and {seconds['packed']:,.0f} s if many sums share a "
        "ciphertext."
    )
    if whole is None:
        return words
    return (
        f"{words} A whole session of {whole['rounds']} rounds, with proofs and signatures, took "
        f"{whole['seconds']:,.0f} s."
    )


def _each() -> float:
    """Microseconds per encryption if P2's time of a round were that of all its sums."""
    return 1e3 * PRINTED / ROUNDS / (EACH * CROWD)


def unchecked() -> Outcome:
    """The outcome without the libraries: P2's figures, multiplied."""
    words = (
        f"Nothing was measured: {ABSENT}. By P2's figures the {sums_opened():,} sums of its "
        f"protocol take at most {by_the_paper() / 1e3:,.0f} s, not {PRINTED} ms."
    )
    absent = Ruling("cannot be checked", ABSENT)
    return Outcome(
        tuple(_whole_rows(None, None)),
        Rulings(_printed_time(), absent),
        words,
        (_all_rounds(None),),
        claims={
            "P2-6.3.1-1": _sums_claim(),
            "P2-6.3.2-1": absent,
            "P2-6.3.2-2": _practical(None),
            "P2-6.3.2-3": _printed_claim(_printed_time()),
        },
    )


def _whole_rows(timing: Timing | None, whole: Mapping[str, Any] | None) -> Iterator[Row]:
    place = {"part": f"P2 §6.3.2: seconds of CPU, {CROWD} workers, {ROUNDS} rounds"}
    single, every = "keys, one sum per round", f"keys, all {sums_opened():,} sums"
    paper = {single: PRINTED / 1e3, f"{every}, separately": by_the_paper() / 1e3}
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
            curve(
                "one update, our blinds",
                workers,
                [each.one_sum("blinds") for each in timings],
                "ours",
            ),
            Series("P2: 789.3 ms / 15", (float(CROWD),), (PRINTED / ROUNDS,), role="reference"),
        ),
        note="P2 §6.3.2: both grow almost linearly with J. Here dealing of a key grows like "
        f"J^{dealing:.2f} and one update like J^{one:.2f} from {FROM} workers on; the search "
        "for primes, part of keygen, takes a random time",
        better="lower",
    )


def _all_rounds(timing: Timing | None) -> Chart:
    rounds = tuple(float(each) for each in range(1, ROUNDS + 1))
    once = PRINTED / ROUNDS / 1e3
    series = [
        Series(
            "P2: one sum per round", rounds, tuple(once * each for each in rounds), role="reference"
        ),
        Series(
            "P2's time, all sums", rounds, tuple(by_the_paper(int(each)) / 1e3 for each in rounds)
        ),
    ]
    if timing is not None:
        series.append(
            Series(
                "ours, packed",
                rounds,
                tuple(timing.packed(int(each)) / 1e3 for each in rounds),
                role="ours",
            )
        )
    return Chart(
        f"Time of the protocol with {CROWD} workers (P2 §6.3.2)",
        "rounds",
        "seconds of CPU",
        tuple(series),
        note=f"P2 §6.3.2: keys and {ROUNDS} rounds take {PRINTED} ms, so times are practical. "
        f"That is one sum per round; Protocol 1 opens {EACH}",
        better="lower",
        y_scale="log",
    )


STUDY = Study(
    "p2-figure-4",
    "The times of key generation and of one sum grow almost linearly with the number J of workers, "
    "and with 20 workers keys and 15 rounds take 789.3 ms, which is practical",
    "P2 §6.3, Figure 4",
    "keys of 1024 bits, opened by ceil(2 (J + 1) / 3) of J workers and the server, L = 10^10; "
    "damgard_jurik in place of P2's Java library: safe primes are searched for, secret exponents "
    "are used in constant time, everything runs in one process, and CPU time is counted; P2's "
    "machine differs from ours, and timings are not seeded: a run that is not cached measures "
    "again; no answers, and so no ties",
    plan,
    "3 to 40 workers in 4 sizes with one key and 3 sums each, instead of 17 sizes with 10 keys, "
    "and no whole session",
    recorded=("fails", "holds", "not claimed"),
    items=("P2 Figure 4",),
)
