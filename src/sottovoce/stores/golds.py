"""A table of known truths."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

import numpy as np

from sottovoce.errors import DataError
from sottovoce.model import Domain, Gold, Kind
from sottovoce.stores.answers import answers_of
from sottovoce.stores.coding import fault_of, names_of
from sottovoce.stores.faults import raise_first
from sottovoce.stores.naming import GOLD
from sottovoce.stores.opening import is_path, opened
from sottovoce.stores.sources import Source, local_file

__all__ = ["read_gold"]


def read_gold(
    source: Source,
    *,
    domain: Domain,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> Gold:
    """The truths in `source`: columns `task` and `truth` (or crowd-kit's `label`, `true_label`).

    `domain` is that of the answers: truths of numbers are floats, others text. A truth may lie
    outside the answers' range or labels; a task may have one truth only.

    >>> gold = read_gold({"task": ["t1"], "truth": [1]}, domain=Domain.categorical("01"))
    >>> gold.truths.tolist()
    ['1']
    """
    with ExitStack() as stack:
        place = stack.enter_context(local_file(source, format)) if is_path(source) else source
        table = stack.enter_context(opened(place, GOLD, columns))
        if table.one(f"SELECT 1 FROM {table.relation} LIMIT 1") == ():
            raise DataError("the table has a header but no rows", file=table.name)
        kind = Kind.NUMERIC if domain.is_numeric else Kind.CATEGORICAL
        truth = answers_of(table, kind, "truth")
        task = names_of(table, "task")
        raise_first(table, {"task": fault_of(task.codes), "truth": truth.faults}, truth.domain)
        codes, values = task.codes, truth.values
        _, first = np.unique(codes, return_index=True)
        if (values != values[first][codes]).any():
            position = int(np.argmax(values != values[first][codes]))
            raise DataError(
                f"task {task.names[codes[position]]!r} has a second, different truth: keep one",
                file=table.name,
                row=table.row_of(position),
            )
        values = values[first]
    if domain.is_numeric:
        return Gold(task.names, values)
    labels = np.array([str(label) for label in truth.domain.labels], dtype=object)
    return Gold(task.names, labels[values])
