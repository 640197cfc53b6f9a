"""The cost of privacy on your own table: accuracy by epsilon, ours and the papers'.

Pipelines are compared on one table, in the same trials.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.inference.registry import usual_methods
from sottovoce.mechanisms.policies import Target
from sottovoce.mechanisms.registry import release_class
from sottovoce.model import Domain, FloatArray, Gold, Grid, Kind, Policy, Reports, Unit, UnitName
from sottovoce.model.display import SHOWN, Display, Displayed
from sottovoce.model.guarantee import rounded_up
from sottovoce.planning.pipelines import AWARE, Pipeline, Ways, candidates, papers, true_guarantee
from sottovoce.planning.trial_runner import Processes, Progress
from sottovoce.planning.trials import Spread, best_constant, run_trial, trial_seed, truths_by_task

Measure = Literal["accuracy", "mae"]

CLEAN, CONSTANT, OURS = "clean answers", "best constant", "recommended"
"""Names of rows and levels without noise."""

PILOTS = 4
"""Trials that choose the recommended pair; they are not among the reported ones."""

_PILOT, _REPORTED = 0, 1  # the first number of a trial's seed


@dataclass(frozen=True, slots=True)
class TradeoffRow:
    """One pair at one epsilon: its true guarantee, and the results of the trials."""

    epsilon: float
    pair: Pipeline
    recommended: bool
    true_epsilon: float
    delta: float
    spread: Spread

    @property
    def name(self) -> str:
        """The pair's name; if that is only the mechanism, with the method that reads it."""
        bare = self.pair.method == AWARE and "+" not in self.pair.name and not self.pair.sealed
        return f"{self.pair.name} + aware" if bare else self.pair.name


@dataclass(frozen=True, slots=True, repr=False)
class Tradeoff(Displayed):
    """Accuracy (or mean absolute error) by epsilon, and that of unperturbed answers.

    `constant` is the error of the best constant predictor, which knows the truths; `clean` that of
    the best usual method, `clean_method`, on the answers themselves. `answers` is the largest
    number of answers of a worker, to all of which the guarantee applies; `scored` tasks have a
    known truth.
    """

    measure: Measure
    clean: float
    clean_method: str
    constant: float
    rows: tuple[TradeoffRow, ...]
    unit: Unit
    answers: int
    scored: int
    trials: int
    seed: int

    def _display(self) -> Display:
        columns, rows = tuple(tradeoff_columns(self)), tradeoff_rows(self)
        facts = (("simulated", tradeoff_words(self)),)
        shown = tuple(map(tuple, rows[:SHOWN]))
        return Display("Tradeoff of privacy and accuracy", facts, columns, shown, len(rows))

    @property
    def recommended(self) -> Mapping[float, TradeoffRow]:
        """The recommended pair's row at each epsilon."""
        return {row.epsilon: row for row in self.rows if row.recommended}

    def table(self) -> dict[str, npt.NDArray[Any]]:
        """The rows as columns for a file; clean answers and the constant come last."""
        rows = [_record(row) for row in self.rows]
        for name, value in ((CLEAN, self.clean), (CONSTANT, self.constant)):
            rows.append(dict.fromkeys(rows[0], np.nan) | {"pair": name, "mean": value})
            method = self.clean_method if name == CLEAN else ""
            rows[-1] |= {"mechanism": "", "method": method, "role": "reference", "trials": 1}
            rows[-1] |= {"low": value, "high": value, "standard_error": 0.0}
        columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return {**columns, "measure": np.full(len(rows), self.measure)}


