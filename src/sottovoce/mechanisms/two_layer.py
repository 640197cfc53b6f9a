"""Two-layer randomised response: every worker draws a flip probability, then flips with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.evidence import label_evidence, plain_labels
from sottovoce.mechanisms.laws.hyper_weights import (
    LEAST_HIGH,
    HyperWeights,
    LevelWeights,
    UniformWeights,
    hyper_weights,
    most_other,
)
from sottovoce.mechanisms.odds import label_odds
from sottovoce.mechanisms.papers import P1
from sottovoce.mechanisms.validation import (
    LABELS,
    check_answers,
    check_labels,
    codes_within,
    integer,
    label_count,
    mechanism_fields,
)
from sottovoce.model import (
    NULL,
    WORDS,
    Alphabet,
    Candidate,
    Cells,
    Citation,
    Claim,
    Domain,
    Evidence,
    FiniteChannel,
    FloatArray,
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
from sottovoce.model.policy import check_target
from sottovoce.privacy.calibration import smallest_integer
from sottovoce.privacy.mixtures import log_submission, mixture_delta, mixture_guarantee
from sottovoce.seams import Randomness

SPARSE_LEVELS = 1024  # approximate a continuous budget

LEVELS = 16
"""The number of equally likely cells of a worker's flip probability in inference."""


