"""A first look at a table: its size, the agreement of workers, and suspicious workers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sottovoce.inference.signal import named_labels, signal
from sottovoce.inference.steps.peers import LeaveOneOut
from sottovoce.inference.steps.residuals import WorkerLabels
from sottovoce.inference.steps.votes import AnswerCounts, AnswersPerWorker
from sottovoce.model import Agreement, Domain, FloatArray, Reading, Signal
from sottovoce.model.display import SHOWN, Display, Displayed
from sottovoce.seams import Engine

FALSE_ALARMS = 0.01
"""The probability that a table of honest, equally able workers raises any suspicion."""
_LEAST_ANSWERS = 10


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A worker to look at, and why."""

    worker: str
    answers: int
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Inspection(Displayed):
    """A summary of a table.

    `sparsity` is the share of (worker, task) pairs without an answer. `agreement` is the
    probability that two answers to one task are equal (labels), or Krippendorff's alpha (numbers);
    `chance` is its value if answers ignored the task. `statistics` has alpha, kappas and each
    worker's agreement, with intervals; `signal` says whether they are above chance. `alike` are
    pairs of labels that differ only in case, spaces or the notation of a number.
    """

    workers: int
    tasks: int
    answers: int
    domain: Domain
    sparsity: float
    answers_per_task: tuple[int, float, int]
    answers_per_worker: tuple[int, float, int]
    agreement: float | None
    chance: float
    statistics: Agreement
    signal: Signal
    suspicious: tuple[Suspicion, ...]
    alike: tuple[tuple[str, str], ...] = ()
    reading: Reading | None = field(default=None)

    def _display(self) -> Display:
        per_task, per_worker = (
            f"{least:,} to {most:,}, median {middle:g}"
            for least, middle, most in (self.answers_per_task, self.answers_per_worker)
        )
        agreement = "unknown" if self.agreement is None else f"{self.agreement:.3f}"
        warning = self.signal.warning()
        facts = (
            ("domain", str(self.domain)),
            ("sparsity", f"{self.sparsity:.3f}"),
            ("answers per task", per_task),
            ("answers per worker", per_worker),
            ("agreement", f"{agreement}, by chance {self.chance:.3f}"),
            (f"alpha, {self.statistics.metric}", str(self.statistics.alpha)),
            *([("signal", warning)] if warning else []),
            ("suspicious workers", f"{len(self.suspicious):,}; reasons in .suspicious"),
            *(("note", line) for line in (self.reading.sentences() if self.reading else [])),
        )
        title = (
            f"Inspection: {self.workers:,} workers, {self.tasks:,} tasks, {self.answers:,} answers"
        )
        if not self.suspicious:
            return Display(title, facts)
        # Not the reasons: one may say what a worker always answers.
        rows = tuple((each.worker, each.answers) for each in self.suspicious[:SHOWN])
        columns = ("suspicious worker", "answers")
        return Display(title, facts, columns, rows, len(self.suspicious))


def inspect_answers(engine: Engine, agreement: Agreement) -> Inspection:
    """Counts, agreement, and workers whose answers differ from the others' beyond chance."""
    workers, tasks = len(engine.workers), len(engine.tasks)
    per_task = engine.map(AnswerCounts())
    per_worker = engine.total(AnswersPerWorker(workers))
    answers = int(per_task.sum())
    look = _numbers if engine.domain.is_numeric else _labels
    chance, suspicious = look(engine, per_worker, agreement)
    return Inspection(
        workers,
        tasks,
        answers,
        engine.domain,
        max(0.0, 1 - answers / (workers * tasks)),
        _spread(per_task),
        _spread(per_worker),
        agreement.observed,
        chance,
        agreement,
        signal(engine),
        suspicious,
        _alike(engine.domain),
    )


def _alike(domain: Domain) -> tuple[tuple[str, str], ...]:
    first: dict[str, str] = {}
    pairs = []
    for text in map(str, domain.labels):
        plain = " ".join(text.casefold().split())
        try:
            plain = str(float(plain))
        except ValueError:
            pass
        if plain in first:
            pairs.append((first[plain], text))
        first.setdefault(plain, text)
    return tuple(pairs)


def _spread(counts: FloatArray) -> tuple[int, float, int]:
    return int(counts.min()), float(np.median(counts)), int(counts.max())


def _alarm(workers: int) -> float:
    """The number of standard deviations that is beyond chance among this many workers."""
    from scipy.special import ndtri

    return float(-ndtri(FALSE_ALARMS / max(workers, 1)))


def _labels(
    engine: Engine, per_worker: FloatArray, agreement: Agreement
) -> tuple[float, tuple[Suspicion, ...]]:
    workers = len(engine.workers)
    labels = engine.domain.size
    counts = engine.total(WorkerLabels(workers, labels, named_labels(labels)))[:, :-1]
    shares = counts.sum(axis=0) / counts.sum()
    chance = float(np.sum(np.square(shares)))
    crowd = agreement.observed
    if crowd is None:
        return chance, ()
    rate = np.where(agreement.compared > 0, agreement.shares, crowd)
    deviation = np.sqrt(max(crowd * (1 - crowd), 1e-12) / np.maximum(agreement.compared, 1))
    low = (rate - crowd) / deviation < -_alarm(workers)
    favourite = counts.argmax(axis=1)
    favoured = counts.max(axis=1)
    # The probability that all k answers are a label that a share q of all answers has: q^k.
    luck = favoured * np.log(np.maximum(shares[favourite], np.finfo(float).tiny))
    constant = (favoured == per_worker) & (luck < np.log(FALSE_ALARMS / workers))
    found = []
    for k in np.flatnonzero((low | constant) & (per_worker >= _LEAST_ANSWERS)):
        reasons = []
        if low[k]:
            reasons.append(f"agrees with {rate[k]:.0%} of others' answers, the crowd {crowd:.0%}")
        if constant[k]:
            label, share = engine.domain.labels[favourite[k]], shares[favourite[k]]
            reasons.append(f"always answers {str(label)!r}, the crowd {share:.0%} of the time")
        found.append(Suspicion(str(engine.workers[k]), int(per_worker[k]), "; ".join(reasons)))
    return chance, tuple(sorted(found, key=lambda s: -s.answers))


def _numbers(
    engine: Engine, per_worker: FloatArray, agreement: Agreement
) -> tuple[float, tuple[Suspicion, ...]]:
    workers = len(engine.workers)
    if not agreement.tasks:
        return 0.0, ()
    squares, compared = engine.total(LeaveOneOut(np.ones(workers))).T
    within = float(squares.sum() / compared.sum())
    rate = np.divide(squares, compared, out=np.full_like(squares, within), where=compared > 0)
    # A mean of n squared normal errors deviates by √(2/n) of itself.
    excess = (rate / within - 1) / np.sqrt(2 / np.maximum(compared, 1)) if within > 0 else rate * 0
    flagged = (excess > _alarm(workers)) & (per_worker >= _LEAST_ANSWERS)
    found = [
        Suspicion(
            str(engine.workers[k]),
            int(per_worker[k]),
            f"is off by {np.sqrt(rate[k]):.3g} from others' answers, the crowd by "
            f"{np.sqrt(within):.3g}",
        )
        for k in np.flatnonzero(flagged)
    ]
    return 0.0, tuple(sorted(found, key=lambda s: -s.answers))