def tradeoff(
    answers: Reports,
    gold: Gold,
    epsilons: Sequence[float],
    *,
    unit: UnitName = Unit.ANSWER,
    delta: float = 0.0,
    hide_participation: bool = False,
    ways: Ways = "any",
    pairs: Sequence[Pipeline] | None = None,
    trials: int = 20,
    seed: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Tradeoff:
    """Perturb the answers by simulation at each epsilon, and measure the error of inference.

    The recommended pair of an epsilon is the noise-aware one with the lowest mean error in a pilot
    round of four trials. Its noise differs from that of the reported trials, so the choice is not
    biased in its own favour. It does use the truths, as a pilot of a campaign would. With `ways` it
    is one whose answers are randomised on the device ("local"), or one that needs keyholders
    ("sealed"). `pairs` replaces both our candidates and the papers' pipelines. Noise comes from the
    seed: the results do not depend on `jobs`.
    """
    _check(answers, epsilons, trials)
    as_numbers = hide_participation and answers.domain.kind is Kind.ORDINAL
    truths = truths_by_task(answers, gold, as_numbers=as_numbers)
    most = _most_answers(answers, hide_participation)
    targets = [Target(e, unit, delta, most, hide_participation) for e in sorted(epsilons)]
    ours, theirs = contenders(answers.domain, pairs, targets, ways)
    with TrialRounds(answers, truths, seed, jobs=jobs, progress=progress) as rounds:
        pilots = PILOTS if len(ours) > 1 else 0
        rounds.expect(len(targets) * (pilots * len(ours) + trials * (bool(ours) + len(theirs))))
        chosen = rounds.best(targets, ours, pilots) if pilots else [*ours] * len(targets)
        contests = [
            (target, pair)
            for place, target in enumerate(targets)
            for pair in (*chosen[place : place + 1], *theirs)
        ]
        errors = rounds.errors(contests, trials)
    measure: Measure = "mae" if truths.dtype.kind == "f" else "accuracy"
    rows = tuple(
        _row(contest, answers.domain, found, measure, recommended=contest[1] in ours)
        for contest, found in zip(contests, errors, strict=True)
    )
    clean_method, clean = _clean(answers, truths)
    constant = best_constant(truths).error
    if measure == "accuracy":
        clean, constant = 1 - clean, 1 - constant
    scored = int(np.isfinite(truths).sum() if measure == "mae" else (truths >= 0).sum())
    return Tradeoff(
        measure, clean, clean_method, constant, rows, Unit(unit), most, scored, trials, seed
    )


def within_range(answers: Reports, domain: Domain, *, clip: bool = False) -> Reports:
    """The same numbers over a public range, which is independent of the answers.

    Numbers outside are an error unless `clip` moves them to the ends of the range.
    """
    if not (answers.domain.is_numeric and domain.is_numeric):
        raise UsageError("a range is for numbers: pass domain= with categorical or ordinal labels")
    outside = int(((answers.value < domain.low) | (answers.value > domain.high)).sum())
    if outside and not clip:
        raise DataError(
            f"{outside:,} of {len(answers):,} answers lie outside "
            f"{domain.low:g}..{domain.high:g}: state a wider public range, or pass clip=True to "
            "move them to its ends"
        )
    values = np.clip(answers.value.astype(np.float64), domain.low, domain.high)
    return replace(answers, value=values, domain=domain)


def contenders(
    domain: Domain, pairs: Sequence[Pipeline] | None, targets: Sequence[Target], ways: Ways = "any"
) -> tuple[list[Pipeline], list[Pipeline]]:
    """Our candidate pairs, which are noise-aware, and the pairs to compare with.

    Without `pairs`, all that can keep every target, and the papers' pipelines.
    """
    first = targets[0]
    if pairs is None:
        theirs = papers(domain, hide_participation=first.hide_participation)
        pairs = [*_candidates(domain, targets, ways), *theirs]
    # The papers calibrate per answer only.
    pairs = [pair for pair in pairs if not (pair.published and first.unit is Unit.WORKER)]
    if not pairs:
        raise UsageError("there is no pair to try: give at least one")
    if len({pair.name for pair in pairs}) < len(pairs):
        raise UsageError("two pairs have the same name: rename one")
    ours = [pair for pair in pairs if pair.method == AWARE and not pair.published]
    return ours, [pair for pair in pairs if pair not in ours]


class TrialRounds:
    """Trials of pairs on one table, whose processes stay until the block ends.

    Trial t has the same noise words for every pair; a pilot has others.
    """

    def __init__(
        self,
        answers: Reports,
        truths: npt.NDArray[Any],
        seed: int,
        *,
        jobs: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self._domain, self._seed, self._progress = answers.domain, seed, progress
        self._processes = Processes(partial(_error, answers, truths), jobs=jobs)
        self._done = self._expected = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *end: object) -> None:
        self._processes.__exit__(*end)

    def expect(self, trials: int) -> None:
        """Set the total number of trials for the progress."""
        self._expected = trials
        self._tell(0, 0)

    def best(
        self, targets: Sequence[Target], pairs: Sequence[Pipeline], trials: int
    ) -> list[Pipeline]:
        """The pair with the lowest mean error in a pilot, for each target."""
        contests = [(target, pair) for target in targets for pair in pairs]
        means = self._run(contests, trials, _PILOT).mean(axis=1).reshape(len(targets), len(pairs))
        return [pairs[place] for place in means.argmin(axis=1)]

    def errors(self, contests: Sequence[tuple[Target, Pipeline]], trials: int) -> FloatArray:
        """The error of every trial, a row for each contest."""
        return self._run(contests, trials, _REPORTED)

    def _run(
        self, contests: Sequence[tuple[Target, Pipeline]], trials: int, purpose: int
    ) -> FloatArray:
        seeds = [trial_seed(self._seed, purpose, trial) for trial in range(trials)]
        jobs = [
            _Job(pair.policy(self._domain, target), pair.method, pair.settings, seed)
            for target, pair in contests
            for seed in seeds
        ]
        errors = self._processes.map(jobs, self._tell)
        self._done += len(jobs)
        return np.array(errors, np.float64).reshape(len(contests), trials)

    def _tell(self, done: int, _: int) -> None:
        if self._progress is not None:
            self._progress(self._done + done, self._expected)


@dataclass(frozen=True, slots=True)
class _Job:
    """One trial: everything but the table, which its process has."""

    policy: Policy
    method: str
    settings: Mapping[str, Any]
    seed: int


def _error(answers: Reports, truths: npt.NDArray[Any], job: _Job) -> float:
    return run_trial(answers, truths, job.policy, job.method, job.seed, job.settings).error


def _candidates(domain: Domain, targets: Sequence[Target], ways: Ways) -> list[Pipeline]:
    """Pairs that can keep every target, and give labels if labels are needed."""
    found = [candidates(domain, target, ways) for target in targets]
    kept = [pair for pair in found[0] if all(pair in others for others in found)]
    if domain.is_numeric or targets[0].hide_participation:
        return kept
    return [pair for pair in kept if Kind.CATEGORICAL in release_class(pair.mechanism).takes]


def _check(answers: Reports, epsilons: Sequence[float], trials: int) -> None:
    if not len(epsilons):
        raise UsageError("give at least one epsilon")
    if len(set(epsilons)) < len(epsilons):
        raise UsageError("an epsilon is given twice: give each once")
    if not isinstance(trials, int) or isinstance(trials, bool) or trials < 2:
        raise UsageError(f"trials must be a whole number from 2 up, not {trials!r}")
    if answers.domain.is_numeric:
        Grid.over(answers.domain)  # raises for numbers without a public range


def _clean(answers: Reports, truths: npt.NDArray[Any]) -> tuple[str, float]:
    """The usual method that does best on the answers themselves, and its error.

    The best one, because compared with a poor one the cost of privacy would look small.
    """
    methods = usual_methods(answers.domain)
    errors = {name: run_trial(answers, truths, None, name, 0).error for name in methods}
    best = min(errors, key=lambda name: errors[name])
    return best, errors[best]


def _most_answers(answers: Reports, hide_participation: bool) -> int:
    """The number of reports of one worker that are seen together."""
    if hide_participation:
        return len(answers.tasks)
    return int(np.bincount(answers.worker).max())


def _row(
    contest: tuple[Target, Pipeline],
    domain: Domain,
    errors: npt.NDArray[np.float64],
    measure: Measure,
    *,
    recommended: bool,
) -> TradeoffRow:
    target, pair = contest
    held = true_guarantee(pair.policy(domain, target), target)
    spread = Spread.of(errors.tolist())
    shown = spread.flipped() if measure == "accuracy" else spread
    return TradeoffRow(target.epsilon, pair, recommended, held.epsilon, held.delta, shown)


def _record(row: TradeoffRow) -> dict[str, Any]:
    spread = row.spread
    return {
        "epsilon": row.epsilon,
        "pair": row.name,
        "role": "recommended" if row.recommended else "papers",
        "mechanism": row.pair.mechanism,
        "method": _method(row.pair),
        "true_epsilon": row.true_epsilon,
        "delta": row.delta,
        "trials": spread.trials,
        "mean": spread.mean,
        "standard_error": spread.standard_error,
        "low": spread.low,
        "high": spread.high,
    }


def _method(pair: Pipeline) -> str:
    if pair.method != AWARE:
        return pair.method
    return "sealed" if pair.sealed else "aware"


def tradeoff_title(source: str) -> str:
    """The title of the page and the figure."""
    return f"Cost of privacy on {source if source not in ('', '-') else 'these answers'}"


def tradeoff_words(found: Tradeoff) -> str:
    """The settings that all rows share, in one line."""
    unit = f"epsilon per {found.unit}"
    return (
        f"{found.scored:,} tasks with a known truth; up to {found.answers:,} reports per worker, "
        f"all observed together; {unit}; {found.trials} trials, seed {found.seed}, SIMULATED noise"
    )


def tradeoff_columns(found: Tradeoff) -> list[str]:
    """The heads of the table."""
    return ["epsilon", "pair", measure_name(found), "s.e.", "90 % band", "true epsilon", ""]


def tradeoff_rows(found: Tradeoff) -> list[list[str]]:
    """The table: a row for each pair at each epsilon, then what needs no noise."""
    shown = [_shown(row, found) for row in found.rows]
    for name, value in ((clean_name(found), found.clean), (CONSTANT, found.constant)):
        shown.append(["-", name, number_words(value, found), "", "", "", ""])
    return shown


def _shown(row: TradeoffRow, found: Tradeoff) -> list[str]:
    spread = row.spread
    band = f"{number_words(spread.low, found)} to {number_words(spread.high, found)}"
    held = rounded_up(row.true_epsilon, 4) if math.isfinite(row.true_epsilon) else "none"
    held += f", delta {row.delta:g}" if row.delta else ""
    remark = OURS if row.recommended else "as published" if row.pair.published else ""
    return [
        f"{row.epsilon:g}",
        row.name,
        number_words(spread.mean, found),
        f"{spread.standard_error:.2g}",
        band,
        held,
        remark,
    ]


def clean_name(found: Tradeoff) -> str:
    """The row of clean answers, with the method that reads them."""
    return f"{CLEAN}, {found.clean_method}"


def measure_name(found: Tradeoff) -> str:
    """The measure, as a column is headed."""
    return "accuracy" if found.measure == "accuracy" else "MAE"


def recommended_words(found: Tradeoff) -> str:
    """The recommended pairs in one sentence."""
    chosen = {e: row.name for e, row in found.recommended.items()}
    if not chosen:
        return ""
    if len({*chosen.values()}) == 1:
        return f"Recommended at every epsilon: {next(iter(chosen.values()))}."
    return f"Recommended: {'; '.join(f'{name} at {e:g}' for e, name in chosen.items())}."


def number_words(value: float, found: Tradeoff) -> str:
    """A value of the measure, with the digits that fit it."""
    return f"{value:.4f}" if found.measure == "accuracy" else f"{value:.4g}"
