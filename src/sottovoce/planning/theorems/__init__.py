"""The papers' theorems as calculators: what was printed, beside what holds. Pure maths."""

from sottovoce.planning.theorems.delta_law import DeltaLaw
from sottovoce.planning.theorems.gaussian_privacy import (
    noise_floor,
    published_noise_floor,
    published_range,
    published_tradeoff_floor,
    range_probability,
)
from sottovoce.planning.theorems.gaussian_published import (
    published_alpha_bound,
    published_beta_bound,
    published_mean_distance,
    published_noise_ceiling,
)
from sottovoce.planning.theorems.gaussian_utility import (
    alpha_bound,
    beta_bound,
    mean_distance,
    noise_ceiling,
    variance_of_mean,
)
from sottovoce.planning.theorems.majority import error_bound, flipped, log_odds, vote_error
from sottovoce.planning.theorems.majority_published import (
    published_change,
    published_error_bound,
    published_expanded_change,
    published_folded_bound,
)
from sottovoce.planning.theorems.published import Published
from sottovoce.planning.theorems.sparse import (
    ExpectedError,
    SparseSetting,
    factorization_error,
    keep_probability,
    laplace_error,
    null_response_error,
)
from sottovoce.planning.theorems.sparse_published import (
    published_factorization_error,
    published_laplace_error,
    published_null_response_error,
)

__all__ = [
    "DeltaLaw",
    "ExpectedError",
    "Published",
    "SparseSetting",
    "alpha_bound",
    "beta_bound",
    "error_bound",
    "factorization_error",
    "flipped",
    "keep_probability",
    "laplace_error",
    "log_odds",
    "mean_distance",
    "noise_ceiling",
    "noise_floor",
    "null_response_error",
    "published_alpha_bound",
    "published_beta_bound",
    "published_change",
    "published_error_bound",
    "published_expanded_change",
    "published_factorization_error",
    "published_folded_bound",
    "published_laplace_error",
    "published_mean_distance",
    "published_noise_ceiling",
    "published_noise_floor",
    "published_null_response_error",
    "published_range",
    "published_tradeoff_floor",
    "range_probability",
    "variance_of_mean",
    "vote_error",
]
