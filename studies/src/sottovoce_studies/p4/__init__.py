"""Studies of P4, sparse answers with private NULLs: its table, figures and worked examples."""

from sottovoce_studies.p4 import examples, figure_1, figure_2, figure_3, figure_4, figure_5, table_2
from sottovoce_studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = (
    table_2.STUDY,
    figure_1.STUDY,
    figure_2.STUDY,
    figure_3.STUDY,
    figure_4.STUDY,
    figure_5.STUDY,
    examples.STUDY,
)
