"""Study `label-recovery`: what the totals of P2's protocol give away of the labels in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.api.private_em import private_terms
from sottovoce.api.recovering import recover_labels
from sottovoce.datasets import SeededRandomness
from sottovoce.figures import Chart, Series
from sottovoce.model import Reports
from sottovoce.securesum.em.contributing import contributor_of
from sottovoce.securesum.em.modes import planner_of
from sottovoce.securesum.em.rounds import run_rounds
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.em.transcript import Transcript
from sottovoce.studies.cells import Cell
from sottovoce.studies.sources import LabelCrowd
from sottovoce.studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["STUDY", "Setting", "attacked", "settings", "transcript_of"]

TASKS = 159
"""As many as in P2's experiments."""

SPARSE = 0.7
PAPER_SCALE = 10**10
"""L of P2's timing (section 6.3)."""

SCALES: Mapping[Size, Mapping[Mode, tuple[int, ...]]] = {
    "quick": {Mode.AS_PUBLISHED: (PAPER_SCALE,), Mode.LOG_ODDS: (10**3,)},
    "full": {
        Mode.AS_PUBLISHED: (1, 10, 10**2, 10**3, 10**6, PAPER_SCALE, 10**14),
        Mode.LOG_ODDS: (1, 10, 10**2, 10**3, 10**6, PAPER_SCALE),
    },
}
CROWDS: Mapping[Size, tuple[tuple[int, float], ...]] = {
    "quick": ((8, 1.0), (8, SPARSE), (20, 1.0)),
    "full": tuple((workers, share) for workers in (5, 8, 12, 20) for share in (1.0, SPARSE)),
}
TRIALS: Mapping[Size, int] = {"quick": 1, "full": 5}
NOISES: Mapping[str, Mapping[str, Any]] = {
    "counts, epsilon 1": {"epsilon": 1.0},
    "2 weighted rounds, epsilon 4": {"epsilon": 4.0, "delta": 1e-6, "weighted_rounds": 2},
}

