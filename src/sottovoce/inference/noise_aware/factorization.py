"""Numbers from matrix factorisation reports: truths from noisy sums over tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import NUMBERS, Settled, check_parameters, number_result
from sottovoce.inference.noise_aware.grid_model import span
from sottovoce.inference.steps.means import WeightedMeans
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.model import Domain, FactorChannel, FloatArray, Kind, Result
from sottovoce.seams import Engine

SPREADS = np.geomspace(1e-3, 1.0, 25)
"""Deviations of truths that are tried, as shares of the range."""


@dataclass(frozen=True, slots=True)
class AwareFactorization:
    """Truths from reports that only hold a few noisy sums over tasks (P4 Alg. 2, corrected).

    The mean report of each task gives the mean of workers' sums, which is z = V o + noise with o
    the mean offset from the centre c. A cell is answered with probability `participation`, and
    otherwise has offset 0, so with m workers

        z ~ N( participation V (t - c),  ( noise I + participation range² / 12 · V Vᵀ ) / m )

    where the second term is the randomness of who answers what, for answers spread over the range.
    The prior is tⱼ ~ N(μ, τ²), μ ~ N(c, range² / 12), with the τ that maximises the likelihood of
    z: truths shrink towards the mean as far as the noise requires. There are fewer sums than tasks,
    so this rarely tells much more than the mean; the standard errors show it.

    Sums of offsets cannot distinguish few answers far from the centre from many near it. So
    `participation` is taken as public; if it is wrong by a factor, so is the distance of truths
    from the centre, and the standard errors do not cover that. Workers cannot be distinguished, and
    all have weight 1.
    """

    channel: FactorChannel = field(repr=False)
    domain: Domain = field(repr=False)
    participation: float = field(default=0.5, kw_only=True)

    name: ClassVar[str] = "aware-factorization"
    takes: ClassVar[frozenset[Kind]] = NUMBERS

    def __post_init__(self) -> None:
        check_parameters(self)
        span(self.domain)
        if not isinstance(self.channel, FactorChannel):
            raise UsageError("aware-factorization takes reports of matrix factorisation only")
        if not 0 < self.participation <= 1:
            raise UsageError(
                f"participation must be above 0 and at most 1, not {self.participation:g}"
            )
        if self.channel.profiles.ndim != 2 or not np.isfinite(self.channel.profiles).all():
            raise UsageError(
                "profiles must have a row for each dimension and a column for each task"
            )
        if not (self.channel.ridge >= 0 and self.channel.noise_variance > 0):
            raise UsageError(
                "a factorisation channel needs positive noise and a ridge that is not negative"
            )

    def fit(self, engine: Engine) -> Result:
        if self.channel.profiles.shape[1] != len(engine.tasks):
            raise UsageError(
                f"the channel has profiles of {self.channel.profiles.shape[1]:,} tasks, but the "
                f"table has {len(engine.tasks):,}"
            )
        workers = len(engine.workers)
        means = engine.map(WeightedMeans(np.ones(workers)))[:, 0]
        reporting = int(np.count_nonzero(engine.total(AnswersPerWorker(workers))))
        offsets = self._posterior(self._sums(means), reporting)
        low, high = span(self.domain)
        return number_result(
            self,
            engine,
            np.clip(self.channel.centre + offsets.mean, low, high),
            Settled(np.ones(workers), 1, converged=True),
            standard_error=offsets.deviation,
            domain=self.domain if self.domain.is_numeric else Domain.numeric(low, high),
        )

    def _sums(self, means: FloatArray) -> FloatArray:
        """The mean of workers' noisy sums, from the mean report of each task."""
        profiles = self.channel.profiles
        factors = np.linalg.lstsq(profiles.T, means - self.channel.centre, rcond=None)[0]
        return np.asarray(profiles @ (profiles.T @ factors) + self.channel.ridge * factors)

    def _posterior(self, sums: FloatArray, workers: int) -> _Offsets:
        """The offsets under the spread of truths that maximises the likelihood of the sums."""
        low, high = span(self.domain)
        wide, profiles = (high - low) ** 2 / 12, self.channel.profiles
        observed, total = sums / self.participation, profiles.sum(axis=1)
        gram, eye = profiles @ profiles.T, np.eye(len(profiles))
        noise = self.channel.noise_variance * eye + self.participation * wide * gram
        noise = noise / (workers * self.participation**2) + wide * np.outer(total, total)
        spreads = np.square((high - low) * SPREADS)
        fits = [_log_density(observed, noise + spread * gram) for spread in spreads]
        spread = float(spreads[np.argmax(fits)])
        # The covariance of each task's offset with the sums, and the posterior mean given the sums.
        joint = spread * profiles.T + wide * total
        gain = np.linalg.solve(noise + spread * gram, joint.T).T
        variance = spread + wide - np.einsum("td,td->t", gain, joint)
        return _Offsets(gain @ observed, np.sqrt(np.maximum(variance, 0.0)))


class _Offsets(NamedTuple):
    mean: FloatArray
    deviation: FloatArray


def _log_density(values: FloatArray, covariance: FloatArray) -> float:
    """ln N(values; 0, covariance), up to a constant."""
    root = np.linalg.cholesky(covariance)
    white = np.linalg.solve(root, values)
    return -float(np.log(np.diag(root)).sum()) - float(white @ white) / 2
