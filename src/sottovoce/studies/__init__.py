"""Studies: claims of the papers and of Sottovoce, each checked by a run."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from sottovoce.errors import UsageError
from sottovoce.studies import beyond, p1, p2, p3, p4
from sottovoce.studies.catalogue import ITEMS, slug
from sottovoce.studies.cells import Kept, studies_folder
from sottovoce.studies.study import Outcome, Row, Size, Study, Verdict

__all__ = [
    "GROUPS",
    "ITEMS",
    "STUDIES",
    "Kept",
    "Outcome",
    "Row",
    "Size",
    "Study",
    "Verdict",
    "studies_folder",
    "study_named",
]

GROUPS: Mapping[str, tuple[Study, ...]] = MappingProxyType(
    {
        "P1": p1.STUDIES,
        "P2": p2.STUDIES,
        "P3": p3.STUDIES,
        "P4": p4.STUDIES,
        "beyond the papers": beyond.STUDIES,
    }
)
"""The studies of each paper, in the order of its tables and figures, and those beyond them."""

STUDIES: Mapping[str, Study] = MappingProxyType(
    {study.name: study for studies in GROUPS.values() for study in studies}
)
"""Every study by its name."""

_BY_ITEM = {slug(item): study for study in STUDIES.values() for item in study.items}


def study_named(name: str) -> Study:
    """The study of that name, or of that table or figure, or an error that says which there are.

    >>> study_named("p2-figure-3").name
    'worker-private-em'
    """
    typed = name.lower().replace("_", "-").replace(" ", "-")
    found = STUDIES.get(typed) or _BY_ITEM.get(typed)
    if found is None:
        near = difflib.get_close_matches(typed, [*STUDIES, *_BY_ITEM], 1)
        hint = f"did you mean {near[0]}?" if near else "`sottovoce reproduce --list` names them"
        raise UsageError(f"no study {name!r}: {hint}")
    return found
