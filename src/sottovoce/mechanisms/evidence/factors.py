"""Reports of the sound matrix factorisation: a few noisy sums of each worker, spread over tasks."""

from __future__ import annotations

from sottovoce.mechanisms.laws.profiles import integer_profiles
from sottovoce.mechanisms.matrix_factorization import MatrixFactorization
from sottovoce.model import Domain, FactorChannel, Grid, Names

__all__ = ["factor_channel"]


def factor_channel(mechanism: MatrixFactorization, domain: Domain, tasks: Names) -> FactorChannel:
    """The public profiles of the tasks, and the variance of the noise on the domain's scale."""
    grid = Grid.over(domain)
    profiles = integer_profiles(tasks, mechanism.dimension, mechanism.resolution, mechanism.salt)
    return FactorChannel(
        float(grid.low),
        float(grid.high),
        float(grid.values(mechanism.middle)),
        profiles.astype(float),
        float(mechanism.ridge),
        mechanism.noise_variance * float(grid.step) ** 2,
    )
