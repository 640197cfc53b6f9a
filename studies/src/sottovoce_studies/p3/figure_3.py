"""Study `p3-figure-3`: loss and noise by the number of users, and the effect of weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.figures import Chart, Level
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.choices import Choice, grid
from sottovoce_studies.p3.crowds import crowd
from sottovoce_studies.p3.epsilon_sweep import falls, with_numbers
from sottovoce_studies.p3.figure_1 import ANSWERS, NEAR_ONE, SETTING, WIDTH
from sottovoce_studies.p3.pipeline import (
    BASELINES,
    noise_of,
    ours_at,
    published,
    read_aware,
    true_epsilon,
)
from sottovoce_studies.paper_tables import curve, spread_by
from sottovoce_studies.rulings import Ruling, Rulings, Statement
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["EPSILONS", "OPEN", "STUDY", "USERS", "judge", "noise_error", "slope"]

USERS: Mapping[Size, tuple[int, ...]] = {
    "quick": (50, 150, 300),
    "full": (25, 50, 100, 150, 300, 600),
}
EPSILONS = (10.0, NEAR_ONE)
TRIALS: Mapping[Size, tuple[int, int]] = {"quick": (6, 1), "full": (100, 20)}
CHANCE = 4.0
"""Exceeded by one of 12 mean noises, in standard errors, once in a thousand runs."""
AXIS = "users"
OPEN: Mapping[str, tuple[str, ...]] = {"lambda1": ("1", "0.1", "10")}
FEW: Mapping[Size, int] = {"quick": 1, "full": 20}
SAME = 0.02
"""The part of the loss that weights must gain more, for them to be better with more users."""

Seen = Mapping[float, Mapping[int, Mapping[str, Spread]]]
Tried = tuple[Mapping[str, str], Mapping[int, Mapping[str, Spread]]]
"""A setting of the open points, with its spreads at noise 1 by the number of users."""


def plan(size: Size, seed: int) -> Work:
    """Two noises per number of users, and ours at the true guarantee of the larger one."""
    trials, few = TRIALS[size]
    users = USERS[size]
    read = users if size == "full" else users[1:2]
    cells = [
        Cell(published, (crowd(count), "crh", epsilon, trials, seed))
        for epsilon in EPSILONS
        for count in users
    ]
    spent = ours_at(true_epsilon(EPSILONS[0], ANSWERS))[1]
    cells += [Cell(read_aware, (crowd(count), spent, few, seed)) for count in read]
    settings, ends = list(grid(OPEN)), (users[0], users[-1])
    cells += [
        Cell(
            published,
            (crowd(count, float(values["lambda1"])), "crh", NEAR_ONE, FEW[size], seed),
        )
        for values in settings
        for count in ends
    ]

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        seen = {epsilon: {count: spread_by(next(rest)) for count in users} for epsilon in EPSILONS}
        ours = {count: spread_by(next(rest))["error"] for count in read}
        tried = [(values, {count: spread_by(next(rest)) for count in ends}) for values in settings]
        return judge(seen, ours, tried)

    return Work(cells, judged)


def judge(seen: Seen, ours: Mapping[int, Spread], tried: Sequence[Tried] = ()) -> Outcome:
    """Judge shape: the noise has its stated mean for all users, and the loss falls."""
    noise, loss = statements(seen)
    rows = tuple(row for kind in (_lost, _error) for row in _rows(kind, seen, ours))
    return Outcome(
        (*rows, *_tried_rows(tried)),
        Rulings(shape=with_numbers([noise, loss])),
        _words(seen, ours),
        tuple(_charts(seen, ours)),
        claims={
            "P3-V.A-8": noise.ruling,
            "P3-V.A-9": _better_weights(seen, loss),
            "P3-V.A-10": _by_theorem(seen, loss),
        },
        choices=tuple(map(_choice, tried)),
    )


def gains(seen: Seen) -> tuple[float, float]:
    """The share of the plain mean's loss that weights save, with the fewest and the most users."""
    near = seen[EPSILONS[-1]]
    few, many = (
        1 - near[count]["change"].mean / near[count]["change mean"].mean
        for count in (min(near), max(near))
    )
    return few, many


def _better_weights(seen: Seen, loss: Statement) -> Ruling:
    """Whether the loss falls because weights become better: then they must gain more."""
    few, many = gains(seen)
    words = (
        f"the loss falls as users^{slope(seen, 'change'):.2f}, the plain mean's as "
        f"users^{slope(seen, 'change mean'):.2f}; weights save {few:.0%} of it with few users, "
        f"{many:.0%} with many"
    )
    if not loss.true:
        return Ruling("fails", words)
    return Ruling("holds" if many - few > SAME else "partly", words)


