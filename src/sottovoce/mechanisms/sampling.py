"""Sampling: a worker sends some of its answers, each with a larger share of the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.validation import LABELS, check_integer, integer, mechanism_fields
from sottovoce.model import (
    Alphabet,
    Candidate,
    Cells,
    Citation,
    Codes,
    Domain,
    Evidence,
    Guarantee,
    Kind,
    Listing,
    Odds,
    Private,
    Promise,
    ReportCodes,
    Reports,
    Unit,
    UnitName,
)
from sottovoce.model.guarantee import check_answer_count, check_delta
from sottovoce.model.policy import check_target
from sottovoce.seams import Mechanism, Randomness, Release

BEST_EPSILON = 2.18
"""The best budget of one sampled answer: q tanh²(E / 2q) is largest where E / q is about this."""

MOST_ANSWERS = 1 << 31

BLIND = "the choice of answers to send does not depend on the answers"


@dataclass(frozen=True, slots=True)
class Sampled:
    """Send a uniformly random set of q of a worker's k cells, through another mechanism.

    Let T be the cells that are sent, which an observer sees. T does not depend on the answers, so
    P(T, reports | a) = P(T) P(reports | answers a on T), and for every ε

        Σ_S (P(S | a) - exp(ε) P(S | a'))₊ = Σ_T P(T) δ_T(ε)

    with δ_T that of the inner mechanism on the min(k, q) cells of T. Per worker all cells of T may
    differ: δ is the inner δ for min(k, q) answers. Per answer δ_T is 0 unless the changed cell is
    in T, which has probability min(k, q) / k: δ is that probability times the inner δ. Both are
    equalities, so an exact value stays exact; the pure ε is the inner one in both units.

    >>> sampled = Sampled.calibrated_worker(
    ...     RandomizedResponse, Domain.categorical("ab"), 4.0, answers=60
    ... )
    >>> sampled.answers, round(sampled.guarantee(60, Unit.WORKER).epsilon, 6)
    (2, 4.0)
    """

    mechanism: Mechanism
    answers: int

    name: ClassVar[str] = "sampled"
    takes: ClassVar[frozenset[Kind]] = LABELS | {Kind.NUMERIC}
    hiding: ClassVar[Mapping[str, Any] | None] = None
    whole: ClassVar[bool] = True
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = None
    is_separable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_integer("answers", self.answers, 1, MOST_ANSWERS)
        if isinstance(self.mechanism, Sampled):
            raise UsageError("a sampled mechanism cannot be sampled again: sample once")
        if self.mechanism.whole:
            raise UsageError(
                f"{self.mechanism.name} needs all answers of a worker at once: it cannot be sampled"
            )

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
        of: type[Mechanism] | None = None,
        sample: int | None = None,
        **parameters: Any,
    ) -> Self:
        """The inner mechanism with the whole budget on the cells that are sent.

        `of` is randomised response for labels and subset selection for numbers unless given. Per
        answer nothing is gained by sending fewer, so all are sent unless `sample` is given.
        """
        check_target(epsilon, delta, answers)
        if sample is None:
            sample = best_sample(epsilon, answers) if Unit(unit) is Unit.WORKER else answers
        check_integer("sample", sample, 1, answers)
        kind = of or (SubsetSelection if domain.is_numeric else RandomizedResponse)
        inner = delta if Unit(unit) is Unit.WORKER else _before(delta, answers, sample)
        mechanism = kind.calibrated(
            domain, epsilon, unit=unit, delta=inner, answers=sample, **parameters
        )
        return cls(mechanism, sample)

    @classmethod
    def calibrated_worker(
        cls,
        of: type[Mechanism],
        domain: Domain,
        epsilon: float,
        delta: float = 0.0,
        answers: int = 1,
        sample: int | None = None,
        **parameters: Any,
    ) -> Self:
        """The mechanism `of` on a sample, for (epsilon, delta) per worker with these answers."""
        return cls.calibrated(
            domain,
            epsilon,
            unit=Unit.WORKER,
            delta=delta,
            answers=answers,
            of=of,
            sample=sample,
            **parameters,
        )

    @property
    def alphabet(self) -> Alphabet:
        return self.mechanism.alphabet

    @property
    def citation(self) -> Citation:
        return self.mechanism.citation

    @property
    def hides_participation(self) -> bool:
        return self.mechanism.hides_participation

    @property
    def in_browser(self) -> bool:
        return self.mechanism.in_browser

    @property
    def is_plain(self) -> bool:
        return self.mechanism.is_plain

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        """None: a target per worker samples other mechanisms."""
        return ()

    def draw(self, workers: int, randomness: Randomness) -> Private | None:
        return self.mechanism.draw(workers, randomness)

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        """Reports on the sampled cells only, in their original order."""
        rows = sampled_rows(cells.worker, self.answers, randomness)
        sent = replace(
            cells, worker=cells.worker[rows], task=cells.task[rows], code=cells.code[rows]
        )
        return self.mechanism.perturb(sent, private, randomness)

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return self.mechanism.admits(codes)

    def evidence(
        self, reports: Reports, domain: Domain, *, as_numbers: bool = False
    ) -> Evidence | None:
        """The choice of cells is independent of the answers: given it, each is the inner report."""
        return self.mechanism.evidence(reports, domain, as_numbers=as_numbers)

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        return self.mechanism.plain(reports, domain)

    def odds(self) -> Odds | None:
        inner = self.mechanism.odds()
        sent = f" A worker sends {self.answers:,} of its answers, chosen at random."
        return inner and Odds(inner.of_100, inner.sentence + sent)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        check_answer_count(answers)
        check_delta(delta)
        sent = min(answers, self.answers)
        inner = delta if Unit(unit) is Unit.WORKER else _before(delta, answers, sent)
        held = self.mechanism.guarantee(sent, unit, inner)
        return replace(held, answers=answers, delta=delta, assumptions=(*held.assumptions, BLIND))

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        sent = min(answers, self.answers)
        inner = self.mechanism.delta(epsilon, sent, unit)
        return inner if Unit(unit) is Unit.WORKER else inner * sent / answers

    def claim(self, epsilon: float | None = None) -> None:
        return None

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "answers": self.answers, "of": self.mechanism.as_json()}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        # The registry lists this class too, and so imports this file.
        from sottovoce.mechanisms.registry import mechanism_from

        fields = mechanism_fields(document, cls.name, {"answers", "of"})
        return cls(mechanism_from(fields["of"]), integer(fields, "answers"))


def unsampled(release: Release) -> Release:
    """The mechanism inside a sample; any other release is returned unchanged."""
    return release.mechanism if isinstance(release, Sampled) else release


def unsampled_document(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same in a policy's document."""
    inner: Mapping[str, Any] = document["of"] if document["name"] == Sampled.name else document
    return inner


def sample_of(release: Release) -> int | None:
    """The number of answers a worker sends, chosen at random; None if it sends all."""
    return release.answers if isinstance(release, Sampled) else None


def sent_by(release: Release, cells: int) -> int:
    """The number of reports of a worker with this many cells."""
    sample = sample_of(release)
    return cells if sample is None else min(cells, sample)


def best_sample(epsilon: float, answers: int) -> int:
    """The number of a worker's answers to send: about E / 2.18, at least one.

    The information of a binary report with E / q is proportional to tanh²(E / 2q), so that of q
    reports is q tanh²(E / 2q), which is largest where x = E / 2q solves sinh(2x) = 4x: E / q =
    2.177.

    >>> best_sample(1.0, 60), best_sample(8.0, 60), best_sample(500.0, 60)
    (1, 4, 60)
    """
    return max(1, min(answers, round(epsilon / BEST_EPSILON)))


def sampled_rows(worker: Codes, size: int, randomness: Randomness) -> npt.NDArray[np.intp]:
    """A uniformly random set of `size` rows of each worker; all rows if there are fewer.

    The rows with the smallest random keys. A worker with equal keys redraws all of its keys: given
    that none are equal, every order of a worker's rows is equally likely.
    """
    keys = randomness.words(len(worker))
    while True:
        order = np.lexsort((keys, worker))
        by_worker, by_key = worker[order], keys[order]
        same = by_worker[1:] == by_worker[:-1]
        tied = same & (by_key[1:] == by_key[:-1])
        if not tied.any():
            break
        again = np.isin(worker, by_worker[1:][tied])
        keys[again] = randomness.words(int(np.count_nonzero(again)))
    starts = np.flatnonzero(np.concatenate(([True], ~same)))[: len(worker)]
    place = np.arange(len(worker)) - np.repeat(starts, np.diff([*starts, len(worker)]))
    return np.sort(order[place < size])


def _before(delta: float, answers: int, sent: int) -> float:
    """The inner δ that a sample of `sent` of `answers` turns into delta per answer.

    From sent / answers on, any mechanism keeps delta at ε = 0; the inner δ must stay below 1.
    """
    return min(delta * answers / sent, 1 - 2.0**-53)
