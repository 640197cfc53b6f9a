"""P4, sparse answers with private NULLs: its table, its figures, its worked examples."""

from sottovoce.studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = ()
