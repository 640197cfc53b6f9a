"""Simulated crowds, and real datasets from a cache."""

from sottovoce.datasets.crowd_tables import generate, stream_to_parquet
from sottovoce.datasets.crowds import (
    Ability,
    Block,
    CategoricalCrowd,
    Crowd,
    NumericCrowd,
    SparseCrowd,
)
from sottovoce.datasets.dataset_cache import (
    DatasetCard,
    add,
    data_folder,
    describe,
    list_datasets,
    load,
)
from sottovoce.datasets.seeded_randomness import SeededRandomness

__all__ = [
    "Ability", "Block", "CategoricalCrowd", "Crowd", "DatasetCard", "NumericCrowd",
    "SeededRandomness", "SparseCrowd", "add", "data_folder", "describe", "generate",
    "list_datasets", "load", "stream_to_parquet",
]  # fmt: skip
