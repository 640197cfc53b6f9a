"""Study `label-recovery`: recovery of labels from the totals of P2's protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sottovoce.figures import Chart, Series
from sottovoce.securesum.em.terms import Mode
from sottovoce_studies.cells import Cell
from sottovoce_studies.p2.em_trials import NOISES, Setting, attacked
from sottovoce_studies.study import Outcome, Row, Size, Study, Value, Verdict, Work

__all__ = ["PAPER_SCALE", "STUDY", "judge", "settings"]

SPARSE = 0.7
PAPER_SCALE = 10**10
"""L of P2's timing (section 6.3)."""
SMALL_SCALE = 10**3
"""The default L of log-odds."""

SCALES: Mapping[Size, Mapping[Mode, tuple[int, ...]]] = {
    "quick": {Mode.AS_PUBLISHED: (1, PAPER_SCALE), Mode.LOG_ODDS: (1, SMALL_SCALE)},
    "full": {
        Mode.AS_PUBLISHED: (1, 10, 10**2, SMALL_SCALE, 10**6, PAPER_SCALE, 10**14),
        Mode.LOG_ODDS: (1, 10, 10**2, SMALL_SCALE, 10**6, PAPER_SCALE),
    },
}
CROWDS: Mapping[Size, tuple[tuple[int, float], ...]] = {
    "quick": ((8, 1.0), (5, SPARSE)),
    "full": tuple((workers, share) for workers in (5, 8, 20) for share in (1.0, SPARSE)),
}
TRIALS: Mapping[Size, int] = {"quick": 1, "full": 5}

NAMES: Mapping[str, str] = {
    Mode.AS_PUBLISHED: "as published",
    Mode.LOG_ODDS: "log-odds",
    Mode.NOISED: "noised",
}
SHOWN = {Mode.AS_PUBLISHED: PAPER_SCALE, Mode.LOG_ODDS: SMALL_SCALE, Mode.NOISED: None}
"""The scale at which each crowd has a row."""

Runs: TypeAlias = Sequence[Mapping[str, int]]
Found: TypeAlias = Mapping[Setting, Runs]


def settings(size: Size) -> Iterator[Setting]:
    """Every crowd in every mode, at every scale."""
    for workers, share in CROWDS[size]:
        for mode, scales in SCALES[size].items():
            yield from (Setting(workers, share, str(mode), scale) for scale in scales)
        yield from (Setting(workers, share, str(Mode.NOISED), None, noise) for noise in NOISES)


def plan(size: Size, seed: int) -> Work:
    """One attack per setting and trial."""
    chosen, trials = list(settings(size)), TRIALS[size]
    cells = [Cell(attacked, (each, trial, seed)) for each in chosen for trial in range(trials)]

    def judged(results: Sequence[Any]) -> Outcome:
        places = range(0, len(results), trials)
        runs = [results[place : place + trials] for place in places]
        return judge(dict(zip(chosen, runs, strict=True)))

    return Work(cells, judged)


def judge(found: Found) -> Outcome:
    """Fails if at P2's scale all labels are recovered in half of the runs, with names.

    Names are required where tasks differ between workers. If labels are recovered without names,
    the theorem's proof is right: workers can be renamed.
    """
    papers = {
        each: runs
        for each, runs in found.items()
        if each.mode == Mode.AS_PUBLISHED and each.scale == PAPER_SCALE
    }
    sparse = {each: runs for each, runs in papers.items() if each.share < 1}
    out, named = _often(papers, "exact"), _often(sparse, "named")
    verdict: Verdict = "holds" if not out else "fails" if named else "holds in shape"
    reason = {
        "fails": "all labels are recovered from the totals, with names where tasks differ",
        "holds in shape": "all labels are recovered from the totals, but no names",
    }
    return Outcome(
        tuple(_rows(found)),
        verdict,
        reason.get(verdict, ""),
        _words(found, papers, sparse),
        tuple(_charts(found)),
    )


def _often(found: Found, what: str) -> bool:
    """Whether this count includes all workers in at least half of the runs."""
    runs = sum(map(len, found.values()))
    return bool(runs) and 2 * _whole(found, what) >= runs


def _whole(found: Found, what: str) -> int:
    """The number of runs in which this count includes all workers."""
    return sum(run[what] == each.workers for each, runs in found.items() for run in runs)