def _by_theorem(seen: Seen, loss: Statement) -> Ruling:
    """Whether the direction of Thm. 4.3 is seen; P3 claims no rate."""
    words = (
        f"the loss falls as users^{slope(seen, 'change'):.2f}, while the printed ceiling of c, "
        "which is too large, would give users^-1"
    )
    if not loss.true:
        return Ruling("fails", words)
    return Ruling("holds", f"more users tolerate more noise; {words}")


def _choice(tried: Tried) -> Choice:
    """The statements that a setting meets with the fewest and the most users."""
    values, found = tried
    few, many = found[min(found)], found[max(found)]
    noise = noise_of(EPSILONS[-1], WIDTH)
    same = all(_errors_off(at["noise"], noise, count) <= CHANCE for count, at in found.items())
    return Choice(values, same + (many["change"].mean < few["change"].mean), 2)


def _tried_rows(tried: Sequence[Tried]) -> Iterator[Row]:
    for values, found in tried:
        for count, at in found.items():
            yield {
                "part": "Other lambda1: noise and loss",
                **values,
                "users": count,
                "mean noise": at["noise"].mean,
                "MAE CRH": at["change"].mean,
                "MAE mean": at["change mean"].mean,
                "trials": at["change"].trials,
            }


def noise_error(users: int) -> float:
    """The relative standard error of the mean noise of a number of users.

    A user's mean size is √(2V/π) plus a deviation over k answers, V ~ Exp(λ): relative to 1/(2λ),
    the square of the mean, its variance is 2 ((2/π)(1 - π/4) + (1 - 2/π)/k).

    >>> round(noise_error(150), 4)
    0.0445
    """
    between, within = 2 / math.pi * (1 - math.pi / 4), (1 - 2 / math.pi) / ANSWERS
    return math.sqrt(2 * (between + within) / users)


def slope(seen: Seen, name: str) -> float:
    """The power of the number of users at which a quantity falls, at noise 1."""
    at = seen[EPSILONS[-1]]
    means = [spreads[name].mean for spreads in at.values()]
    return float(np.polyfit(np.log(list(at)), np.log(means), 1)[0])


def statements(seen: Seen) -> list[Statement]:
    """The text on Figures 3b and 3a."""
    off = max(
        _errors_off(each["noise"], noise_of(epsilon, WIDTH), count)
        for epsilon, at in seen.items()
        for count, each in at.items()
    )
    down = all(falls([spreads["change"] for spreads in at.values()]) for at in seen.values())
    return [
        Statement(
            "the mean noise does not depend on the number of users",
            off <= CHANCE,
            f"at most {off:.1f} s.e. from its stated mean",
        ),
        Statement(
            "the loss falls as users grow", down, f"as users^{slope(seen, 'change'):.2f} at noise 1"
        ),
    ]


def _errors_off(seen: Spread, noise: float, users: int) -> float:
    """The distance of a mean noise from its stated mean, in standard errors."""
    return abs(seen.mean / noise - 1) / noise_error(users * seen.trials)


def _rows(kind: Any, seen: Seen, ours: Mapping[int, Spread]) -> Iterator[Row]:
    for epsilon, at in seen.items():
        for count, spreads in at.items():
            read = ours.get(count) if epsilon == EPSILONS[0] else None
            yield kind(epsilon, count, spreads, read)


def _lost(epsilon: float, count: int, at: Mapping[str, Spread], _: Spread | None) -> Row:
    return {
        "part": "Figure 3: noise and loss",
        "epsilon": epsilon,
        "users": count,
        "mean noise": at["noise"].mean,
        "MAE CRH": at["change"].mean,
        "s.e.": at["change"].standard_error,
        **{f"MAE {name}": at[f"change {name}"].mean for name in BASELINES},
        "CRH / mean": at["change"].mean / at["change mean"].mean,
        "trials": at["change"].trials,
    }


def _error(epsilon: float, count: int, at: Mapping[str, Spread], read: Spread | None) -> Row:
    return {
        "part": "MAE to the truth",
        "epsilon": epsilon,
        "true epsilon": true_epsilon(epsilon, ANSWERS),
        "users": count,
        "before": at["clean"].mean,
        "CRH": at["error"].mean,
        **{name: at[f"error {name}"].mean for name in BASELINES},
        "ours": None if read is None else read.mean,
        "best constant": at["best constant"].mean,
    }


