"""Forecasts of a campaign's error, from simulated campaigns.

Numbers, and plain sentences about them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Domain
from sottovoce.planning.pipelines import Pipeline, target_of
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import Progress, Runner, TrialCase, seeds_of
from sottovoce.planning.trials import BAND, best_constant

LEAST_TRIALS = 19
"""The fewest trials with a 90 % band for one further campaign."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The errors of simulated campaigns; without a pair, of the answers themselves.

    The error is the share of wrong labels, or the mean distance of numbers from their truths.

    >>> forecast = Forecast(None, None, tuple(i / 32 for i in range(19)))
    >>> forecast.error, forecast.band
    (0.28125, (0.0, 0.5625))
    """

    pair: Pipeline | None
    target: Target | None
    errors: tuple[float, ...]

    @property
    def trials(self) -> int:
        """The number of simulated campaigns."""
        return len(self.errors)

    @property
    def error(self) -> float:
        """The mean error."""
        return float(np.mean(self.errors))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean: the deviation over √trials."""
        if self.trials < 2:
            return math.inf
        return float(np.std(self.errors, ddof=1)) / math.sqrt(self.trials)

    @property
    def band(self) -> tuple[float, float] | None:
        """The interval of ONE further campaign's error in 9 of 10 cases; None below 19 trials.

        Among T errors and a further one, exchangeable, each rank of the latter is equally likely:
        it lies between the i-th and the j-th smallest with probability (j - i)/(T + 1). So the ends
        are the errors of rank 0.05 (T + 1) and 0.95 (T + 1), interpolated: with 19 trials the
        smallest and the largest.
        """
        if self.trials < LEAST_TRIALS:
            return None
        outside = (1 - BAND) / 2
        low, high = np.quantile(self.errors, [outside, 1 - outside], method="weibull")
        return float(low), float(high)

    def difference(self, other: Forecast) -> tuple[float, float]:
        """The mean difference to another's errors in the same trials, and its standard error."""
        count = min(self.trials, other.trials)
        excess = np.subtract(self.errors[:count], other.errors[:count])
        spread = float(np.std(excess, ddof=1)) / math.sqrt(count) if count > 1 else math.inf
        return float(np.mean(excess)), spread


def simulate(
    scenario: Scenario,
    pairs: Sequence[Pipeline],
    targets: Sequence[Target],
    *,
    trials: int = 20,
    seed: int = 0,
    jobs: int = 1,
    cache: bool = True,
    progress: Progress | None = None,
) -> list[Forecast]:
    """A forecast for each pair at each target, targets first, on common random numbers.

    A target's `answers` and `hide_participation` are the scenario's. Nothing is left out: a pair
    that cannot keep a target is an error, and a large campaign is simulated at full size.
    """
    with Runner(seed, jobs=jobs, cache=cache, progress=progress) as runner:
        fitting = [target_of(scenario, target) for target in targets]
        cases = [TrialCase(scenario, pair, target) for target in fitting for pair in pairs]
        runner.expect(trials * len(cases))
        return forecasts(runner, cases, trials)


def forecasts(runner: Runner, cases: Sequence[TrialCase], trials: int) -> list[Forecast]:
    """The forecast of each case."""
    errors = runner.errors(cases, trials)
    return [
        Forecast(case.pair, case.target, each) for case, each in zip(cases, errors, strict=True)
    ]


def constant_error(scenario: Scenario, trials: int, seed: int) -> float:
    """The mean error of the best constant, which knows the truths."""
    drawn = (scenario.draw(seeds_of(seed, trial)[0])[1] for trial in range(trials))
    return float(np.mean([best_constant(truths).error for truths in drawn]))


def check_trials(trials: object) -> None:
    """Refuse too few trials for a band."""
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < LEAST_TRIALS:
        raise UsageError(
            f"trials must be an integer of at least {LEAST_TRIALS}, not {trials!r}: "
            f"{LEAST_TRIALS} are the fewest that give a {100 * BAND:g} % band"
        )


def score_of(domain: Domain, error: float) -> float:
    """The score for readers: accuracy for labels, mean distance for numbers."""
    return error if domain.is_numeric else 1 - error


def score_name(domain: Domain) -> str:
    """The name of the score."""
    return "mean error" if domain.is_numeric else "accuracy"


def score_words(domain: Domain, error: float) -> str:
    """The score of an error, with the digits that fit its unit."""
    return f"{error:.3g}" if domain.is_numeric else f"{1 - error:.3f}"


def band_words(domain: Domain, forecast: Forecast) -> str:
    """The band of the score, from low to high."""
    if forecast.band is None:
        return "-"
    ends = sorted(forecast.band, key=lambda error: score_of(domain, error))
    return " to ".join(score_words(domain, error) for error in ends)


def reason_of(
    chosen: Forecast, table: Sequence[Forecast], scenario: Scenario, simulated: Scenario
) -> str:
    """Why a pair was chosen: the number tried, the best one's result, and its forecast."""
    domain = scenario.domain
    expected = (
        f"Expect {score_name(domain)} {score_words(domain, chosen.error)}; {100 * BAND:g} % of "
        f"such campaigns lie from {band_words(domain, chosen)}."
    )
    sentences = [_choice(chosen, table, domain), expected, scaled_words(scenario, simulated)]
    return " ".join(filter(None, sentences))


def scaled_words(scenario: Scenario, simulated: Scenario) -> str:
    """A note that a smaller campaign was simulated, or nothing."""
    if simulated == scenario:
        return ""
    return (
        "The campaign is large, so a smaller one was simulated, with as many answers per task: "
        f"{simulated.workers:,} workers with {simulated.answers_per_worker:,} answers each on "
        f"{simulated.tasks:,} tasks; the band of the large one is narrower."
    )


def sealed_words(domain: Domain, sealed: SealedSum, local: Forecast | None) -> str:
    """The additional needs of a sealed campaign, and the best pair without keyholders."""
    colluding = "one colludes" if sealed.degree == 1 else f"{sealed.degree} collude"
    needs = (
        f"It needs {sealed.seats} keyholders, of whom at most {colluding} with anyone: the policy "
        "is a plan until it names them and the server, which happens when the campaign is "
        "drafted."
    )
    if local is None:
        return needs
    return f"{needs} Without keyholders the best is {_described(local, domain)}."


def _choice(chosen: Forecast, table: Sequence[Forecast], domain: Domain) -> str:
    others = [one for one in table if one is not chosen]
    if not others:
        return (
            f"{_described(chosen, domain)} was the only one tried: others offer no advantage here, "
            "or devices refuse them."
        )
    best = others[0]
    excess, standard_error = best.difference(chosen)
    start = f"Of {len(table)} mechanisms tried on the same simulated campaigns, "
    if excess < 0:
        return (
            f"{start}{_described(best, domain)} did best, but {_described(chosen, domain)} comes "
            "within one standard error of it and is simpler."
        )
    sure = "more than chance explains" if excess > 2 * standard_error else "possibly by chance"
    return (
        f"{start}{_described(chosen, domain)} did best; next is {_described(best, domain)}: a "
        f"difference of {excess:.2g} (± {standard_error:.1g}), {sure}."
    )


def _described(forecast: Forecast, domain: Domain) -> str:
    name = forecast.pair.name if forecast.pair else "no mechanism"
    score = score_words(domain, forecast.error)
    return f"{name} ({score_name(domain)} {score} ± {forecast.standard_error:.1g})"
