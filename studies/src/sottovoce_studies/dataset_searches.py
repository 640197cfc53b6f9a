"""Searches of the dataset cache for data that a paper used, by the sizes that it prints."""

from __future__ import annotations

from sottovoce import datasets
from sottovoce.errors import DataError
from sottovoce_studies.cells import Cell
from sottovoce_studies.dataset_search import find

__all__ = ["search"]


def search(workers: int, tasks: int) -> Cell:
    """A search for a dataset of these sizes; its result is a sentence.

    The names of the cached datasets are an argument, so that another cache is searched again.
    """
    try:
        names = tuple(card.name for card in datasets.list_datasets())
    except DataError:
        names = ()
    return Cell(searched, (workers, tasks, names))


def searched(workers: int, tasks: int, names: tuple[str, ...]) -> str:
    """The outcome of a search among the named datasets, in a sentence."""
    if not names:
        return "no dataset is in the cache to search"
    return str(find(workers=workers, tasks=tasks))
