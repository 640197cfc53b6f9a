"""Mechanisms, which turn answers into reports; each is one file."""

from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.laplace import Laplace
from sottovoce.mechanisms.matrix_factorization import MatrixFactorization
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.random_variance_gaussian import RandomVarianceGaussian
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.sampling import Sampled
from sottovoce.mechanisms.sealed_sum import Layout, SealedSum
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.mechanisms.two_layer import TwoLayer

__all__ = [
    "Duchi", "Laplace", "Layout", "MatrixFactorization", "NullRandomizedResponse", "Piecewise",
    "RandomVarianceGaussian", "RandomizedResponse", "Sampled", "SealedSum", "SubsetSelection",
    "Threshold", "TwoLayer",
]  # fmt: skip
