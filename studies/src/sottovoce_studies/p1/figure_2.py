"""Study `p1-figure-2`: the effect of two layers of noise on the weights of workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.figures import Chart, Series
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.crowds import Dataset
from sottovoce_studies.p1.crowds import PeerGrades
from sottovoce_studies.p1.layers import FLIPS, PICKED, weights_at
from sottovoce_studies.paper_tables import BAND, curve
from sottovoce_studies.rulings import Rulings, Statement, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["STUDY", "changes_when", "judge", "spared", "statements"]

JUDGED = 1.0
EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (JUDGED,), "full": (JUDGED, 0.5, 0.1)}
"""P1 names none. At 1 the largest flip probability is .54, just above its .46."""
TRIALS: Mapping[Size, int] = {"quick": 12, "full": 100}
LARGE, SMALL = FLIPS
BINS = 8


def plan(size: Size, seed: int) -> Work:
    """Weights in every trial on Duchenne, or on the stand-in if it is not in the cache."""
    source = Dataset.of("duchenne")
    data = "Duchenne" if source else "a stand-in for the peer grades"
    cells = [
        Cell(weights_at, (source or PeerGrades(), epsilon, trial, seed))
        for epsilon in EPSILONS[size]
        for trial in range(TRIALS[size])
    ]
    trials = TRIALS[size]

    def judged(results: Sequence[Any]) -> Outcome:
        parts = [results[start : start + trials] for start in range(0, len(results), trials)]
        return judge(dict(zip(EPSILONS[size], parts, strict=True)), data)

    return Work(cells, judged)


def judge(found: Mapping[float, Sequence[Mapping[str, Any]]], data: str) -> Outcome:
    """Shape holds if weights fall at .46 by two standard errors, and do not fall at .01.

    Judged at epsilon 1, over all picked workers of all trials; standard errors are over trials.
    """
    falls, stays = statements(found[JUDGED])
    rulings = Rulings(shape=ruling_on([falls, stays]))
    trials = found[JUDGED]
    rows = tuple(row for epsilon, seen in found.items() for row in _rows(epsilon, seen))
    charts = (_shown(trials, LARGE, "2a", data), _shown(trials, SMALL, "2b", data))
    words = " ".join(_words(found, data))
    claims = {
        "P1-7.2-9": falls.ruling,
        "P1-7.2-10": stays.ruling,
        "P1-7.2-12": spared(trials).ruling,
    }
    return Outcome(rows, rulings, words, (*charts, _by_flip(trials, data)), claims=claims)


def statements(trials: Sequence[Mapping[str, Any]]) -> tuple[Statement, Statement]:
    """P1 §7.2 (2): a weight is reduced at a big flip probability, and not at a small one."""
    large, small = changes_when(trials, LARGE), changes_when(trials, SMALL)
    return (
        Statement(
            f"weights fall at flip probability {LARGE:g}",
            large.mean < -BAND * large.standard_error,
            f"{large.mean:+.2f} ± {large.standard_error:.2f} on average over workers",
        ),
        Statement(
            f"weights do not fall at {SMALL:g}",
            small.mean >= -BAND * small.standard_error,
            f"{small.mean:+.2f} ± {small.standard_error:.2f} on average over workers",
        ),
    )


def spared(trials: Sequence[Mapping[str, Any]]) -> Statement:
    """P1 §7.2 (3): good workers who draw small flip probabilities keep high weights.

    Among the workers with a positive weight without noise, those in the lower half of the drawn
    probabilities have more weight afterwards than the others, by two standard errors over trials.
    """
    gaps, means = [], []
    for trial in trials:
        good = np.array(trial["before"]) > 0
        after, flips = np.array(trial["after"])[good], np.array(trial["flips"])[good]
        small = flips <= np.median(flips)
        means.append((after[small].mean(), after[~small].mean()))
        gaps.append(float(means[-1][0] - means[-1][1]))
    gap = Spread.of(gaps)
    low, high = np.mean(means, axis=0)
    return Statement(
        "good workers with small draws keep high weights",
        gap.mean > BAND * gap.standard_error,
        f"mean weight {low:.2f} for small draws, {high:.2f} for large ones",
    )


def changes_when(trials: Sequence[Mapping[str, Any]], flip: float) -> Spread:
    """The mean change of a picked worker's weight at this flip probability, by trial."""
    return Spread.of([float(np.mean(_changes(trial, flip))) for trial in trials])


def _changes(trial: Mapping[str, Any], flip: float) -> Any:
    before = np.array(trial["before"])[trial["picked"]]
    return np.array(trial["set"][FLIPS.index(flip)]) - before