def _words(seen: Seen, ours: Mapping[int, Spread]) -> str:
    loud, near = seen[EPSILONS[0]], seen[EPSILONS[-1]]
    few, many = min(near), max(near)
    gain_few, gain_many = gains(seen)
    common = min(set(loud) & set(ours), key=lambda count: abs(count - 150))
    return (
        f"Where the mean noise is 1, the loss of CRH is {near[few]['change'].mean:.3f} with {few} "
        f"users and {near[many]['change'].mean:.3f} with {many}, and the noise is "
        f"{near[few]['noise'].mean:.3f} and {near[many]['noise'].mean:.3f}. The loss falls as "
        f"users to the power {slope(seen, 'change'):.2f}; the plain mean's, without weights, as "
        f"{slope(seen, 'change mean'):.2f} (averaging alone gives -0.50). P3 explains it by "
        f"better weights, but a user's weight depends on only {ANSWERS} answers: the loss of CRH "
        f"is {gain_few:.0%} below that of the plain mean with {few} users, {gain_many:.0%} "
        f"below with {many}. At epsilon {EPSILONS[0]:g}, truly "
        f"{true_epsilon(EPSILONS[0], ANSWERS):.1f} per answer at delta 0.1, the MAE to the truth "
        f"with {common} users is {loud[common]['error'].mean:.3f}, with ours at this true epsilon "
        f"without delta {ours[common].mean:.3f}, and with the best constant "
        f"{loud[common]['best constant'].mean:.2f}."
    )


def _both_ends(at: Mapping[int, Mapping[str, Spread]]) -> str:
    few, many = min(at), max(at)
    return f"{at[few]['noise'].mean:.2f} with {few} users, {at[many]['noise'].mean:.2f} with {many}"


def _charts(seen: Seen, ours: Mapping[int, Spread]) -> Iterator[Chart]:
    names = {"CRH": "change", "mean": "change mean"}
    yield Chart(
        "Loss of utility by users (P3 Figure 3a)",
        AXIS,
        "MAE, before to after",
        tuple(
            curve(f"{line}, epsilon {epsilon:g}", list(at), [each[name] for each in at.values()])
            for epsilon, at in seen.items()
            for line, name in names.items()
        ),
        (),
        "P3 §V-A: having more users helps utility, since weights are estimated better. Here "
        f"the loss falls as users to the power {slope(seen, 'change'):.2f}, that of the plain "
        f"mean, which has no weights, {slope(seen, 'change mean'):.2f}.",
        "lower",
        "log",
        "log",
    )
    yield Chart(
        "Noise by users (P3 Figure 3b)",
        AXIS,
        "mean size of the noise",
        tuple(
            curve(f"epsilon {epsilon:g}", list(at), [each["noise"] for each in at.values()])
            for epsilon, at in seen.items()
        ),
        tuple(Level(f"by Thm. 4.8, {epsilon:g}", noise_of(epsilon, WIDTH)) for epsilon in seen),
        "P3 §V-A: the mean noise stays the same as the number of users increases. Here it is "
        f"{' and '.join(_both_ends(at) for at in seen.values())}.",
        "neither",
        "log",
    )
    at = seen[EPSILONS[0]]
    lines = {"CRH": "error", **{name: f"error {name}" for name in BASELINES}}
    series = [
        curve(line, list(at), [each[name] for each in at.values()]) for line, name in lines.items()
    ]
    yield Chart(
        f"Error to the truth by users, epsilon {EPSILONS[0]:g}",
        AXIS,
        "MAE to the truth",
        (*series, curve("ours", tuple(ours), list(ours.values()), "ours")),
        (
            Level(
                "best constant",
                math.fsum(each["best constant"].mean for each in at.values()) / len(at),
            ),
        ),
        "P3 shows no errors to the truth. Ours uses the true epsilon of one answer, without delta.",
        "lower",
        "log",
        "log",
    )


STUDY = Study(
    "p3-figure-3",
    "The mean noise stays the same as the number of users increases, and having more users helps "
    "utility",
    "P3 §V-A, Figure 3",
    SETTING.replace("150 users", "25 to 600 users") + "nominal epsilon 10 (mean noise 4.9) and "
    f"{NEAR_ONE:g} (1); the noise must be within {CHANCE:g} standard errors of 1/sqrt(2 lambda2); "
    "CRH as printed by its authors; numbers do not tie",
    plan,
    "3 numbers of users instead of 6, 6 trials instead of 100, ours in 1 instead of 20",
    recorded=("not claimed", "holds", "not claimed"),
    items=("P3 Figure 3",),
    open=OPEN,
)
