"""Study `weighted-rounds`: benefit of weighted rounds of the noised private EM.

Sessions with and without weighted rounds are noised on the same simulated answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.figures import Chart, Level
from sottovoce.model import Domain
from sottovoce.planning.crowds import LabelAbility
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trials import Spread, best_constant, trial_seed
from sottovoce.planning.weighted_rounds import weighted_rounds_that_pay
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.paper_tables import BAND, curve
from sottovoce_studies.rulings import Ruling, Rulings
from sottovoce_studies.study import Outcome, Row, Size, Study, Value, Work

__all__ = ["STUDY", "Case", "Crowd", "judge", "sessions"]


TASKS, LABELS = 100, 2
DELTA = 1e-6

MIXED = LabelAbility((0.82, 0.86, 0.9, 0.94, 0.46, 0.49, 0.51, 0.54, 0.56, 0.59))
"""Four workers in ten are able, the others know little more than chance."""

ABLE = LabelAbility((0.57, 0.62, 0.67, 0.72, 0.77))

FEW = LabelAbility((0.95, 0.5, 0.5, 0.5, 0.5))
"""One worker in five knows the truth, the others guess."""

QUICK = ("mixed, 20", "few know, 50")

EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (1, 8), "full": (0.25, 0.5, 1, 2, 4, 8)}

BLOCKS: Mapping[Size, int] = {"quick": 3, "full": 10}

BLOCK = 6
"""Sessions per block; each block gives one mean, and standard errors are over blocks."""

CLAIMED = 1.0
"""The epsilon up to which two or three weighted rounds are claimed to be worse than none."""

JUDGED = (2, 3)

SERIES = ("one noised count", "1 weighted round", "2 weighted rounds", "3 weighted rounds")


@dataclass(frozen=True, slots=True)
class Crowd:
    """A number of workers, of answers per task (100 tasks), and the workers' ability."""

    name: str
    workers: int
    answers_per_task: int
    ability: LabelAbility

    def constant(self, seed: int, trials: int) -> float:
        """The mean error of the best constant on the truths of a block of sessions."""
        each = self.answers_per_task * TASKS // self.workers
        domain = Domain.categorical([str(label) for label in range(LABELS)])
        scenario = Scenario(domain, TASKS, self.workers, each, self.ability)
        truths = [scenario.draw(trial_seed(seed, trial))[1] for trial in range(trials)]
        return float(np.mean([best_constant(each).error for each in truths]))


def sessions(crowd: Crowd, epsilon: float, trials: int, block: int, seed: int) -> dict[str, Any]:
    """The share of wrong labels with 0, 1, … weighted rounds in a block of sessions.

    All have the same (epsilon, delta) per answer, the same answers and the same draws of noise; a
    block's answers are the same at every epsilon. `sealed` is one noised count of keyholders.
    """
    own = trial_seed(seed, block)
    found = weighted_rounds_that_pay(
        crowd.workers,
        TASKS,
        crowd.answers_per_task,
        epsilon,
        DELTA,
        labels=LABELS,
        ability=crowd.ability,
        trials=trials,
        seed=own,
    )
    constant = crowd.constant(own, trials)
    return {"errors": list(found.errors), "sealed": found.sealed, "constant": constant}


