"""Studies of P1, the two-layer mechanism: tables, figures and experiments it only mentions."""

from sottovoce_studies.p1 import (
    figure_1,
    figure_2,
    figure_3,
    hyper_distributions,
    important_workers,
    other_methods,
    processor_time,
    table_1,
    table_2,
    table_3,
)
from sottovoce_studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = (
    table_1.STUDY,
    table_2.STUDY,
    table_3.STUDY,
    figure_1.STUDY,
    figure_2.STUDY,
    figure_3.STUDY,
    important_workers.STUDY,
    other_methods.STUDY,
    hyper_distributions.STUDY,
    processor_time.STUDY,
)