def _words(found: Found, papers: Found, sparse: Found) -> str:
    odds = {each: runs for each, runs in found.items() if each.mode == Mode.LOG_ODDS}
    noised = [run for each, runs in found.items() if each.mode == Mode.NOISED for run in runs]
    better = sum(run["right"] > run["guessed"] for run in noised)
    return (
        "Labels are unique up to a renaming of workers. As published at L = 10^10, every label "
        f"of every worker was recovered in {_whole(papers, 'exact')} of {_count(papers)} runs, "
        f"and under its worker's name in {_whole(sparse, 'named')} of {_count(sparse)} in which "
        "tasks differ between workers and the server, which assigns them, knows them. Log-odds "
        f"gave all labels in {_whole(odds, 'exact')} of {_count(odds)} runs. With noise the "
        f"labels of {sum(run['exact'] for run in noised)} workers were recovered, and {better} of "
        f"{len(noised)} runs did better than guessing the inferred truths."
    )


def _count(found: Found) -> int:
    return sum(map(len, found.values()))


def _rows(found: Found) -> Iterator[Row]:
    """Rows of each mode: crowds at its default scale, then the workers found by scale."""
    for mode, scale in SHOWN.items():
        own = {each: runs for each, runs in found.items() if each.mode == mode}
        yield from (_row(each, runs) for each, runs in own.items() if each.scale == scale)
        yield from _by_scale(own) if scale else ()


def _row(setting: Setting, runs: Runs) -> Row:
    at = f" at L = {_power(setting.scale)}" if setting.scale else ""
    return {
        "part": f"{NAMES[setting.mode].capitalize()}{at}: workers whose labels are recovered",
        "workers": setting.workers,
        "tasks": setting.answered,
        "noise": setting.noise,
        "rank": _mean(runs, "rank"),
        "needed": _mean(runs, "needed"),
        "found": _mean(runs, "exact"),
        "with names": _mean(runs, "named"),
        "labels right": _mean(runs, "right") / _mean(runs, "answers"),
        "by guessing": _mean(runs, "guessed") / _mean(runs, "answers"),
        "runs": len(runs),
    }


def _by_scale(own: Found) -> Iterator[Row]:
    """The share of workers whose labels are recovered: one row per L, one column per crowd."""
    for scale in sorted({each.scale for each in own if each.scale}):
        here = [each for each in own if each.scale == scale]
        part = f"{NAMES[here[0].mode].capitalize()}: share of workers, by crowd"
        row: dict[str, Value] = {"part": part, "L": _power(scale)}
        yield row | {f"{each.workers}, {each.answered}": _share(each, own[each]) for each in here}


def _share(setting: Setting, runs: Runs) -> float:
    return _mean(runs, "exact") / setting.workers


def _mean(runs: Runs, what: str) -> float:
    return float(np.mean([run[what] for run in runs]))


def _power(scale: int) -> str:
    return str(scale) if scale < 100 else f"10^{len(str(scale)) - 1}"


def _charts(found: Found) -> Iterator[Chart]:
    """Charts of both modes without noise: recovered labels by scale and crowd."""
    for mode in (Mode.AS_PUBLISHED, Mode.LOG_ODDS):
        own = {each: runs for each, runs in found.items() if each.mode == mode}
        if own:
            yield _chart(own)


def _chart(own: Found) -> Chart:
    first, low = next(iter(own)), min(own, key=lambda each: _share(each, own[each]))
    crowds = dict.fromkeys((each.workers, each.answered) for each in own)
    return Chart(
        f"Workers whose labels are recovered from totals: {NAMES[first.mode]} (P2 Theorem 1)",
        "scale L",
        "share of workers",
        tuple(_series(*crowd, own) for crowd in crowds),
        note="P2 Theorem 1: nobody can determine another's labels uniquely. Here the server "
        "computes them from the totals, without a key; the smallest share is "
        f"{_share(low, own[low]):.2f}, of {low.workers} workers (tasks answered: "
        f"{low.answered}) at L = {_power(low.scale or 1)}",
        better="lower",
        x_scale="log",
    )


def _series(workers: int, answered: str, own: Found) -> Series:
    here = [each for each in own if (each.workers, each.answered) == (workers, answered)]
    return Series(
        f"{workers} workers, {answered}",
        tuple(float(each.scale or 1) for each in here),
        tuple(_share(each, own[each]) for each in here),
    )


STUDY = Study(
    "label-recovery",
    "After the worker-private EM no participant can determine another's labels uniquely, if at "
    "least 3 workers take part and no task has the same label from all of them, with no label "
    "counting as one",
    "P2 Theorem 1",
    "drawn crowds on 159 tasks, as in P2, 40 % of the workers good; workers answer all tasks, or "
    "a random 70 % each, and the server knows which; it attacks with the sums that Protocol 1 "
    "opens, counts of the first round and all totals, without a key; Sottovoce's other modes are "
    "shown for comparison; labels are counted, so ties do not matter",
    plan,
    "one run of two crowds at two scales, instead of five runs of six crowds at up to seven",
    recorded="fails",
    items=("P2 Theorem 1",),
)
