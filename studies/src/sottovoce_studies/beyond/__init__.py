"""Studies beyond the papers: true guarantees, and accuracy at the same true guarantee."""

from sottovoce_studies.beyond import (
    adaptive_assignment,
    audit,
    aware_vs_papers,
    best_constant,
    calibration,
    default_regret,
    forecast_coverage,
    layers_per_answer,
    layers_per_worker,
    never_worse,
    true_guarantees,
    weighted_rounds,
)
from sottovoce_studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = (
    true_guarantees.STUDY,
    layers_per_answer.STUDY,
    layers_per_worker.STUDY,
    audit.STUDY,
    best_constant.STUDY,
    aware_vs_papers.STUDY,
    default_regret.STUDY,
    never_worse.STUDY,
    calibration.STUDY,
    forecast_coverage.STUDY,
    weighted_rounds.STUDY,
    adaptive_assignment.STUDY,
)
