"""The papers' theorems as calculators: the printed figure, and the correct one. Pure maths."""

from sottovoce_studies.theorems import (
    catalogue,
    gaussian_noise,
    privacy_claims,
    sparse_numbers,
    weighted_vote,
)
from sottovoce_studies.theorems.catalogue import *  # noqa: F403 - each name is listed once
from sottovoce_studies.theorems.gaussian_noise import *  # noqa: F403
from sottovoce_studies.theorems.privacy_claims import *  # noqa: F403
from sottovoce_studies.theorems.sparse_numbers import *  # noqa: F403
from sottovoce_studies.theorems.statement import Published
from sottovoce_studies.theorems.weighted_vote import *  # noqa: F403

__all__ = ["Published"]
__all__ += catalogue.__all__
__all__ += gaussian_noise.__all__
__all__ += privacy_claims.__all__
__all__ += sparse_numbers.__all__
__all__ += weighted_vote.__all__
__all__.sort()
