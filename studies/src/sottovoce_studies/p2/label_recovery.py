"""Study `label-recovery`: recovery of labels from the totals of P2's protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sottovoce.figures import Chart, Series
from sottovoce.securesum.em.terms import Mode
from sottovoce_studies.cells import Cell
from sottovoce_studies.p2.crowds import GoldTasks
from sottovoce_studies.p2.em_trials import NOISES, Setting, attacked, attacked_real
from sottovoce_studies.p2.real_transcripts import MODELS, ROWS
from sottovoce_studies.rulings import Ruling, Rulings, Statement
from sottovoce_studies.study import Outcome, Row, Size, Study, Value, Work

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

DATA: Mapping[tuple[str, str], str] = {
    ("duchenne", "first"): "Duchenne, first answers",
    ("duchenne", "keep"): "Duchenne, repeats kept",
    ("bluebirds", "first"): "bluebirds",
}
"""Names of the real answers."""

CLAIMS: Mapping[str, str] = {
    "P2-5-1": "in P2's model, by renaming",
    "P2-5-6": "in P2's model a swap of two workers is another solution",
    "P2-5-7": "in P2's model a worker sees the same totals and does not know who takes part",
}
"""P2's claims on its theorem, and why they are true in its model."""

Runs: TypeAlias = Sequence[Mapping[str, int]]
Found: TypeAlias = Mapping[Setting, Runs]
Real: TypeAlias = Mapping[str, Any]
"""An attack on real answers: the result of `attacked_real`, with `data` and `known`."""


def settings(size: Size) -> Iterator[Setting]:
    """Every crowd in every mode, at every scale; with secret assignments as in P2's timing."""
    for workers, share in CROWDS[size]:
        yield Setting(workers, share, str(Mode.AS_PUBLISHED), PAPER_SCALE, known=False)
        for mode, scales in SCALES[size].items():
            yield from (Setting(workers, share, str(mode), scale) for scale in scales)
        yield from (Setting(workers, share, str(Mode.NOISED), None, noise) for noise in NOISES)


def plan(size: Size, seed: int) -> Work:
    """One attack per setting and trial."""
    chosen, trials = list(settings(size)), TRIALS[size]
    cells = [Cell(attacked, (each, trial, seed)) for each in chosen for trial in range(trials)]
    real = dict(_real_cells()) if size == "full" else {}

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        found = {each: [next(rest) for _ in range(trials)] for each in chosen}
        return judge(found, [{**next(rest), "data": data, "known": known} for data, known in real])

    return Work([*cells, *real.values()], judged)


def _real_cells() -> Iterator[tuple[tuple[str, bool], Cell]]:
    """The attack on every dataset in the cache, in both models."""
    for name, repeats in ROWS:
        if (source := GoldTasks.of(name)) is None:
            continue
        for model, known in MODELS.items():
            cell = Cell(attacked_real, (name, repeats, model, PAPER_SCALE, source.sha256))
            yield (DATA[name, repeats], known), cell


def judge(found: Found, real: Sequence[Real] = ()) -> Outcome:
    """Judge Theorem 1 in P2's model, and the guarantee also for a server that knows assignments.

    P2's claims are about labels with their worker's name, with secret assignments. Columns of
    labels without names, and known assignments, are not covered by them. With known assignments
    the guarantee is false if labels are certain on real answers, or if all labels come out in half
    of the runs on drawn crowds at P2's scale.
    """
    papers = {
        each: runs
        for each, runs in found.items()
        if each.mode == Mode.AS_PUBLISHED and each.scale == PAPER_SCALE
    }
    secret = {each: runs for each, runs in papers.items() if not each.known}
    known = {each: runs for each, runs in papers.items() if each.known and each.share < 1}
    named, columns, assigned = statements(secret, known, real)
    outside = (
        f"not covered: columns of labels without names ({columns.seen}), and a server that knows "
        f"the assignments ({assigned.seen})"
    )
    return Outcome(
        (*_rows(found), *map(_real_row, real)),
        Rulings(guarantee=_guarantee(named, columns, assigned)),
        f"{_words(found, secret, known)}{''.join(map(_real_words, real))}",
        tuple(_charts(found)),
        claims={
            claim: Ruling("holds" if named.true else "fails", f"{why}: {named.seen}; {outside}")
            for claim, why in CLAIMS.items()
        },
    )


def statements(secret: Found, known: Found, real: Sequence[Real] = ()) -> list[Statement]:
    """Theorem 1 in P2's model, and two statements that go beyond it."""
    runs = [run for own in secret.values() for run in own]
    names = sum(run["named"] for run in (*runs, *(run for run in real if not run["known"])))
    sure = [run for run in real if run["known"] and run["certain"]]
    certain = [f"{run['data']} {run['certain']:,} of {run['answers']:,}" for run in sure]
    columns = [
        f"{run['data']} {run['exact']} of {run['workers']}" for run in real if not run["known"]
    ]
    return [
        Statement(
            "with secret assignments no label is found under its worker's name",
            not names,
            f"{names} names found",
        ),
        Statement(
            "with secret assignments columns of labels are not recovered",
            not _often(secret, "exact"),
            f"all recovered in {_whole(secret, 'exact')} of {_count(secret)} runs on drawn crowds"
            f"{_also('columns recovered', columns)}",
        ),
        Statement(
            "with known assignments no label is certain",
            not _often(known, "named") and not sure,
            f"all labels with names in {_whole(known, 'named')} of {_count(known)} runs on drawn "
            f"crowds{_also('labels certain', certain)}",
        ),
    ]


