"""Gaussian noise with a variance that each worker draws and keeps private.

It is drawn in floating point, and the guarantee accounts for that (`VarianceCurve`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy  # its parts are imported on first use

from sottovoce.errors import UsageError
from sottovoce.mechanisms.codes import report_cells
from sottovoce.mechanisms.evidence import coded, plain_numbers
from sottovoce.mechanisms.laws.draws import exponential, normal
from sottovoce.mechanisms.odds import point_odds
from sottovoce.mechanisms.validation import (
    NUMBERS,
    check_answers,
    check_integer,
    check_steps,
    codes_within,
    grid_of,
    has_grid,
    integer,
    mechanism_fields,
)
from sottovoce.model import (
    WORDS,
    Alphabet,
    Candidate,
    Cells,
    Citation,
    Claim,
    Domain,
    Evidence,
    FloatArray,
    Grid,
    Guarantee,
    Kind,
    Listing,
    NoisyChannel,
    Odds,
    Private,
    Promise,
    ReportCodes,
    Reports,
    Unit,
    UnitName,
)
from sottovoce.model.guarantee import check_answer_count, check_delta, check_epsilon
from sottovoce.model.policy import check_target
from sottovoce.privacy.random_variance import delta_finite, delta_published, rate_published
from sottovoce.seams import Randomness

FLOAT_ERROR = 2.0**-47
"""How far the drawn law may be from the stated one, per answer and per 1 + noise in steps."""


@dataclass(frozen=True, slots=True)
class VarianceCurve:
    """δ at ε for `answers` answers on a grid of `steps` steps; `rate` is per squared range.

    The stated law has the δ of `delta_finite` with D = 1 per answer, √k per worker. A draw x with
    an error of η (|x| + √V), in steps, rounds to another code only near a half step, which over all
    half steps has probability 2η (E|x| + E√V + 1). With η = 2e-15 that is below

        τ = 2⁻⁴⁷ (1 + steps / √λ)

    for one answer; the 64 bits of a word account for 2⁻⁶⁰ (1 + steps / √λ) of it. So the laws of
    both neighbours are within k τ of the stated ones, and

        P(S | a) ≤ exp(ε) P(S | a') + δ(ε) + (1 + exp(ε)) k τ.
    """

    steps: int
    rate: float
    answers: int
    unit: Unit

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", Unit(self.unit))
        check_answer_count(self.answers)

    def spent(self, epsilon: float) -> float:
        """The right-hand δ: convex in ε, and falling at first."""
        distance = 1.0 if self.unit is Unit.ANSWER else math.sqrt(self.answers)
        error = FLOAT_ERROR * self.answers * (1 + self.steps / math.sqrt(self.rate))
        stated = delta_finite(epsilon, self.rate, distance, self.answers)
        return stated + (1 + math.exp(min(epsilon, 700.0))) * error

    def delta(self, epsilon: float) -> float:
        """A guarantee at some ε holds at every larger one: beyond its minimum δ stays there."""
        check_epsilon(epsilon)
        return min(self.spent(min(epsilon, _turn(self))), 1.0)

    def epsilon(self, delta: float) -> float:
        """The smallest ε at δ, rounded up; infinite if none holds."""

        def excess(epsilon: float) -> float:
            return self.spent(epsilon) - delta

        if excess(0.0) <= 0:
            return 0.0
        high = _turn(self)
        if excess(high) > 0:
            return math.inf
        epsilon = float(scipy.optimize.brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-14))
        while excess(epsilon) > 0:
            epsilon = min(epsilon + 1e-10, high)
        return epsilon


@lru_cache(maxsize=256)
def _turn(curve: VarianceCurve) -> float:
    """The ε from which on floating-point error outgrows the gain of a larger ε."""
    found = scipy.optimize.minimize_scalar(
        curve.spent, bounds=(0.0, 45.0), method="bounded", options={"xatol": 1e-3}
    )
    return float(found.x)


FURTHEST = 1 << 30
"""Reports are clipped to codes from -2³⁰ to 2³⁰."""

LEAST_DELTA = 0.01
"""Below this delta it is far noisier than pure mechanisms, and no planner tries it."""

LEVELS = 16
"""The number of equally likely cells of a worker's variance in inference."""
INNER, OUTER = 128, 64
"""Cells for reports within half a range of the range, and further out on either side."""

ASSUMPTIONS = (
    "one variance per worker and campaign, never revealed",
    "logarithm and normal quantile have a relative error of at most 2e-15",
    "delta is integrated to within 1e-9, which is added to it",
)


@dataclass(frozen=True, slots=True)
class RandomVarianceGaussian:
    """Add N(0, V) to every answer of a worker, with V ~ Exp(λ) drawn once and kept (P3 Alg. 2).

        λ = rate / 2⁶⁴ per squared range;   report = answer + round(√V · N(0, 1)) on the grid

    Answers lie on the grid, so rounding to it is post-processing. The guarantee is that of
    `privacy.random_variance` with D = 1 per answer and √k per worker. There is no pure ε for two
    answers or more, at any rate: many reports near the answers show that V is near 0.

    The reports are computed in floating point, and `VarianceCurve` adds its cost to δ: δ = 0 is
    promised for no ε, not even for one answer, whose noise is Laplace.

    >>> law = RandomVarianceGaussian.calibrated(Domain.numeric(0, 10, 1), 1.0, delta=0.1, answers=9)
    >>> print(law.guarantee(9, Unit.ANSWER, 0.1))
    epsilon 1, delta 0.1 per answer
    """

    steps: int
    rate: int

    name: ClassVar[str] = "random-variance-gaussian"
    takes: ClassVar[frozenset[Kind]] = NUMBERS
    alphabet: ClassVar[Alphabet] = Alphabet.POINTS
    hides_participation: ClassVar[bool] = False
    citation: ClassVar[Citation] = Citation(
        "Gaussian noise whose variance each worker draws",
        "Li et al. 2020",
        "Y. Li, H. Xiao, Z. Qin, C. Miao, L. Su, J. Gao, K. Ren, B. Ding: Towards Differentially "
        "Private Truth Discovery for Crowd Sensing Systems. ICDCS 2020.",
    )
    hiding: ClassVar[Mapping[str, Any] | None] = None
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = None
    in_browser: ClassVar[bool] = False
    is_separable: ClassVar[bool] = False
    is_plain: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_steps(self.steps)
        check_integer("rate", self.rate, 1, WORDS**2)

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
    ) -> Self:
        """The largest rate, up to its last digits, whose guarantee is within the target."""
        check_target(epsilon, delta, answers)
        _check_delta(delta)
        steps = grid_of(domain, cls.name).steps

        def excess(log_rate: float) -> float:
            law = cls(steps, max(1, int(math.exp(log_rate) * WORDS)))
            return law._curve(answers, unit).spent(epsilon) - delta

        low, high = -math.log(WORDS), math.log(WORDS) - 1
        # A smaller rate is more noise but also more steps of it, whose floating-point error counts:
        # start where it pays off.
        start = next((at for at in np.arange(high, low, -1.0) if excess(at) <= 0), None)
        if start is None:
            raise UsageError(
                f"delta {delta:g} at epsilon {epsilon:g} is beyond the precision of {cls.name}: "
                "allow a larger delta, or choose a coarser step"
            )
        log_rate = float(scipy.optimize.brentq(excess, start, min(start + 1.0, high), xtol=1e-13))
        return cls._within(steps, int(math.exp(log_rate) * WORDS), epsilon, unit, delta, answers)

    @classmethod
    def _within(
        cls, steps: int, rate: int, epsilon: float, unit: UnitName, delta: float, answers: int
    ) -> Self:
        """Lower the rate by ever more of its last digits, until it is within the target."""
        for digits in range(40, 16, -4):
            law = cls(steps, max(1, rate - (rate >> digits)))
            held = law.guarantee(answers, unit, delta).epsilon
            if held <= epsilon:
                if held >= epsilon - 1e-6:
                    return law
                break
        raise UsageError(
            f"epsilon {epsilon:g} is beyond the precision of {cls.name} at delta {delta:g}: "
            "ask for a smaller epsilon"
        )

    @classmethod
    def as_published(cls, domain: Domain, epsilon: float, *, delta: float) -> Self:
        """The rate of P3 Thm. 4.8: λ = 2 ε ln(1/(1 - δ)) per squared range."""
        check_target(epsilon, delta, 1)
        _check_delta(delta)
        rate = int(rate_published(epsilon, delta, 1.0) * WORDS)
        return cls(grid_of(domain, cls.name).steps, max(1, rate))

    @property
    def scale(self) -> float:
        """The mean size of the noise, in steps; one report alone is Laplace of this scale."""
        return self.steps / math.sqrt(2 * self._rate)

    @property
    def _rate(self) -> float:
        return self.rate / WORDS

    def draw(self, workers: int, randomness: Randomness) -> Private:
        """Each worker's variance, in squared steps."""
        return Private(exponential(randomness.words(workers)) * (self.steps**2 / self._rate))

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = check_answers(cells, self.steps + 1)
        if private is None or len(private) != len(cells.workers):
            raise UsageError(f"{self.name} needs the variance that each worker has drawn")
        deviation = np.sqrt(private.values.astype(np.float64))[cells.worker]
        noise = np.rint(deviation * normal(randomness.words(len(cells))))
        return cells.reporting(np.clip(codes + noise, -FURTHEST, FURTHEST).astype(np.int32))

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        """ln P(report | answer) of one report alone, whose noise is a rounded Laplace."""
        noise, clipped = _noise(reports, answers)
        inverse = 1 / self.scale
        sinh = math.log(-math.expm1(-inverse)) + inverse / 2 - math.log(2)
        inside = np.where(noise == 0, math.log(-math.expm1(-inverse / 2)), sinh - noise * inverse)
        return np.where(clipped, -math.log(2) - (noise - 0.5) * inverse, inside)

    def log_likelihood_given(
        self, reports: npt.ArrayLike, answers: npt.ArrayLike, variances: npt.ArrayLike
    ) -> FloatArray:
        """ln P(report | answer, V), V in squared steps. Given V, reports are independent."""
        noise, clipped = _noise(reports, answers)
        deviation = np.sqrt(np.asarray(variances, np.float64))
        # By symmetry a cell lies in the lower tail, where the logarithm of Φ is accurate.
        upper = scipy.special.log_ndtr((0.5 - noise) / deviation)
        lower = np.where(clipped, -np.inf, scipy.special.log_ndtr((-0.5 - noise) / deviation))
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = upper + np.log1p(-np.exp(lower - upper))
        return np.where(np.isneginf(upper), -np.inf, inside)

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        fits = has_grid(domain) and not hidden and promise.delta >= LEAST_DELTA
        return (Candidate(9),) if fits else ()

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, -FURTHEST, self.steps + FURTHEST)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        """A symbol is the cell of a report: equal widths near the range, ever wider outside."""
        cells = report_cells(reports, self.alphabet, domain)
        grid, steps = Grid.over(domain), self.steps
        reach = np.geomspace(steps / 2, steps / 2 + 40 * self.scale, OUTER)
        edges = np.concatenate(
            [-reach[:0:-1], np.linspace(-steps / 2, 1.5 * steps, INNER), steps + reach[1:]]
        )
        # Cells end between points of the grid, to which reports are rounded.
        edges = np.unique(np.floor(edges) + 0.5)
        step = float(grid.step)
        # Exponential variances of mean 2 scale²: the middle of each of 16 equally likely cells.
        shares = (np.arange(LEVELS) + 0.5) / LEVELS
        channel = NoisyChannel(
            float(grid.low),
            float(grid.high),
            float(grid.low) + edges * step,
            -np.log1p(-shares) * 2 * (self.scale * step) ** 2,
            np.full(LEVELS, 1 / LEVELS),
        )
        return coded(reports, np.searchsorted(edges, cells.code), channel)

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        return plain_numbers(reports, report_cells(reports, self.alphabet, domain).code, domain)

    def odds(self) -> Odds:
        return point_odds(self, self.steps)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        """A proven upper bound: rounding to the grid may hide more."""
        check_delta(delta)
        curve = self._curve(answers, unit)
        epsilon = curve.epsilon(delta) if delta > 0 else math.inf
        return Guarantee(Unit(unit), answers, epsilon, delta, False, ASSUMPTIONS, "P3 Alg. 2")

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return self._curve(answers, unit).delta(epsilon)

    def _curve(self, answers: int, unit: UnitName) -> VarianceCurve:
        return VarianceCurve(self.steps, self._rate, answers, Unit(unit))

    def claim(self, epsilon: float | None = None) -> Claim | None:
        """P3 gives a curve: None without an epsilon."""
        if epsilon is None:
            return None
        return Claim(
            epsilon,
            delta_published(epsilon, self._rate, 1.0),
            "P3 Thm. 4.8",
            "holds per answer for any number of answers, although its proof (Eq. 13) is wrong; "
            "false per worker",
        )

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "steps": self.steps, "rate": str(self.rate)}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(document, cls.name, {"steps", "rate"})
        text = fields["rate"]
        if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 39):
            raise UsageError(f"the policy's rate must be a string of digits, not {text!r}")
        return cls(integer(fields, "steps"), int(text))


def _check_delta(delta: float) -> None:
    if delta == 0:
        raise UsageError(
            "random-variance-gaussian needs delta > 0: no finite epsilon holds at delta 0; use "
            "laplace for delta 0"
        )


def _noise(
    reports: npt.ArrayLike, answers: npt.ArrayLike
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """The distances of reports from answers, and which reports are clipped at an end."""
    sent = np.asarray(reports, np.float64)
    return np.abs(sent - np.asarray(answers, np.float64)), np.abs(sent) >= FURTHEST
