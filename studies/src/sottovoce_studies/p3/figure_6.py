"""Study `p3-figure-6`: estimated weights follow true ones, and noise lowers them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.figures import Chart, Level, Series
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.choices import Choice, best
from sottovoce_studies.p3.crh_weights import METHODS, NOISY, SHOWN, compare_weights
from sottovoce_studies.p3.crowds import Floorplan
from sottovoce_studies.p3.guarantees import unchecked
from sottovoce_studies.p3.pipeline import epsilon_of_noise, ours_at, read_aware, true_epsilon
from sottovoce_studies.rulings import Ruling, Rulings, Statement
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["CONSISTENT", "LOWERED", "NOISES", "STUDY", "judge"]

NOISES = (1.0, 5.0)
"""Mean sizes of the noise, in metres; the charts show the first."""
CONSISTENT = 0.9
"""The correlation in every trial from which weights count as mostly consistent."""
LOWERED = 0.75
"""The share of the noisiest users whose weight must fall."""
TRIALS: Mapping[Size, tuple[int, int]] = {"quick": (2, 0), "full": (20, 5)}
WHEN = ("original", "perturbed")
OPEN: Mapping[str, tuple[str, ...]] = {"mean noise": tuple(f"{noise:g}" for noise in NOISES)}
"""P3 does not print the size of the noise of its Figure 6."""

Trial = Mapping[str, Any]


def plan(size: Size, seed: int) -> Work:
    """All weights at two noises; in full runs also ours at the guarantee of the larger noise."""
    floors = Floorplan()
    trials, few = TRIALS[size]
    epsilons = [epsilon_of_noise(noise, floors.domain.high) for noise in NOISES]
    cells = [Cell(compare_weights, (floors, epsilon, trials, seed)) for epsilon in epsilons]
    if few:
        spent = ours_at(true_epsilon(epsilons[-1], floors.tasks))[1]
        cells.append(Cell(read_aware, (floors, spent, few, seed)))

    def judged(results: Sequence[Any]) -> Outcome:
        found = dict(zip(NOISES, results[: len(NOISES)], strict=True))
        ours = [trial["error"] for trial in results[-1]] if few else []
        return judge(found, ours)

    return Work(cells, judged)


def judge(found: Mapping[float, Sequence[Trial]], ours: Sequence[float]) -> Outcome:
    """Tell correlations in every trial, and weights of the noisiest users, on the stand-in.

    It is no evidence for P3's users, but shows that weights can be better than none. The size of
    the noise is open; the one that meets most statements is told.
    """
    by_noise = {noise: statements(trials) for noise, trials in found.items()}
    choices = [_choice(noise, said) for noise, said in by_noise.items()]
    chosen = best(choices)
    said = by_noise[float(chosen.values["mean noise"])]
    rows = (*_rows(found), *_errors(found, ours), *_seven(found[NOISES[0]][0]))
    charts = (*_weights(found[NOISES[0]][0]), _error_chart(found))
    return Outcome(
        rows,
        Rulings(shape=unchecked(said)),
        _words(found, ours),
        charts,
        claims={
            "P3-V.B-2": unchecked(said[:2]),
            "P3-V.B-3": _can(said[4], chosen),
            "P3-V.B-4": unchecked(said[2:4]),
        },
        choices=tuple(choices),
    )


def statements(trials: Sequence[Trial]) -> list[Statement]:
    """The text on Figure 6 at one noise: two on weights, two on noise, one on truths."""
    consistent = [
        Statement(
            f"weights on {when} data agree with true ones",
            _least(trials, when) >= CONSISTENT,
            f"correlation {_least(trials, when):.3f} or more",
        )
        for when in WHEN
    ]
    share, others = _mean(trials, "lowered"), _mean(trials, "lowered others")
    crh, mean, median = (_mean(trials, f"{name} perturbed") for name in METHODS)
    return [
        *consistent,
        Statement(
            "users with large noise lose weight",
            share >= LOWERED,
            f"{share:.0%} of the noisiest tenth",
        ),
        Statement("others lose weight less often", share > others, f"{others:.0%}"),
        Statement(
            "weighted truths can be better than mean and median",
            crh < min(mean, median),
            f"MAE {crh:.3f} against {mean:.3f} and {median:.3f} m",
        ),
    ]


def _choice(noise: float, said: Sequence[Statement]) -> Choice:
    return Choice({"mean noise": f"{noise:g}"}, sum(each.true for each in said), len(said))


def _can(better: Statement, chosen: Choice) -> Ruling:
    """That something can be so is not about the floorplans alone: one crowd is enough."""
    return Ruling(better.ruling.verdict, f"{better.seen} on a stand-in ({chosen})")


def _least(trials: Sequence[Trial], when: str) -> float:
    return float(min(trial[f"correlation {when}"] for trial in trials))


def _mean(trials: Sequence[Trial], name: str) -> float:
    return float(np.mean([trial[name] for trial in trials]))


def _rows(found: Mapping[float, Sequence[Trial]]) -> Iterator[Row]:
    for noise, trials in found.items():
        yield {
            "part": "Weights of all 247 users",
            "mean noise (m)": noise,
            "correlation before": _mean(trials, "correlation original"),
            "after": _mean(trials, "correlation perturbed"),
            "least": min(_least(trials, when) for when in WHEN),
            "noisiest lowered": _mean(trials, "lowered"),
            "others lowered": _mean(trials, "lowered others"),
            "trials": len(trials),
        }


def _errors(found: Mapping[float, Sequence[Trial]], ours: Sequence[float]) -> Iterator[Row]:
    for noise, trials in found.items():
        for when in WHEN:
            own = ours and noise == NOISES[-1] and when == "perturbed"
            yield {
                "part": "MAE to the true lengths (m)",
                "mean noise (m)": noise,
                "data": when,
                **{
                    method.upper() if method == "crh" else method: _mean(trials, f"{method} {when}")
                    for method in METHODS
                },
                "ours": float(np.mean(ours)) if own else None,
                "best constant": _mean(trials, "constant"),
            }


def _seven(trial: Trial) -> Iterator[Row]:
    users = trial["users"]
    for place in range(SHOWN):
        yield {
            "part": f"Figure 6: seven users, mean noise {NOISES[0]:g} m",
            "user": place + 1,
            "own noise (m)": users["noise"][place],
            "estimated before": users["estimated original"][place],
            "true before": users["true original"][place],
            "estimated after": users["estimated perturbed"][place],
            "true after": users["true perturbed"][place],
        }


def _words(found: Mapping[float, Sequence[Trial]], ours: Sequence[float]) -> str:
    parts = [
        f"at a mean noise of {noise:g} m weights correlate with true ones by "
        f"{_mean(trials, 'correlation original'):.4f} before and "
        f"{_mean(trials, 'correlation perturbed'):.4f} after, {_mean(trials, 'lowered'):.0%} of "
        "the noisiest tenth of users lose weight relative to the others "
        f"({_mean(trials, 'lowered others'):.0%} of the rest), and the MAE to the true lengths is "
        f"{_mean(trials, 'crh perturbed'):.3f} m with CRH, {_mean(trials, 'mean perturbed'):.3f} "
        f"with the mean, {_mean(trials, 'median perturbed'):.3f} with the median"
        for noise, trials in found.items()
    ]
    answers, width = Floorplan().tasks, Floorplan().domain.high
    kept = true_epsilon(epsilon_of_noise(NOISES[-1], width), answers)
    words = "; ".join(parts)
    text = (
        f"{words[0].upper()}{words[1:]}. Each weight depends on {answers} answers. A noise of "
        f"{NOISES[-1]:g} m has a true epsilon of {kept:.0f} per answer at delta 0.1 over "
        f"0..{width:g} m"
    )
    if not ours:
        return f"{text}."
    return (
        f"{text}; ours at epsilon {ours_at(kept)[1]:g} without delta has an MAE of "
        f"{np.mean(ours):.3f} m, the best constant {_mean(found[NOISES[-1]], 'constant'):.1f} m."
    )


def _weights(trial: Trial) -> Iterator[Chart]:
    users = trial["users"]
    xs = tuple(float(place + 1) for place in range(SHOWN))
    loudest = int(np.argmax(users["noise"]))
    before, after = (users[f"estimated {when}"][loudest] for when in WHEN)
    notes = (
        "P3 §V-B: estimated weights are mostly consistent with true ones. This is true here, on "
        "a stand-in; the seven users are drawn at random.",
        "P3 §V-B: a user who adds large noise has its weight lowered. Of these seven, user "
        f"{loudest + 1} has the largest noise, {users['noise'][loudest]:.1f} m: weight "
        f"{before:.1f} before, {after:.1f} after.",
    )
    for letter, when, note in zip("ab", WHEN, notes, strict=True):
        yield Chart(
            f"Weights on {when} data (P3 Figure 6{letter})",
            "user",
            "weight",
            (
                Series("true", xs, tuple(users[f"true {when}"]), role="reference"),
                Series("estimated", xs, tuple(users[f"estimated {when}"])),
            ),
            (),
            note,
            "neither",
        )


def _error_chart(found: Mapping[float, Sequence[Trial]]) -> Chart:
    """Errors to the truth by noise."""
    names = {"CRH": "crh", "mean": "mean", "median": "median"}
    series = tuple(
        Series(
            line,
            (0.0, *found),
            (
                _mean(found[NOISES[0]], f"{name} original"),
                *(_mean(trials, f"{name} perturbed") for trials in found.values()),
            ),
        )
        for line, name in names.items()
    )
    return Chart(
        "Error to the true lengths by noise, stand-in",
        "mean size of the noise (metres)",
        "MAE to the truth (metres)",
        series,
        (Level("best constant", Spread.of([t["constant"] for t in found[NOISES[0]]]).mean),),
        "P3 §V-B: weighted aggregation can outperform the mean or the median. Here, at a noise of "
        f"{NOISES[-1]:g} m, CRH has {_mean(found[NOISES[-1]], 'crh perturbed'):.3f}, the mean "
        f"{_mean(found[NOISES[-1]], 'mean perturbed'):.3f}, the median "
        f"{_mean(found[NOISES[-1]], 'median perturbed'):.3f} m.",
        "lower",
        y_scale="log",
    )


STUDY = Study(
    "p3-figure-6",
    "Estimated weights are mostly consistent with true ones, on original and on perturbed data, "
    "and a user who adds large noise has its weight lowered",
    "P3 §V-B, Figure 6",
    "P3's data are not public: the stand-in of Figure 5, 247 walkers x 129 segments, mean noise "
    "1 and 5 m. A true weight is CRH's -ln(share of the loss) against the true lengths. The "
    "stand-in is no evidence for P3's users; on it, for all users: "
    f"a correlation of {CONSISTENT:g} or more in every trial, and of the "
    f"{NOISY:.0%} with the largest noise {LOWERED:.0%} or more, and more than of the others, lose "
    "weight relative to the mean weight, and CRH is nearer to the true lengths than mean and "
    "median; numbers do not tie",
    plan,
    "2 trials instead of 20, without ours",
    recorded=("not claimed", "cannot be checked", "not claimed"),
    items=("P3 Figure 6",),
    open=OPEN,
)