def _rows(epsilon: float, trials: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    before = [np.array(trial["before"])[trial["picked"]] for trial in trials]
    trusted = np.concatenate(before) > 0
    for flip in FLIPS:
        change, each = (
            changes_when(trials, flip),
            np.concatenate([_changes(t, flip) for t in trials]),
        )
        yield {
            "part": "Weights of TD, one worker's flip probability set",
            "epsilon": epsilon,
            "flip": flip,
            "before": float(np.mean(before)),
            "change": change.mean,
            "s.e.": change.standard_error,
            "fell": float(np.mean(each < 0)),
            "fell, of weights > 0": float(np.mean(each[trusted] < 0)),
            "workers": len(each),
            "trials": change.trials,
        }


def _words(found: Mapping[float, Sequence[Mapping[str, Any]]], data: str) -> Iterator[str]:
    for epsilon, trials in found.items():
        large, small = changes_when(trials, LARGE), changes_when(trials, SMALL)
        fell = np.mean(np.concatenate([_changes(trial, LARGE) for trial in trials]) < 0)
        true = all(said.true for said in statements(trials))
        judged = "" if epsilon == JUDGED else f" (not judged; {'true' if true else 'false'} here)"
        yield (
            f"At epsilon {epsilon:g}{judged} a worker's weight on {data} changes by "
            f"{large.mean:+.2f} ± {large.standard_error:.2f} at flip probability {LARGE:g}, and "
            f"falls for {fell:.0%} of workers; by {small.mean:+.2f} ± {small.standard_error:.2f} "
            f"at {SMALL:g}."
        )
    before = np.concatenate([np.array(t["before"])[t["picked"]] for t in found[JUDGED]])
    change = np.concatenate([_changes(trial, LARGE) for trial in found[JUDGED]])
    mistrusted = before < 0
    if mistrusted.any():
        yield (
            f"Workers with weights below 0 ({mistrusted.mean():.0%}) change by "
            f"{change[mistrusted].mean():+.2f} at {LARGE:g}: noise moves all weights towards 0."
        )
    yield (
        "A raised weight is a privacy loss: a worker with a small flip probability sends almost "
        "its true answers."
    )


def _shown(trials: Sequence[Mapping[str, Any]], flip: float, figure: str, data: str) -> Chart:
    """The picked workers of the first trial; the second has this flip probability."""
    trial, place = trials[0], FLIPS.index(flip)
    before = np.array(trial["before"])[trial["picked"]]
    users = tuple(float(number) for number in range(1, PICKED + 1))
    after = tuple(trial["shown"][place])
    moved = "falls" if after[1] < before[1] else "rises"
    claim = "is reduced" if flip == LARGE else "keeps or is slightly higher"
    return Chart(
        f"Weights of {PICKED} workers of {data} (P1 Figure {figure})",
        "worker",
        "weight of TD",
        (
            Series("original answers", users, tuple(before.tolist()), role="reference"),
            Series("perturbed reports", users, after),
        ),
        note=f"P1 §7.2: the weight of the 2nd user, whose flip probability is {flip:g}, {claim}. "
        f"Here the weight of the 2nd worker {moved}, from {before[1]:.2f} to {after[1]:.2f}; "
        f"the workers are those of the first trial at epsilon {JUDGED:g}, not selected by us.",
        better="neither",
    )


def _by_flip(trials: Sequence[Mapping[str, Any]], data: str) -> Chart:
    """The mean change of weights by the flip probability that a worker drew."""
    flips = np.concatenate([trial["flips"] for trial in trials])
    change = np.concatenate([np.subtract(trial["after"], trial["before"]) for trial in trials])
    edges = np.linspace(0, flips.max(), BINS + 1)
    middles = ((edges[1:] + edges[:-1]) / 2).round(4).tolist()
    place = np.clip(np.digitize(flips, edges) - 1, 0, BINS - 1)
    seen = [Spread.of(change[place == number]) for number in range(BINS)]
    return Chart(
        f"Change of a weight by the worker's flip probability: {data}",
        "flip probability that the worker drew",
        "change of the weight of TD",
        (curve(f"two layers, epsilon {JUDGED:g}", middles, seen),),
        note="P1 §7.2: large flip probabilities reduce a weight, small ones keep or raise it. "
        "The curve is the mean over all workers and trials; bands are two standard errors.",
        better="neither",
    )


STUDY = Study(
    "p1-figure-2",
    "TD lowers the weight of a user who flips with a large probability (.46), and keeps or "
    "slightly raises that of one who flips with a small one (.01)",
    "P1 §7.2, Figure 2",
    "Duchenne (a stand-in for the peer grades if it is not in the cache), TD, two layers as "
    "published; P1 names no epsilon: judged at 1, where flip probabilities go up to .54; "
    f"{PICKED} workers are picked in each trial, and the flip probability of one at a time is "
    "set, the others' are drawn; ties go to label 0, in the rounds of TD too, as in study "
    "p1-table-3",
    plan,
    f"{TRIALS['quick']} trials at epsilon 1 instead of {TRIALS['full']} at three epsilons",
    recorded=("not claimed", "holds", "not claimed"),
    items=("P1 Figure 2",),
)
