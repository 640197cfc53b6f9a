"""The papers' pipelines as pairs of randomiser and aggregator, by domain."""

from __future__ import annotations

from sottovoce.mechanisms.policies import release_of, weakest_guarantee
from sottovoce.mechanisms.targets import Target
from sottovoce.model import Domain, Guarantee, Kind, Policy
from sottovoce.planning.pairs import Pair

__all__ = ["P3_DELTA", "P4_RIDGE", "papers", "true_guarantee"]

P3_DELTA = 0.1
"""P3 prints no delta, and its mechanism keeps no promise at 0: this one is ours, and generous."""

P4_RIDGE = 0.01
"""P4 Alg. 2 has no minimum for a worker with fewer answers than dimensions, unless ridged."""

_LABELS = (
    Pair("randomised response + majority vote", "randomized-response", "majority-vote"),
    Pair("one-layer + TD", "randomized-response", "td"),
    Pair("two-layer + TD", "two-layer", "td"),
    Pair("two-layer as published + TD", "two-layer", "td", published=True),
)
_HIDDEN_LABELS = (
    Pair("randomised response + majority vote", "null-randomized-response", "majority-vote"),
    Pair("two-layer + TD", "two-layer", "td"),
    Pair("two-layer as published + TD", "two-layer", "td", published=True),
)
_NUMBERS = (
    Pair("random-variance Gaussian + CRH", "random-variance-gaussian", "crh", delta=P3_DELTA),
    Pair("random-variance Gaussian + GTM", "random-variance-gaussian", "gtm", delta=P3_DELTA),
    Pair("Laplace + CRH", "laplace", "crh"),
    Pair("Laplace + median", "laplace", "median"),
)
_LP = Pair("LP + inverse-deviation", "laplace", "inverse-deviation", published=True)
_RR = Pair("RR + inverse-deviation", "null-randomized-response", "inverse-deviation")
_MF = Pair(
    "MF + inverse-deviation", "matrix-factorization", "inverse-deviation",
    {"ridge": P4_RIDGE}, published=True,
)  # fmt: skip
_LP_NUMBERS = Pair("LP + inverse-deviation", "laplace", "inverse-deviation", {"null": "random"})
_MF_NUMBERS = Pair("MF + inverse-deviation", "matrix-factorization", "inverse-deviation")


def papers(domain: Domain, *, hide_participation: bool = False) -> tuple[Pair, ...]:
    """The papers' pipelines for a domain: P1 for labels, P3 for numbers, P4 for private NULLs.

    Sound calibrations, but for those marked `published`: a second two-layer (P1 Thm. 6.3), and LP
    and MF for labels (P4 Eqs. 6-9). Over a range of numbers LP and MF are calibrated soundly too:
    P4's noise grows with the number of values, and a range has as many as its grid has points.

    >>> [pair.name for pair in papers(Domain.numeric(0, 10), hide_participation=True)]
    ['LP + inverse-deviation', 'MF + inverse-deviation']
    """
    if not hide_participation:
        return _NUMBERS if domain.is_numeric else _LABELS
    if domain.kind is Kind.ORDINAL:
        return (_LP, _RR, _MF)
    return (_LP_NUMBERS, _MF_NUMBERS) if domain.is_numeric else _HIDDEN_LABELS


def true_guarantee(policy: Policy, target: Target) -> Guarantee:
    """What a policy keeps for every worker of the target, whatever it was calibrated to.

    A policy's own delta counts where it has one: a mechanism may keep no promise at the target's.
    """
    delta = target.delta if policy.promise is None else policy.promise.delta
    return weakest_guarantee(release_of(policy), target.answers, target.unit, delta)
