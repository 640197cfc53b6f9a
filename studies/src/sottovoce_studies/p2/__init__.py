"""Studies of P2, the worker-private EM: accuracy, rounds, time, and recovery of labels."""

from sottovoce_studies.p2 import figure_4, label_recovery, worker_private_em
from sottovoce_studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = (
    worker_private_em.STUDY,
    figure_4.STUDY,
    label_recovery.STUDY,
)
