"""P1, the two-layer mechanism: its tables, its figures, and the experiments it only mentions."""

from sottovoce.studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = ()
