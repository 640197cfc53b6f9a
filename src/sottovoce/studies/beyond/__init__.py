"""Studies beyond the papers: what holds at the same true guarantee, and how well it can be done."""

from sottovoce.studies.beyond import aware_vs_papers, calibration, never_worse
from sottovoce.studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = (
    aware_vs_papers.STUDY,
    never_worse.STUDY,
    calibration.STUDY,
)
