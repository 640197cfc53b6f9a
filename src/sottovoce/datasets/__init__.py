"""Simulated crowds, and real datasets from a cache."""

from sottovoce.datasets.categorical import Ability, CategoricalCrowd
from sottovoce.datasets.crowd import Block, Crowd, generate
from sottovoce.datasets.numeric import NumericCrowd
from sottovoce.datasets.sparse import SparseCrowd
from sottovoce.datasets.streaming import stream_to_parquet

__all__ = [
    "Ability",
    "Block",
    "CategoricalCrowd",
    "Crowd",
    "NumericCrowd",
    "SparseCrowd",
    "generate",
    "stream_to_parquet",
]
