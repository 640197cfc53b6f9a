"""Studies: claims about what Sottovoce and the papers achieve, each checked by a run."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from sottovoce.errors import UsageError
from sottovoce.studies import (
    aware_vs_papers,
    calibration,
    label_recovery,
    never_worse,
    worker_private_em,
)
from sottovoce.studies.cells import Kept, studies_folder
from sottovoce.studies.study import Outcome, Row, Size, Study

__all__ = ["STUDIES", "Kept", "Outcome", "Row", "Size", "Study", "studies_folder", "study_named"]

STUDIES: Mapping[str, Study] = MappingProxyType(
    {
        study.name: study
        for study in (
            aware_vs_papers.STUDY,
            never_worse.STUDY,
            calibration.STUDY,
            worker_private_em.STUDY,
            label_recovery.STUDY,
        )
    }
)
"""Every study by its name."""


def study_named(name: str) -> Study:
    """The study of that name, or an error that says which names there are."""
    if name not in STUDIES:
        near = difflib.get_close_matches(name.lower().replace("_", "-"), STUDIES, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(STUDIES)}"
        raise UsageError(f"no study {name!r}: {hint}")
    return STUDIES[name]
