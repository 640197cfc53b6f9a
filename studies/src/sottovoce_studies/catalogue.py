"""The catalogue of the papers' tables and figures, and of the studies that check them.

A study checks a claim of the papers or of Sottovoce with a run.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from sottovoce.errors import UsageError
from sottovoce_studies import beyond, p1, p2, p3, p4
from sottovoce_studies.study import Study

__all__ = ["GROUPS", "ITEMS", "STUDIES", "slug", "study_named"]


ITEMS: Mapping[str, str] = MappingProxyType(
    {
        "P1 Table 1": "statistics of the real datasets",
        "P1 Table 2": "change of the error rate on peer grades, 13 epsilons, 4 methods",
        "P1 Table 3": "change of the error rate on Duchenne smiles, 13 epsilons, 4 methods",
        "P1 Figure 1": "density of the change of the error rate",
        "P1 Figure 2": "weights of users before and after perturbation",
        "P1 Figure 3": "utility against privacy on both datasets",
        "P1 §7.3 users": "effect of important users",
        "P1 §7.3 methods": "other truth discovery methods",
        "P1 §7.3 hyper": "other hyper distributions",
        "P1 §7.3 scaling": "running time against the size of the data",
        "P2 Table 1": "accuracy of majority vote, plain and private EM",
        "P2 Figure 2": "relative error of parameters against L",
        "P2 Figure 3": "rounds against L",
        "P2 Figure 4": "time of key generation and of one sum against workers",
        "P2 Theorem 1": "labels are not determined by the opened sums",
        "P3 Figure 1": "utility and noise against epsilon, synthetic data",
        "P3 Figure 2": "effect of lambda1",
        "P3 Figure 3": "effect of the number of users",
        "P3 Figure 4": "utility and noise against epsilon, GTM",
        "P3 Figure 5": "utility and noise against epsilon, floorplans",
        "P3 Figure 6": "true and estimated weights of seven users",
        "P3 Figure 7": "running time against noise",
        "P4 Table II": "statistics of the real datasets",
        "P4 Figure 1": "distribution of answers in the real datasets",
        "P4 Figure 2": "change of the MAE against epsilon, 2,000 workers, 200 tasks",
        "P4 Figure 3": "change of the MAE against sparsity, 2,000 workers, 200 tasks",
        "P4 Figure 4": "change of the MAE against sparsity, 10,000 workers, 1,000 tasks",
        "P4 Figure 5": "change of the MAE against epsilon on the real datasets",
        "P4 examples": "worked examples of Theorems 2, 3 and 5",
    }
)
"""Descriptions of the tables and figures by name."""


def slug(item: str) -> str:
    """The name of an item as typed in a command.

    >>> slug("P1 §7.3 users"), slug("P4 Table II")
    ('p1-7.3-users', 'p4-table-ii')
    """
    return item.lower().replace("§", "").replace(" ", "-")


GROUPS: Mapping[str, tuple[Study, ...]] = MappingProxyType(
    {
        "P1": p1.STUDIES,
        "P2": p2.STUDIES,
        "P3": p3.STUDIES,
        "P4": p4.STUDIES,
        "beyond the papers": beyond.STUDIES,
    }
)
"""The studies of each paper, in the order of its tables and figures, and the further studies."""

STUDIES: Mapping[str, Study] = MappingProxyType(
    {study.name: study for studies in GROUPS.values() for study in studies}
)
"""All studies by name."""

_BY_ITEM = {slug(item): study for study in STUDIES.values() for item in study.items}


def study_named(name: str) -> Study:
    """The study with this name, table or figure; an error suggests a name if there is none.

    >>> study_named("p2-figure-3").name
    'worker-private-em'
    """
    typed = name.lower().replace("_", "-").replace(" ", "-")
    found = STUDIES.get(typed) or _BY_ITEM.get(typed)
    if found is None:
        near = difflib.get_close_matches(typed, [*STUDIES, *_BY_ITEM], 1)
        hint = f"did you mean {near[0]}?" if near else "see `sottovoce reproduce --list`"
        raise UsageError(f"no study {name!r}: {hint}")
    return found
