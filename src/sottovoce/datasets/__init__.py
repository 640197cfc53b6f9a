"""Simulated crowds, and real datasets from a cache."""

from sottovoce.datasets.adding import add
from sottovoce.datasets.cache import data_folder, describe, list_datasets, load
from sottovoce.datasets.cards import DatasetCard
from sottovoce.datasets.categorical import Ability, CategoricalCrowd
from sottovoce.datasets.crowd import Block, Crowd
from sottovoce.datasets.generating import generate
from sottovoce.datasets.numeric import NumericCrowd
from sottovoce.datasets.seeded import SeededRandomness
from sottovoce.datasets.sparse import SparseCrowd
from sottovoce.datasets.streaming import stream_to_parquet

__all__ = [
    "Ability",
    "Block",
    "CategoricalCrowd",
    "Crowd",
    "DatasetCard",
    "NumericCrowd",
    "SeededRandomness",
    "SparseCrowd",
    "add",
    "data_folder",
    "describe",
    "generate",
    "list_datasets",
    "load",
    "stream_to_parquet",
]
