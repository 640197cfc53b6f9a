"""Forecasts in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Domain
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.simulating import Forecast
from sottovoce.planning.spreads import BAND

__all__ = [
    "band_words",
    "reason_of",
    "scaled_words",
    "score_name",
    "score_of",
    "score_words",
    "sealed_words",
]


def score_of(domain: Domain, error: float) -> float:
    """What people read: the accuracy for labels, the mean distance for numbers."""
    return error if domain.is_numeric else 1 - error


def score_name(domain: Domain) -> str:
    """What `score_of` is called."""
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
    """Why a pair was chosen: what was tried, how the best did, and what to expect of it."""
    domain = scenario.domain
    expected = (
        f"Expect {score_name(domain)} {score_words(domain, chosen.error)}; {100 * BAND:g} % of "
        f"such campaigns lie from {band_words(domain, chosen)}."
    )
    sentences = [_choice(chosen, table, domain), expected, scaled_words(scenario, simulated)]
    return " ".join(filter(None, sentences))


def scaled_words(scenario: Scenario, simulated: Scenario) -> str:
    """That a smaller campaign was simulated, if one was."""
    if simulated == scenario:
        return ""
    return (
        f"The campaign is large, so a smaller one was simulated, with as many answers to each "
        f"task: {simulated.workers:,} workers with {simulated.answers_per_worker:,} answers each "
        f"on {simulated.tasks:,} tasks; the band of the large one is narrower."
    )


def sealed_words(domain: Domain, sealed: SealedSum, local: Forecast | None) -> str:
    """What a sealed campaign needs besides, and what is best without it."""
    colluding = "one colludes" if sealed.degree == 1 else f"{sealed.degree} collude"
    needs = (
        f"It needs {sealed.seats} keyholders of whom at most {colluding} with anybody: the policy "
        "is a plan until it names them and the server, as drafting the campaign does."
    )
    if local is None:
        return needs
    return f"{needs} Without keyholders the best is {_described(local, domain)}."


def _choice(chosen: Forecast, table: Sequence[Forecast], domain: Domain) -> str:
    others = [one for one in table if one is not chosen]
    if not others:
        return f"{_described(chosen, domain)} was tried alone: others have no more to offer here."
    best = others[0]
    excess, standard_error = best.difference(chosen)
    start = f"Of {len(table)} mechanisms tried on the same simulated campaigns, "
    if excess < 0:
        return (
            f"{start}{_described(best, domain)} did best, and {_described(chosen, domain)} comes "
            "within one standard error of it and is simpler."
        )
    sure = (
        "more than chance explains"
        if excess > 2 * standard_error
        else "no more than chance may explain"
    )
    return (
        f"{start}{_described(chosen, domain)} did best; next is {_described(best, domain)}: a "
        f"difference of {excess:.2g} (± {standard_error:.1g}), {sure}."
    )


def _described(forecast: Forecast, domain: Domain) -> str:
    name = forecast.pair.name if forecast.pair else "no mechanism"
    score = score_words(domain, forecast.error)
    return f"{name} ({score_name(domain)} {score} ± {forecast.standard_error:.1g})"
