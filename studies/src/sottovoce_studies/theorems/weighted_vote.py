"""The error probability of a weighted vote of workers of known accuracy: exact, and a bound.

Two labels. Workers answer independently; worker u is right with probability pᵤ. The label with the
greater sum of weights wins, and a coin decides ties. `DeltaLaw` is the law of P1's Δ when every
worker draws its own flip probability (P1 §6.2.3).

`published_…` are P1's own bounds on the error, eqs. 5 to 10, as printed. Their chain starts from
P(error) ≤ E Π exp(−t x w) and then takes (p/e + (1 − p) e)ʷ for the mean of a factor. That
mean is p exp(−w) + (1 − p) exp(w), which is 1 for log-odds weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy  # its parts are imported on first use

from sottovoce.errors import UsageError
from sottovoce.inference.weights import importance
from sottovoce.model import FloatArray
from sottovoce_studies.theorems.statement import (
    Published,
    check_between,
    check_whole,
    open_probabilities,
)

__all__ = [
    "DeltaLaw",
    "error_bound",
    "flipped",
    "log_odds",
    "published_change",
    "published_error_bound",
    "published_expanded_change",
    "published_folded_bound",
    "vote_error",
]

MOST_SCORES = 1 << 20
"""The maximum number of different sums of weights: 20 workers, all different."""

TIE = 1e-9
"""Sums closer to 0 than this, with the greatest weight 1, are ties; rounding leaves about 1e-12."""

_SLIP = "It uses (p/e + (1 - p)e)^w for E exp(-w x), which is p exp(-w) + (1 - p) exp(w)."


@dataclass(frozen=True, slots=True)
class DeltaLaw:
    """The product of the flip probabilities of n important workers, each drawn from U(0, b).

        f(Δ) = (ln(bⁿ / Δ))ⁿ⁻¹ / (bⁿ (n − 1)!),   0 < Δ ≤ bⁿ                   (P1 §6.2.3)

    So ln(bⁿ / Δ) is Gamma(n, 1). The law is right. P1's conclusion from it is not: Δ is the leading
    term of eq. 10, which is not a change of an error (`published_expanded_change`); and its mean is
    (b / 2)ⁿ, exactly the Δ of one layer with the same mean flip. Only the median is smaller.

    >>> law = DeltaLaw(b=0.8, n=3)
    >>> round(float(law.pdf(0.05)), 5), round(float(law.cdf(0.05)), 6), round(law.mean, 3)
    (5.28484, 0.589076, 0.064)
    >>> law.mean == law.one_layer, law.median < law.one_layer
    (True, True)
    """

    b: float
    n: int

    def __post_init__(self) -> None:
        check_between(0, math.nextafter(1, 2), b=self.b)
        check_whole(n=self.n)

    @property
    def greatest(self) -> float:
        """bⁿ, the largest Δ."""
        return self.b**self.n

    @property
    def mean(self) -> float:
        """E[Δ] = (b / 2)ⁿ, because the draws are independent."""
        return (self.b / 2) ** self.n

    @property
    def median(self) -> float:
        """The median of Δ."""
        return float(self.quantile(0.5))

    @property
    def one_layer(self) -> float:
        """Δ = (pᶠ)ⁿ of one layer that flips with the mean of U(0, b), pᶠ = b / 2 (P1 §6.3)."""
        return (self.b / 2) ** self.n

    def pdf(self, delta: npt.ArrayLike) -> FloatArray:
        """f(Δ); 0 outside (0, bⁿ]."""
        depth = self._depth(delta)
        inside = np.isfinite(depth) & (depth >= 0)
        log_density = scipy.special.xlogy(self.n - 1, np.where(inside, depth, 1.0))
        log_density -= self.n * math.log(self.b) + math.lgamma(self.n)
        return np.asarray(np.exp(np.where(inside, log_density, -math.inf)))

    def cdf(self, delta: npt.ArrayLike) -> FloatArray:
        """P(Δ ≤ delta) = Q(n, ln(bⁿ / delta)), the upper incomplete gamma function."""
        return np.asarray(scipy.special.gammaincc(self.n, np.maximum(self._depth(delta), 0.0)))

    def quantile(self, share: npt.ArrayLike) -> FloatArray:
        """The quantile of Δ at this share."""
        shares = np.asarray(share, np.float64)
        if not ((shares >= 0) & (shares <= 1)).all():
            raise UsageError(f"share must lie in [0, 1], not {shares}")
        depth = scipy.special.gammainccinv(self.n, shares)
        return np.asarray(np.exp(self.n * math.log(self.b) - depth))

    def _depth(self, delta: npt.ArrayLike) -> FloatArray:
        """ln(bⁿ / Δ), infinite for Δ ≤ 0."""
        below = np.asarray(delta, np.float64)
        safe = np.where(below > 0, below, 1.0)
        return np.where(below > 0, self.n * math.log(self.b) - np.log(safe), math.inf)


def log_odds(accuracy: npt.ArrayLike) -> FloatArray:
    """The best weights, w = ln(p / (1 − p)) (P1 §6.2.1): no other vote errs less."""
    right = open_probabilities("accuracy", accuracy)
    return np.asarray(np.log(right) - np.log1p(-right))


def flipped(accuracy: npt.ArrayLike, flip: npt.ArrayLike) -> FloatArray:
    """The accuracy of reports that are flipped answers: p + f (1 − 2p) (P1 eq. 7).

    >>> flipped([0.9, 0.6], 0.25).round(3).tolist()
    [0.7, 0.55]
    """
    right = open_probabilities("accuracy", accuracy)
    chance = np.asarray(flip, np.float64)
    if not ((chance >= 0) & (chance <= 1)).all():
        raise UsageError(f"flip must lie in [0, 1], not {chance}")
    if chance.ndim and chance.shape != right.shape:
        raise UsageError(f"flip must be one number or {len(right)}, one per worker")
    return np.asarray(right + chance * (1 - 2 * right))


def error_bound(accuracy: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """An upper bound on the error of a vote with these weights, losing every tie (Chernoff).

        P(Σ w x ≤ 0) ≤ E exp(−t Σ w x) = Π (p exp(−tw) + (1 − p) exp(tw)),   any t ≥ 0

    Here x is +1 for a right answer and −1 for a wrong one. With log-odds weights, the default, t =
    ½ is best and the product is Π 2 √(p (1 − p)); with others the best t is searched for.

    >>> round(error_bound([0.9] * 5), 5)
    0.07776
    """
    right = open_probabilities("accuracy", accuracy)
    if weights is None:
        return float(np.exp(np.log(4 * right * (1 - right)).sum() / 2))
    scaled = _scaled(right, weights)

    def log_product(t: float) -> float:
        right_part, wrong_part = np.log(right) - t * scaled, np.log1p(-right) + t * scaled
        return float(np.logaddexp(right_part, wrong_part).sum())

    return math.exp(min(0.0, log_product(_best_tilt(right, scaled, log_product))))


def vote_error(accuracy: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """The error probability of the vote, summed over all sums of weights; ties count half.

    Equal sums are merged, so workers of equal accuracy cost little, in any number. Different ones
    double the sums, and beyond 20 or so the crowd is refused.

    >>> round(vote_error([0.9] * 5), 5)
    0.00856
    """
    right = open_probabilities("accuracy", accuracy)
    scaled = _scaled(right, log_odds(right) if weights is None else weights)
    sums: FloatArray = np.zeros(1)
    chances: FloatArray = np.ones(1)
    for p, w in zip(right, scaled, strict=True):
        both = np.round(np.concatenate([sums + w, sums - w]), 12)
        sums, place = np.unique(both, return_inverse=True)
        both = np.concatenate([chances * p, chances * (1 - p)])
        chances = np.bincount(place, both).astype(np.float64)
        if len(sums) > MOST_SCORES:
            raise UsageError(
                f"{len(right)} workers have too many different weights for an exact error; use "
                "error_bound, or round their accuracies"
            )
    tied = np.abs(sums) < TIE
    return float(chances[(sums < 0) & ~tied].sum() + chances[tied].sum() / 2)


def _scaled(right: FloatArray, weights: npt.ArrayLike) -> FloatArray:
    """The weights over the greatest of them: a vote does not depend on their scale."""
    given = np.asarray(weights, np.float64)
    if given.shape != right.shape or not np.isfinite(given).all():
        raise UsageError(f"weights must be {len(right)} finite numbers, one per worker")
    greatest = np.abs(given).max()
    return np.asarray(given / greatest if greatest else given)


def _best_tilt(
    right: FloatArray, scaled: FloatArray, log_product: Callable[[float], float]
) -> float:
    """The t ≥ 0 with the least product: a convex sum, so between the best t of its terms."""
    counted = scaled != 0
    if not counted.any():
        return 0.0
    with np.errstate(over="ignore"):  # a weight near 0 has its best t anywhere
        own = log_odds(right[counted]) / (2 * scaled[counted])
    # No factor is below 2√(p(1−p)), and that of the greatest weight, 1, grows like exp(t): beyond
    # this t the product is above 1, its value at 0.
    rarer = np.minimum(right, 1 - right)[np.abs(scaled).argmax()]
    farthest = -math.log(rarer) - float(np.log(4 * right * (1 - right)).sum()) / 2
    low = float(np.clip(own.min(), 0.0, farthest))
    high = float(np.clip(own.max(), 0.0, farthest))
    if high - low <= TIE * high:
        return low
    found = scipy.optimize.minimize_scalar(log_product, bounds=(low, high), method="bounded")
    return float(found.x)


def published_error_bound(
    accuracy: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Published:
    """Π (p/e + (1 − p) e)ʷ (P1 eq. 5), with log-odds weights by default (eq. 6).

    For reports (eq. 8) give the accuracy of reports, `flipped(accuracy, flip)`.

    >>> bound = published_error_bound([0.9] * 5)
    >>> round(bound.value, 5), round(bound.sound, 5), bound.holds
    (0.00385, 0.07776, False)
    """
    right = open_probabilities("accuracy", accuracy)
    sound = error_bound(right, weights)
    given = log_odds(right) if weights is None else np.asarray(weights, np.float64)
    with np.errstate(over="ignore"):  # for a large crowd near ½ the product overflows
        value = float(np.exp((given * np.log(right / np.e + (1 - right) * np.e)).sum()))
    return Published(
        value=value,
        sound=sound,
        holds=value >= sound,
        source="P1 eq. 6" if weights is None else "P1 eq. 5",
        note=_SLIP,
    )


def published_folded_bound(accuracy: npt.ArrayLike) -> Published:
    """Eq. 6 once every p above ½ is replaced by 1 − p, as P1 §6.2.1 does: Π 1 / Im(u).

    P1 calls this no loss of generality. The true error is the same for p and 1 − p, and so is the
    sound bound; eq. 6 is not. Accuracies beyond .02 and .98 are clipped to these, as in
    `importance`.

    >>> float(f"{published_folded_bound([0.9] * 5).value:.2g}")
    4.6e-05
    """
    right = open_probabilities("accuracy", accuracy)
    value = float(np.exp(-np.log(importance(right)).sum()))
    sound = error_bound(right)
    return Published(
        value=value,
        sound=sound,
        holds=value >= sound,
        source="P1 eq. 6 with p folded to 1 - p",
        note=f"{_SLIP} The fold then changes the figure, but not the error.",
    )


def published_change(accuracy: npt.ArrayLike, flip: npt.ArrayLike) -> Published:
    """Δ = Π 2p̂ − Π 2p, P1's change of the error when answers are flipped (eq. 9).

    With p folded to at most ½ and p̂ = p + f (1 − 2p). Sound is the change of the exact error.

    >>> change = published_change([0.9] * 5, 0.25)
    >>> round(change.value, 4), round(change.sound, 4)
    (0.0774, 0.1545)
    """
    before, after = _folded(accuracy, flip)
    value = float(np.prod(2 * after) - np.prod(2 * before))
    note = "2p approximates eq. 6's factor, which is not a bound."
    return _against_the_change(value, "P1 eq. 9", note, accuracy, flip)


def published_expanded_change(accuracy: npt.ArrayLike, flip: npt.ArrayLike) -> Published:
    """Δ = Π f (1 − 2p) + Σ p Π f′ (1 − 2p′) + …, eq. 9 multiplied out (eq. 10).

    The terms add up to Π p̂ − Π p: the factor 2ⁿ of eq. 9 is missing.

    >>> whole, expanded = (c([0.9] * 5, 0.25).value for c in (
    ...     published_change, published_expanded_change))
    >>> round(whole / expanded, 9)
    32.0
    """
    before, after = _folded(accuracy, flip)
    value = float(np.prod(after) - np.prod(before))
    note = f"It loses the factor 2^{len(before)} of eq. 9, which is itself not a bound."
    return _against_the_change(value, "P1 eq. 10", note, accuracy, flip)


def _folded(accuracy: npt.ArrayLike, flip: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """p at most ½, and p̂."""
    right = open_probabilities("accuracy", accuracy)
    before = np.minimum(right, 1 - right)
    return before, flipped(before, flip)


def _against_the_change(
    value: float, source: str, note: str, accuracy: npt.ArrayLike, flip: npt.ArrayLike
) -> Published:
    """A published change, and the change of the exact error."""
    sound = vote_error(flipped(accuracy, flip)) - vote_error(accuracy)
    return Published(value=value, sound=sound, holds=value >= sound, source=source, note=note)
