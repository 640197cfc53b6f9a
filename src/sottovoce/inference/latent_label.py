"""The binary latent-label model of P2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import (
    LABELS,
    Settled,
    check_floor,
    check_parameters,
    label_result,
)
from sottovoce.inference.dawid_skene import Parameters
from sottovoce.inference.steps.arithmetic import steady
from sottovoce.inference.steps.confusions import (
    Confusions,
    ConfusionSums,
    Posteriors,
    VoteConfusions,
)
from sottovoce.model import Codes, Kind, Result
from sottovoce.seams import Engine


class LatentParameters(NamedTuple):
    """The end of EM: the parameters of the last E step and of the M step after it."""

    used: Parameters
    fitted: Parameters
    rounds: int
    converged: bool

    def among(self, workers: Codes, count: int) -> LatentParameters:
        """The same for a subset of the workers."""
        used, fitted = (each.among(workers, count) for each in (self.used, self.fitted))
        return self._replace(used=used, fitted=fitted)


@dataclass(frozen=True, slots=True)
class LatentLabel:
    """Dawid-Skene for two labels, as P2 §2.2 writes it.

        αₖ = P(answer 1 | truth 1),   βₖ = P(answer 0 | truth 0),   p = P(truth 1)
        E   μⱼ = p aⱼ / (p aⱼ + (1 − p) bⱼ),   aⱼ = Π P(vₖⱼ | 1),   bⱼ = Π P(vₖⱼ | 0)
        M   αₖ = Σ μⱼ vₖⱼ / Σ μⱼ,   βₖ = Σ (1 − μⱼ)(1 − vₖⱼ) / Σ (1 − μⱼ),   p = mean μⱼ

    Starts from μⱼ = share of label 1 among the answers; stops when
    Q = Σⱼ μⱼ ln(p aⱼ) + (1 − μⱼ) ln((1 − p) bⱼ) changes by less than `tolerance`, relative to
    itself, from the second round on. α and β stay within [floor, 1 − floor] (1e-6 unless set), and
    are 1/2 where 0/0. A task's truth is label 1 if μⱼ > 1/2. A worker's weight is
    p αₖ + (1 − p) βₖ.
    """

    max_rounds: int = 100
    tolerance: float = 1e-8
    floor: float = 1e-6

    name: ClassVar[str] = "latent-label"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        check_floor(self.floor)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> LatentParameters:
        if engine.domain.size != 2:
            raise UsageError(
                f"latent-label takes two labels, and the domain has {engine.domain.size}; "
                "dawid-skene takes any number"
            )
        fitted = self._maximize(ConfusionSums(engine.total(VoteConfusions(len(engine.workers), 2))))
        quality, converged, rounds = np.inf, False, 0
        while rounds < self.max_rounds and not converged:
            rounds, used = rounds + 1, fitted
            sums = ConfusionSums(engine.total(Confusions(*used)))
            fitted = self._maximize(sums)
            before = quality
            quality = float(np.sum(sums.counts * np.log(used.errors)))
            quality += float(sums.tasks @ np.log(fitted.prior))
            converged = abs(quality - before) < self.tolerance * abs(quality)
        return LatentParameters(used, fitted, rounds, converged)

    def tell(self, engine: Engine, learnt: LatentParameters) -> Result:
        fitted = learnt.fitted
        posterior = engine.map(Posteriors(*learnt.used))
        confusions = fitted.errors.reshape(-1, 2, 2).transpose(0, 2, 1)
        accuracy = np.einsum("t,wtt->w", fitted.prior, confusions)
        settled = Settled(accuracy, learnt.rounds, learnt.converged)
        return label_result(
            self, engine, posterior, settled, confusions=confusions, prior=fitted.prior
        )

    def _maximize(self, sums: ConfusionSums) -> Parameters:
        counts = sums.counts.reshape(-1, 2, 2)
        totals = counts.sum(axis=1)
        right = np.divide(
            np.einsum("wtt->wt", counts), totals, out=np.full_like(totals, 0.5), where=totals > 0
        )
        right = np.clip(steady(right), self.floor, 1 - self.floor)
        errors = np.empty_like(counts)
        errors[:, 0, 0], errors[:, 1, 0] = right[:, 0], 1 - right[:, 0]
        errors[:, 1, 1], errors[:, 0, 1] = right[:, 1], 1 - right[:, 1]
        prior = np.clip(steady(sums.tasks / sums.tasks.sum()), self.floor, 1 - self.floor)
        return Parameters(errors.reshape(-1, 2), prior)