CROWDS = (
    Crowd("mixed, 10", 20, 10, MIXED),
    Crowd("mixed, 20", 20, 20, MIXED),
    Crowd("mixed, 50", 50, 50, MIXED),
    Crowd("able, 50", 50, 50, ABLE),
    Crowd("few know, 20", 20, 20, FEW),
    Crowd("few know, 50", 50, 50, FEW),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A crowd at an epsilon, with the results of its blocks."""

    crowd: Crowd
    epsilon: float
    blocks: Sequence[Mapping[str, Any]]

    @property
    def rounds(self) -> range:
        """Numbers of weighted rounds whose noise can be drawn."""
        return range(min(len(block["errors"]) for block in self.blocks))

    def error(self, rounds: int) -> Spread:
        """The share of wrong labels with a number of weighted rounds."""
        return Spread.of([block["errors"][rounds] for block in self.blocks])

    def excess(self, rounds: int) -> Spread:
        """Its excess over that of the single count, on the same answers."""
        return Spread.of([block["errors"][rounds] - block["errors"][0] for block in self.blocks])

    def mean(self, what: str) -> Spread:
        """The spread of another number of the blocks."""
        return Spread.of([block[what] for block in self.blocks])

    def is_worse(self, rounds: int) -> bool:
        """Whether weighted rounds are worse by more than two standard errors."""
        excess = self.excess(rounds)
        return excess.mean - BAND * excess.standard_error > 0

    def is_better(self, rounds: int) -> bool:
        """Whether they are better by more than two standard errors."""
        excess = self.excess(rounds)
        return excess.mean + BAND * excess.standard_error < 0


def plan(size: Size, seed: int) -> Work:
    """Every crowd at every epsilon, in blocks of sessions."""
    crowds = [each for each in CROWDS if size == "full" or each.name in QUICK]
    places = [(crowd, epsilon) for crowd in crowds for epsilon in EPSILONS[size]]
    blocks = BLOCKS[size]
    cells = [
        Cell(sessions, (*place, BLOCK, block, seed)) for place in places for block in range(blocks)
    ]

    def judged(results: Sequence[Any]) -> Outcome:
        return judge(
            [
                Case(*place, results[number * blocks : (number + 1) * blocks])
                for number, place in enumerate(places)
            ]
        )

    return Work(cells, judged)


def judge(cases: Sequence[Case]) -> Outcome:
    """Holds if two and three rounds are worse wherever epsilon is at most 1.

    Fails if they are better in one case, both by more than two standard errors; else in part.
    """
    tried = [
        (case, rounds)
        for case in cases
        if case.epsilon <= CLAIMED
        for rounds in JUDGED
        if rounds in case.rounds
    ]
    worse = sum(case.is_worse(rounds) for case, rounds in tried)
    better = sum(case.is_better(rounds) for case, rounds in tried)
    ruling = Ruling("holds")
    if better:
        ruling = Ruling(
            "fails", f"better in {better} of {len(tried)} cases up to epsilon {CLAIMED:g}"
        )
    elif worse < len(tried):
        seen = f"significantly worse in {worse} of {len(tried)} cases, and better in none"
        ruling = Ruling("partly", seen)
    words = (
        f"Up to epsilon {CLAIMED:g}, two or three weighted rounds were worse than the single count "
        f"in {worse} of {len(tried)} cases and better in {better}. {_paying(cases)}."
    )
    rows, charts = tuple(map(_row, cases)), tuple(_charts(cases))
    return Outcome(rows, Rulings(shape=ruling), words, charts)


def _paying(cases: Sequence[Case]) -> str:
    """The cases in which some number of weighted rounds is better than none, with errors."""
    parts = []
    for case in cases:
        paying = [rounds for rounds in case.rounds[1:] if case.is_better(rounds)]
        if paying:
            best = min(paying, key=lambda rounds: case.error(rounds).mean)
            parts.append(
                f"{case.crowd.name} at epsilon {case.epsilon:g} ({best} "
                f"{'round' if best == 1 else 'rounds'}: {case.error(best).mean:.3f} instead of "
                f"{case.error(0).mean:.3f})"
            )
    return f"They were better for {', '.join(parts)}" if parts else "They were better in no case"


def _row(case: Case) -> Row:
    more = case.rounds[1:]
    row: dict[str, Value] = {
        "part": "Share of wrong labels at the same guarantee, s.e. of differences to one count",
        "crowd": case.crowd.name,
        "epsilon": case.epsilon,
        "one count": case.error(0).mean,
        **{f"{rounds} more": case.error(rounds).mean for rounds in more},
        "s.e.": max((case.excess(rounds).standard_error for rounds in more), default=None),
        "better": ", ".join(str(rounds) for rounds in more if case.is_better(rounds)) or "none",
        "sealed": case.mean("sealed").mean,
        CONSTANT: case.mean("constant").mean,
        "sessions": BLOCK * len(case.blocks),
    }
    return row


def _charts(cases: Sequence[Case]) -> Iterator[Chart]:
    """One chart per crowd: the error of each number of rounds by epsilon."""
    for crowd in dict.fromkeys(case.crowd for case in cases):
        yield _chart(crowd, [case for case in cases if case.crowd == crowd])


def _chart(crowd: Crowd, own: Sequence[Case]) -> Chart:
    pays = [
        f"{case.epsilon:g}"
        for case in own
        if any(case.is_better(rounds) for rounds in case.rounds[1:])
    ]
    where = f"epsilon {', '.join(pays)}" if pays else "no epsilon"
    return Chart(
        f"Weighted rounds in a crowd of {crowd.workers} workers ({crowd.name} answers per task)",
        "epsilon per answer, delta 10^-6",
        "share of wrong labels",
        tuple(
            curve(
                SERIES[rounds],
                [case.epsilon for case in own],
                [case.error(rounds) for case in own],
                "ours" if rounds else "reference",
            )
            for rounds in range(min(len(case.rounds) for case in own))
        ),
        (Level(CONSTANT, own[0].mean("constant").mean),),
        note="The claim: up to epsilon 1, two or three weighted rounds are worse than the single "
        f"count. Here some number of weighted rounds is better at {where}",
        better="lower",
        x_scale="log",
    )


STUDY = Study(
    "weighted-rounds",
    "At delta 10^-6 two or three weighted rounds of the noised private EM do worse than its single "
    "noised count for every epsilon up to 1",
    "the mode noised of the private EM; its guarantee per answer",
    "simulated sessions on 100 tasks with two labels: mixed crowds (40 % of the workers right "
    "with U(0.8, 0.95), the others with U(0.45, 0.6)), able ones (U(0.55, 0.8)), and crowds in "
    "which 1 worker in 5 is right with 0.95 and the others guess; the number after a crowd is "
    "that of answers per task; every number of rounds has the same epsilon and delta per answer, "
    "as long as half of the workers add their noise (the loss of all answers of a worker "
    "together is larger), the same answers and the same draws of noise; sealed is one noised "
    "count of keyholders; ties go to the first label",
    plan,
    "two crowds at epsilon 1 and 8 with 18 sessions each, instead of six at six epsilons with 60",
    recorded=("not claimed", "holds", "not claimed"),
)
