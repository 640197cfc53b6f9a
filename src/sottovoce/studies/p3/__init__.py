"""P3, Gaussian noise of a random variance: its seven figures."""

from sottovoce.studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = ()
