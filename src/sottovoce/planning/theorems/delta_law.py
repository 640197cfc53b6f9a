"""The law of P1's Δ when every worker draws a flip probability of its own (P1 §6.2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when first used

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce.planning.theorems.checking import check_between, check_whole

__all__ = ["DeltaLaw"]


@dataclass(frozen=True, slots=True)
class DeltaLaw:
    """The product of the flip probabilities of n important workers, each drawn from U(0, b).

        f(Δ) = (ln(bⁿ / Δ))ⁿ⁻¹ / (bⁿ (n − 1)!),   0 < Δ ≤ bⁿ                   (P1 §6.2.3)

    So ln(bⁿ / Δ) is Gamma(n, 1). The law is right. What P1 reads from it is not: Δ is the leading
    term of eq. 10, which is no change of an error (`published_expanded_change`); and its mean is
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
        """E[Δ] = (b / 2)ⁿ, for the draws are independent."""
        return (self.b / 2) ** self.n

    @property
    def median(self) -> float:
        """The Δ that half of the draws stay below."""
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
        """The Δ that this share of the draws stays below."""
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
