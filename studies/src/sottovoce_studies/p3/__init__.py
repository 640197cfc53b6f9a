"""Studies of P3, Gaussian noise of random variance: its seven figures."""

from sottovoce_studies.p3 import (
    figure_1,
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    figure_6,
    figure_7,
)
from sottovoce_studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = (
    figure_1.STUDY,
    figure_2.STUDY,
    figure_3.STUDY,
    figure_4.STUDY,
    figure_5.STUDY,
    figure_6.STUDY,
    figure_7.STUDY,
)