PARTS: Mapping[Mode, str] = {
    Mode.AS_PUBLISHED: "As published: every log-likelihood is opened",
    Mode.LOG_ODDS: "Log-odds: differences of log-likelihoods are opened",
    Mode.NOISED: "Noised: nothing is opened without noise",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A crowd of so many workers that answer a share of the tasks, and what is opened of it."""

    workers: int
    share: float
    mode: str
    scale: int | None = None
    noise: str | None = None

    def terms(self, answers: Reports) -> EMTerms:
        """What the workers agree on: everything that is not named here is as usual."""
        noise = NOISES[self.noise] if self.noise else {}
        return private_terms(answers, self.mode, scale=self.scale, **noise)

    def draw(self, seed: int) -> Reports:
        """The answers: every worker's own random tasks, and 40 % of the workers good."""
        answered = round(self.share * TASKS)
        return LabelCrowd(self.workers, TASKS, answered, 2, "heterogeneous").draw(seed)[0]


def settings(size: Size) -> Iterator[Setting]:
    """Every crowd in every mode, at every scale."""
    for mode, scales in SCALES[size].items():
        for workers, share in CROWDS[size]:
            for scale in scales:
                yield Setting(workers, share, str(mode), scale)
    for workers, share in CROWDS[size]:
        for noise in NOISES:
            yield Setting(workers, share, str(Mode.NOISED), None, noise)


def plan(size: Size, seed: int) -> Work:
    """One attack for each setting and trial."""
    chosen, trials = list(settings(size)), TRIALS[size]
    cells = [Cell(attacked, (each, trial, seed)) for each in chosen for trial in range(trials)]
    return Work(cells, lambda results: judge(chosen, results, trials))


def attacked(setting: Setting, trial: int, seed: int) -> dict[str, int]:
    """One run of the product's private EM, attacked by its server, and scored."""
    place = [seed, trial, setting.workers, round(100 * setting.share)]
    answers = setting.draw(int(np.random.default_rng(place).integers(1 << 62)))
    transcript = transcript_of(answers, setting.terms(answers), trial)
    recovery = recover_labels(transcript)
    score = recovery.score(answers)
    return {
        "rounds": len(transcript.opened),
        "rank": recovery.found.rank,
        "needed": recovery.found.needed,
        "exact": score.exact,
        "named": score.owned,
        "claimed": recovery.columns,
        "answers": score.answers,
        "right": score.right,
        "guessed": score.guessed,
    }


def transcript_of(answers: Reports, terms: EMTerms, seed: int) -> Transcript:
    """What the server sees; its noise, if any, is from a seed. It hands out the tasks."""
    rows = [np.flatnonzero(answers.worker == worker) for worker in range(len(answers.workers))]
    label = answers.value.astype(np.int64)
    workers = [
        contributor_of(terms, answers.task[own], label[own], SeededRandomness(1000 * seed + number))
        for number, own in enumerate(rows)
    ]
    opened = run_rounds(planner_of(terms), workers)
    assigned = {
        str(name): [terms.tasks[task] for task in answers.task[own]]
        for name, own in zip(answers.workers, rows, strict=True)
    }
    return Transcript(terms, len(workers), opened, assigned)


def judge(chosen: Sequence[Setting], results: Sequence[Any], trials: int) -> Outcome:
    """Theorem 1 fails in substance if at the paper's scale all labels come out, with names."""
    runs = [results[place * trials : (place + 1) * trials] for place in range(len(chosen))]
    rows = tuple(_row(each, seen) for each, seen in zip(chosen, runs, strict=True))
    by = {mode: [(each, run) for each, seen in zip(chosen, runs, strict=True)
                 for run in seen if each.mode == mode] for mode in Mode}  # fmt: skip
    papers = [(each, run) for each, run in by[Mode.AS_PUBLISHED] if each.scale == PAPER_SCALE]
    all_found, named = _whole(papers, "exact"), _whole(papers, "named")
    verdict: Verdict = "fails" if all_found and named else "holds"
    noised = sum(run["exact"] for _, run in by[Mode.NOISED])
    better = sum(run["right"] > run["guessed"] for _, run in by[Mode.NOISED])
    sparse = sum(each.share < 1 for each, _ in papers)
    words = (
        "labels are not unique only in that workers can be renamed: as published at L = 10^10, "
        f"every label of every worker came out in {all_found} of {len(papers)} runs, and under "
        f"its worker's name in {named} of {sparse} in which tasks differ from worker to worker; "
        f"log-odds gave all labels in {_whole(by[Mode.LOG_ODDS], 'exact')} of "
        f"{len(by[Mode.LOG_ODDS])} runs; with noise {noised} workers' labels came out, and "
        f"{better} of {len(by[Mode.NOISED])} runs did better than guessing"
    )
    reason = "every label is computed from the totals" if verdict == "fails" else ""
    return Outcome(rows, verdict, reason, f"{words}.", tuple(_charts(rows)))


def _whole(runs: Sequence[tuple[Setting, Mapping[str, int]]], what: str) -> int:
    return sum(run[what] == each.workers for each, run in runs)


def _row(setting: Setting, seen: Sequence[Mapping[str, int]]) -> Row:
    def mean(what: str) -> float:
        return float(np.mean([run[what] for run in seen]))

    return {
        "part": PARTS[Mode(setting.mode)],
        "workers": setting.workers,
        "answered": "all" if setting.share == 1 else f"{setting.share:.0%}",
        "scale": setting.scale,
        "noise": setting.noise,
        "rounds": mean("rounds"),
        "rank": mean("rank"),
        "of": mean("needed"),
        "columns right": mean("exact"),
        "with names": mean("named"),
        "labels right": mean("right") / mean("answers"),
        "by guessing": mean("guessed") / mean("answers"),
        "trials": len(seen),
    }


def _charts(rows: Sequence[Row]) -> list[Chart]:
    """For both modes without noise: whose labels came out, by scale, where there are several."""
    found = []
    for mode in (Mode.AS_PUBLISHED, Mode.LOG_ODDS):
        own = [row for row in rows if row["part"] == PARTS[mode]]
        if len({row["scale"] for row in own}) > 1:
            found.append(_chart(mode, own))
    return found


def _chart(mode: Mode, rows: Sequence[Row]) -> Chart:
    crowds: dict[str, list[Row]] = {}
    for row in rows:
        crowds.setdefault(f"{row['workers']} workers, {row['answered']} tasks", []).append(row)
    return Chart(
        f"Workers whose labels are computed from the totals: {mode}",
        "scale L",
        "share of the workers",
        tuple(_series(name, own) for name, own in crowds.items()),
        better="lower",
        x_scale="log",
    )


def _series(name: str, rows: Sequence[Row]) -> Series:
    numbers = [[float(row[key] or 0) for key in ("scale", "columns right", "workers")]
               for row in rows]  # fmt: skip
    return Series(
        name,
        tuple(scale for scale, _, _ in numbers),
        tuple(right / workers for _, right, workers in numbers),
    )


STUDY = Study(
    "label-recovery",
    "After the worker-private EM no participant can determine another's labels uniquely",
    "P2 Theorem 1",
    "drawn crowds on 159 tasks, as many as P2 had; workers answer all of them or their own 70 %, "
    "and the server knows which",
    plan,
    "one trial of three crowds at one scale, instead of five trials of eight crowds",
    recorded="fails",
    items=("P2 Theorem 1",),
)