@dataclass(frozen=True, slots=True)
class TwoLayer:
    """Each worker draws a flip probability once, and flips every answer with it (P1 Alg. 1).

        other ~ hyper, once per worker;   P(report = any other symbol) = other / 2⁶⁴,
        P(report = answer) = 1 - (s - 1) other / 2⁶⁴

    With `null`, NULL is one of the s symbols (P4 §VI-A) and is reported as the code after the last
    label. A worker's reports share a flip probability, so their joint privacy loss exceeds the loss
    that P1 Thm. 6.3 gives for one: the guarantee is that of all reports jointly
    (`privacy.mixtures`). `LevelWeights` allows any other hyper distribution (P1 §7.3 names none).

    >>> yes_no = Domain.categorical(["no", "yes"])
    >>> published = TwoLayer.as_published(yes_no, 1.0)
    >>> round(published.claim().epsilon, 6)
    1.0
    >>> print(published.guarantee(100, Unit.ANSWER), "|", published.guarantee(100, Unit.WORKER))
    epsilon 4.606 per answer | epsilon 67.19 per worker
    >>> print(TwoLayer.calibrated(yes_no, 1.0, answers=100).guarantee(100, Unit.ANSWER))
    epsilon 1 per answer
    """

    labels: int
    hyper: HyperWeights
    null: bool = False

    name: ClassVar[str] = "two-layer"
    takes: ClassVar[frozenset[Kind]] = LABELS
    citation: ClassVar[Citation] = Citation(
        "a two-layer mechanism that draws each worker's flip probability", *P1
    )
    hiding: ClassVar[Mapping[str, Any] | None] = {"null": True}
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = Listing(8, "Two layers: every worker has its own odds")
    in_browser: ClassVar[bool] = False
    is_separable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_labels(self.labels)
        if not isinstance(self.null, bool):
            raise UsageError(f"null must be true or false, not {self.null!r}")
        self.hyper.check(self.symbols)

    @property
    def symbols(self) -> int:
        """The number of symbols: the labels, and NULL if it is one."""
        return self.labels + self.null

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
        null: bool = False,
    ) -> Self:
        """U(a, b) with the largest sound b and then the smallest a that keeps the target.

            b = (s - 1) e^ε / ((s - 1) e^ε + 1)       (ε / k for ε when the unit is the worker)

        Up to this b, reports that differ from their answers stay within the target for any k and a.
        The loss of the others falls as a or b rises (monotone likelihood ratio; for δ, the mean
        over [a, b] of a function that falls while it is positive). So a falls to the target; if 0
        is not enough, b falls. For one answer this is P1's own a = 0 wherever that is sound; for
        many a tends to (s - 1) / (s - 1 + e^ε), which holds for any k.
        """
        check_target(epsilon, delta, answers)
        labels = label_count(domain, cls.name)
        symbols = labels + null
        # The search for ε on a curve of δ ends within rounding of it: aim slightly below.
        aim = epsilon - min(1e-7, 1e-6 * epsilon) if delta > 0 else epsilon
        each = aim / (answers if Unit(unit) is Unit.WORKER else 1)
        # From the weight of the answer itself, which is accurate where b is close to 1.
        least = math.ceil(WORDS / (1 + (symbols - 1) * math.exp(min(each, 700))) * (1 + 1e-15))
        noisiest = WORDS // symbols
        high = min(max(noisiest, (WORDS - least) // (symbols - 1)), most_other(symbols))

        def holds(low: int, high: int) -> bool:
            law = UniformWeights(low, high).law(symbols)
            if delta > 0:
                return mixture_delta(law, symbols, answers, unit, aim) <= delta
            return mixture_guarantee(law, symbols, answers, unit).epsilon <= aim

        if holds(0, high):
            high = smallest_integer(lambda other: holds(0, other), LEAST_HIGH, high)
            return cls(labels, UniformWeights(0, high), null)
        low = smallest_integer(lambda other: holds(other, high), 0, noisiest)
        return cls(labels, UniformWeights(low, high), null)

    @classmethod
    def as_published(cls, domain: Domain, epsilon: float, *, null: bool = False) -> Self:
        """P1's parameters: a = 0 and (a + b) / 2 = (s - 1) / (s - 1 + e^ε) (Thm. 6.3, §6.2).

        If b would exceed 1 it is 1, and a rises. ε may be 0, as in P1 Tables 2 and 3.
        """
        labels = label_count(domain, cls.name)
        if not 0 <= epsilon < math.inf:
            raise UsageError(f"epsilon must be a number of at least 0, not {epsilon:g}")
        symbols = labels + null
        twice = max(LEAST_HIGH, round(2 * WORDS * _share(symbols, epsilon)))
        high = min(twice, most_other(symbols))
        return cls(labels, UniformWeights(twice - high, high), null)

    @classmethod
    def as_published_sparse(cls, domain: Domain, epsilon: float) -> Self:
        """P4's "2-Layer" baseline (§VI-D): randomised response with NULL, each worker at its own ε.

        The workers' budgets are uniform with mean ε, as P4 says; the range 0 to 2 ε is ours,
        because P4 gives none, and is cut into 1,024 equal cells, each at its middle.
        """
        labels = label_count(domain, cls.name)
        check_target(epsilon, 0.0, 1)
        budgets = 2 * epsilon * (np.arange(SPARSE_LEVELS) + 0.5) / SPARSE_LEVELS
        others = tuple(max(1, round(WORDS * _share(labels + 1, budget))) for budget in budgets)
        weights = (WORDS // SPARSE_LEVELS,) * SPARSE_LEVELS
        return cls(labels, LevelWeights(others, weights), null=True)

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet.LABELS_OR_NULL if self.null else Alphabet.LABELS

    @property
    def hides_participation(self) -> bool:
        return self.null

    def draw(self, workers: int, randomness: Randomness) -> Private:
        return Private(self.hyper.draw(workers, randomness))

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = check_answers(cells, self.labels, null=self.null)
        others = self._drawn(private, len(cells.workers))[cells.worker]
        words = randomness.words(len(codes))
        # The words below (s - 1) other are cut into s - 1 equal runs, one for each cyclic shift.
        moved = words < others * np.uint64(self.symbols - 1)
        shift = np.where(moved, 1 + words // np.maximum(others, np.uint64(1)), 0).astype(np.int64)
        start = np.where(codes == NULL, self.labels, codes)
        return cells.reporting(((start + shift) % self.symbols).astype(np.int32))

    def _drawn(self, private: Private | None, workers: int) -> npt.NDArray[np.uint64]:
        """The workers' draws, after checking that each is a weight of this mechanism."""
        values = None if private is None else private.values
        if values is None or values.dtype != np.uint64 or len(values) != workers:
            raise UsageError("two-layer needs each worker's draw: call draw once per worker")
        weights = values.astype(np.uint64, copy=False)
        if weights.size and int(weights.max()) > most_other(self.symbols):
            raise UsageError("the workers' draws belong to another mechanism: call draw again")
        return weights

    def channel(self) -> FiniteChannel:
        """The law of one report alone; a worker's reports are independent only given its draw."""
        other, parts = self.hyper.mean.as_integer_ratio()
        total, size = WORDS * parts, range(self.symbols)
        keep = total - (self.symbols - 1) * other
        weights = tuple(tuple(keep if a == r else other for r in size) for a in size)
        return FiniteChannel(weights, tuple(size), total, self.null)

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        meant = np.asarray(answers)
        same = np.asarray(reports) == np.where(meant == NULL, self.labels, meant)
        return self.submission_log_likelihood([0, 1], 1)[np.where(same, 0, 1)]

    def submission_log_likelihood(
        self, mismatches: npt.ArrayLike, answers: npt.ArrayLike
    ) -> FloatArray:
        """ln P(all reports of a worker | its answers): only the number of mismatches counts.

        >>> fair = TwoLayer(2, UniformWeights(0, WORDS - 1))
        >>> np.exp(-fair.submission_log_likelihood([0, 1, 2], 2)).round(9).tolist()
        [3.0, 6.0, 3.0]
        """
        return log_submission(self.hyper.law(self.symbols), self.symbols, mismatches, answers)

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        """None: randomised response keeps the same promise with less noise."""
        return ()

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, 0, self.symbols - 1)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        """A state is the middle of each of 16 equally likely cells of the flip probability."""
        shares = (np.arange(LEVELS) + 0.5) / LEVELS
        other = self.hyper.quantiles(shares) / WORDS
        states = 1 - (self.symbols - 1) * other, other, np.full(LEVELS, 1 / LEVELS)
        return label_evidence(self, reports, domain, as_numbers=as_numbers, states=states)

    @property
    def is_plain(self) -> bool:
        return not self.null

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        return plain_labels(reports, self.alphabet, domain)

    def odds(self) -> Odds:
        return label_odds(self, self.labels, null=self.null)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        return mixture_guarantee(self.hyper.law(self.symbols), self.symbols, answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return mixture_delta(self.hyper.law(self.symbols), self.symbols, answers, unit, epsilon)

    def claim(self, epsilon: float | None = None) -> Claim:
        """|ln((2 - a - b)(s - 1) / (a + b))|: P1's formula, which omits the absolute value."""
        keep, other = self.channel().weights[0][:2]
        return Claim(
            abs(math.log(keep) - math.log(other)),
            0.0,
            "P1 Thm. 6.3",
            "true only for a worker who sends one answer: reports that share a flip probability "
            "reveal more together, and Thm. 6.4 is false",
        )

    def as_json(self) -> dict[str, Any]:
        own = {"name": self.name, "labels": self.labels, "null": self.null}
        return {**own, **self.hyper.as_json()}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        levels = isinstance(document, dict) and "others" in document
        form = {"others", "weights"} if levels else {"low", "high"}
        fields = dict(mechanism_fields(document, cls.name, {"labels", "null"} | form))
        return cls(integer(fields, "labels"), hyper_weights(fields), fields["null"])


def _share(symbols: int, epsilon: float) -> float:
    """The probability 1 / (s - 1 + e^ε) of each other symbol in randomised response."""
    return math.exp(-epsilon) / (1 + (symbols - 1) * math.exp(-epsilon))