def _also(what: str, counts: Sequence[str]) -> str:
    return f"; {what}: {'; '.join(counts)}" if counts else ""


def _guarantee(named: Statement, columns: Statement, assigned: Statement) -> Ruling:
    """Theorem 1 in P2's model, and for a server that P2 excludes."""
    if not named.true:
        return Ruling("fails", f"with secret assignments {named.seen}")
    without = f"columns of labels without names: {columns.seen}"
    if assigned.true:
        return Ruling("holds", f"in P2's model, by renaming; not covered: {without}")
    return Ruling(
        "partly",
        "true in P2's model, by renaming; false for a server that knows the assignments, which P2 "
        f"excludes; with them {assigned.seen}; {without}",
    )


def _often(found: Found, what: str) -> bool:
    """Whether this count includes all workers in at least half of the runs."""
    runs = sum(map(len, found.values()))
    return bool(runs) and 2 * _whole(found, what) >= runs


def _whole(found: Found, what: str) -> int:
    """The number of runs in which this count includes all workers."""
    return sum(run[what] == each.workers for each, runs in found.items() for run in runs)


def _words(found: Found, secret: Found, known: Found) -> str:
    odds = {each: runs for each, runs in found.items() if each.mode == Mode.LOG_ODDS}
    noised = [run for each, runs in found.items() if each.mode == Mode.NOISED for run in runs]
    better = sum(run["right"] > run["guessed"] for run in noised)
    names = sum(run["named"] for runs in secret.values() for run in runs)
    renamed = f"and under {names} workers' names. "
    if not names:
        renamed = (
            "and under no worker's name: the theorem's proof is this renaming, so it is true in "
            "P2's model. "
        )
    return (
        f"On drawn crowds that meet the theorem's condition ({_crowds(found)}), in P2's own model, "
        "in which a worker's assignments are secret, every label of every worker was recovered up "
        f"to a renaming of the workers in {_whole(secret, 'exact')} of {_count(secret)} runs at L "
        f"= 10^10, {renamed}If the server knows the assignments (P2 excludes this; one that "
        "assigns and pays for tasks knows them), every label of these crowds was recovered under "
        f"its worker's name in {_whole(known, 'named')} of {_count(known)} runs in which tasks "
        "differ between workers. "
        f"On the same crowds log-odds gave all labels in {_whole(odds, 'exact')} of "
        f"{_count(odds)} runs; with noise the labels of {sum(run['exact'] for run in noised)} "
        f"workers were recovered, and {better} of {len(noised)} runs did better than guessing the "
        "inferred truths."
    )


def _crowds(found: Found) -> str:
    """The drawn crowds in words."""
    *few, most = map(str, sorted({each.workers for each in found}))
    sizes = f"{', '.join(few)} or {most}" if few else most
    shares = list(dict.fromkeys(each.answered for each in found))
    tasks = sorted({run["tasks"] for runs in found.values() for run in runs})
    count = f"{tasks[0]} to {tasks[-1]}" if len(tasks) > 1 else str(tasks[0])
    return f"{sizes} workers, {count} tasks, of which each answers {' or '.join(shares)}"


def _real_row(run: Real) -> Row:
    counted = [each for each in run["candidates"] if each is not None]
    return {
        "part": f"Real answers, as published at L = {_power(PAPER_SCALE)}",
        "data": run["data"],
        "assignments": "known" if run["known"] else "secret",
        "workers": run["workers"],
        "tasks": run["tasks"],
        "against the condition": run["against"],
        "found": run["exact"],
        "with names": run["named"],
        "candidates counted": len(counted),
        "most candidates": max(counted, default=None),
        "labels": run["answers"],
        "certain": run["certain"],
        "certain and right": run["certain_right"],
        "labels right": run["right"] / run["answers"],
        "by guessing": run["guessed"] / run["answers"],
    }


def _real_words(run: Real) -> str:
    """A sentence on real answers in one model of the server."""
    server = "knows" if run["known"] else "does not know"
    names = f"{run['named']} with names" if run["named"] else "none with a name"
    certain = f"{run['certain']:,} labels are certain"
    if not run["known"]:
        certain = f"{run['certain']:,} labels of unanimous tasks are known, without names"
    return (
        f" On {run['data']} ({run['workers']} workers, {run['answers']:,} labels of "
        f"{run['tasks']} tasks), if the server {server} the assignments, {run['exact']} of "
        f"{run['workers']} columns are recovered{f', {names}' if run['exact'] else ''}, and "
        f"{certain}."
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
        "assignments": "known" if setting.known else "secret",
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
    for scale in sorted({each.scale for each in own if each.scale and each.known}):
        here = [each for each in own if each.scale == scale and each.known]
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
        own = {each: runs for each, runs in found.items() if each.mode == mode and each.known}
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
        note="P2 Theorem 1: no participant can determine another's labels uniquely. Here a server "
        "that knows the assignments computes them from the totals of drawn crowds, without a key; "
        "the smallest share is "
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
    "drawn crowds on 159 tasks, as in P2, without those against the theorem's condition, 40 % of "
    "the workers good; workers answer all tasks, or a random 70 % each. The server attacks with "
    "the sums that Protocol 1 opens, counts of the first round and all totals, without a key; it "
    "knows which tasks a worker had, or, as P2 has it, does not. Likewise on the tasks with gold "
    "of Duchenne, and on bluebirds. Sottovoce's other modes are shown for comparison; labels are "
    "counted, so ties do not matter",
    plan,
    "one run of two drawn crowds at two scales, instead of five runs of six at up to seven, and no "
    "real answers",
    recorded=("not claimed", "not claimed", "partly"),
    items=("P2 Theorem 1",),
)
