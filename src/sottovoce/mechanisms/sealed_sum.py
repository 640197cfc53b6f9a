"""Sealed sums: keyholders open totals together, with their own noise in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar, Self

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.polya import FLATTEST, Polya, noise_law
from sottovoce.mechanisms.validation import check_integer, integer, mechanism_fields
from sottovoce.model import (
    Candidate,
    Citation,
    Claim,
    Domain,
    FloatArray,
    Grid,
    Guarantee,
    Keyholder,
    Kind,
    Listing,
    Promise,
    Unit,
    UnitName,
)
from sottovoce.model.guarantee import check_answer_count, check_count
from sottovoce.model.keyholder import check_public_key
from sottovoce.model.policy import SEALED, check_target, short
from sottovoce.privacy.composition import pure_delta, pure_guarantee

SUITE = "committee"
MOST_LABELS, MOST_STEPS, MOST_BINS = 256, 4096, 64
MOST_SEATS, MOST_MINIMUM = 15, 1_000_000
MOST_PART = 10**6
"""The largest numerator and denominator of epsilon."""

USUAL_STEPS, USUAL_BINS = 256, 16
SOURCE = "exact: the opened total is the sum plus independent discrete Laplace noise per slot"


class Layout(StrEnum):
    """The values added up: votes for labels, the numbers, or the counts of bins."""

    VOTES = "votes"
    SUM = "sum"
    HISTOGRAM = "histogram"


_SIZES = {
    Layout.VOTES: ("labels", 2, MOST_LABELS),
    Layout.SUM: ("steps", 2, MOST_STEPS),
    Layout.HISTOGRAM: ("bins", 3, MOST_BINS),
}


@dataclass(frozen=True, slots=True)
class SealedSum:
    """Answers are shared among keyholders, who open only one noised sum per slot of a task.

    Nothing is perturbed on the device. Each of N = `seats` keyholders deals, for every slot, the
    difference of two negative binomials of shape 1 / (N - t), t = `degree`, and any t + 1 of them
    open the total of all contributions and of all N deals (Dwork et al. 2006; Goryczka & Xiong
    2017). The noise of slot s falls off as exp(-λₛ |z|):

        layout                  hidden   slots of an answer           λ
        votes of 2 labels       no       u = 0 or 1                   ε
        votes, histogram        either   one bit per label or bin     ε / 2 each
        votes of 2 labels       yes      2u - c in -1 … 1, c          ε / 2, ε / 2
        sum of R steps          no       v = 0 … R                    ε / R
        sum of R steps          yes      v - R/2, c                   ε / R, ε / 2

    where c is 1 for an answer and all slots of NULL are 0. The guarantee: t colluding keyholders,
    also with the server and with other workers, know their own shares and noise and nothing of the
    rest, because t points of a polynomial of degree t reveal nothing about its value at 0. They
    learn the total minus what they know: the answers of the others and the noise of N - t honest
    deals. Shapes of negative binomials with one q add up, to 1, so this noise is the difference of
    two geometric variables, discrete Laplace: P(z) ∝ exp(-λ |z|) in every slot. If another answer
    moves slot s by dₛ, the loss is Σ λₛ (|zₛ + dₛ| - |zₛ|) ≤ Σ λₛ |dₛ|, which is attained wherever
    all zₛ have the sign of dₛ. By the table Σ λₛ |dₛ| is at most

        ε · 1;   two bits: ε/2 + ε/2, one and NULL: ε/2;   yes and no: 2 ε/2, NULL: ε/2 + ε/2;
        R ε/R;   R ε/R, NULL: (R/2) ε/R + ε/2

    so it is ε for every layout and no less. Every task has fresh noise: k answers lose k ε. If more
    than N - t are honest, the noise that their deals add is independent of the answers: it is
    post-processing, and the ratio of the tails still tends to exp(ε).

    `keyholders` and `coordinator`, the server's signing key, may be missing in plans only.

    >>> sealed = SealedSum.calibrated(Domain.categorical(["no", "yes"]), 1.0)
    >>> sealed.scales, sealed.guarantee(20, Unit.WORKER).epsilon
    ((Fraction(1, 1),), 20.0)
    """

    layout: Layout
    size: int
    hidden: bool
    epsilon: Fraction
    seats: int = 3
    degree: int = 1
    minimum: int = 10
    keyholders: tuple[Keyholder, ...] = ()
    coordinator: str = ""

    name: ClassVar[str] = SEALED
    takes: ClassVar[frozenset[Kind]] = frozenset(Kind)
    citation: ClassVar[Citation] = Citation(
        "secret sharing among keyholders, who open only totals to which all of them have added "
        "distributed discrete Laplace noise",
        "Goryczka & Xiong 2017",
        "S. Goryczka, L. Xiong: A Comprehensive Comparison of Multiparty Secure Additions with "
        "Differential Privacy. IEEE Transactions on Dependable and Secure Computing 14(5), 2017.",
    )
    hiding: ClassVar[Mapping[str, Any] | None] = {"hidden": True}
    whole: ClassVar[bool] = True
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = Listing(
        10,
        "Sealed sums: keyholders open one total, with noise in it",
        counts="of 100 guesses between two answers, the most that are right",
        most_labels=MOST_LABELS,
    )
    in_browser: ClassVar[bool] = True
    is_separable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.layout, Layout):
            raise UsageError(f"layout must be votes, sum or histogram, not {short(self.layout)}")
        check_integer(*_size_bounds(self.layout, self.size))
        if self.layout is Layout.SUM and self.size % 2:
            raise UsageError(f"steps of a sum must be even, not {self.size}: NULL is the middle")
        if not isinstance(self.hidden, bool):
            raise UsageError(f"hidden must be true or false, not {short(self.hidden)}")
        _check_epsilon(self.epsilon)
        if min(self.scales) < FLATTEST:
            raise UsageError(
                f"noise for epsilon {float(self.epsilon):g} on {self.size:,} steps is too wide to "
                "open: choose a larger epsilon or a smaller size"
            )
        check_integer("degree", self.degree, 1, (MOST_SEATS - 1) // 2)
        check_integer("minimum", self.minimum, 2, MOST_MINIMUM)
        self._check_keyholders()

    def _check_keyholders(self) -> None:
        check_integer("seats", self.seats, 3, MOST_SEATS)
        if self.seats < 2 * self.degree + 1:
            raise UsageError(
                f"{self.degree} colluding keyholders need at least {2 * self.degree + 1} seats, "
                f"not {self.seats}: add keyholders or lower the degree"
            )
        if self.coordinator != "":
            check_public_key("the coordinator's key", self.coordinator)
        given = self.keyholders
        if not isinstance(given, tuple) or not all(isinstance(one, Keyholder) for one in given):
            raise UsageError("keyholders must be a tuple of Keyholder")
        if given and len(given) != self.seats:
            raise UsageError(
                f"{self.seats} seats need as many keyholders, but {len(given)} are given"
            )
        _check_distinct("name", [one.name for one in given])
        keys = chain.from_iterable((one.sealing, one.signing) for one in given)
        _check_distinct("key", [*keys, *([self.coordinator] if self.coordinator else [])])

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
        hidden: bool = False,
        layout: Layout | str | None = None,
        size: int | None = None,
        seats: int = 3,
        degree: int = 1,
        minimum: int = 10,
        keyholders: tuple[Keyholder, ...] = (),
        coordinator: str = "",
    ) -> Self:
        """The largest rational ε per answer within the target; delta is not needed, so not spent.

        >>> SealedSum.calibrated(Domain.numeric(0, 10), 0.1).scales
        (Fraction(1, 2560),)
        """
        check_target(epsilon, delta, answers)
        shape = _layout_of(domain, layout)
        # Floats are fractions: the target is compared exactly.
        target = Fraction(epsilon) / (answers if Unit(unit) is Unit.WORKER else 1)
        return cls(
            shape,
            _size_of(domain, shape, size),
            hidden,
            _at_most(target, epsilon),
            seats,
            degree,
            minimum,
            keyholders,
            coordinator,
        )

    @property
    def hides_participation(self) -> bool:
        """Whether NULL is an answer like any other; if not, participation is public."""
        return self.hidden

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        """The default layout, and a histogram for numbers; last, because they need keyholders."""
        histogram = Candidate(12, "histogram", {"layout": Layout.HISTOGRAM})
        return (Candidate(11), *([histogram] if domain.is_numeric else []))

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """λ of each slot of a task: noise there falls off as exp(-λ |z|)."""
        half = self.epsilon / 2
        if self.layout is Layout.SUM:
            return (self.epsilon / self.size, *((half,) if self.hidden else ()))
        if self.layout is Layout.VOTES and self.size == 2:
            return (half, half) if self.hidden else (self.epsilon,)
        return (half,) * self.size

    @property
    def deals(self) -> tuple[Polya, ...]:
        """The law of one keyholder's noise in each slot of a task."""
        shape = Fraction(1, self.seats - self.degree)
        return tuple(Polya(shape, decay) for decay in self.scales)

    def noise_laws(self) -> tuple[tuple[FloatArray, int], ...]:
        """The law of all keyholders' noise in each slot: chances of -reach … reach, and reach."""
        shape = Fraction(self.seats, self.seats - self.degree)
        return tuple(noise_law(decay, shape) for decay in self.scales)

    @property
    def variances(self) -> tuple[float, ...]:
        """The variance in each slot if all keyholders are honest: 2 N/(N - t) q / (1 - q)²."""
        shape = self.seats / (self.seats - self.degree)
        # q / (1 - q)² without cancellation: 1 / (4 sinh²(λ / 2)).
        return tuple(shape / 2 * _csch(float(decay) / 2) ** 2 for decay in self.scales)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The conditions under which the guarantee holds."""
        return (
            f"at most {self.degree} of {self.seats} keyholders collude, with each other, with the "
            "server or with workers",
            "the other keyholders draw their noise from the operating system's generator",
            "nobody breaks X25519, Ed25519, SHA-256 or AES-256-GCM",
        )

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        """Exact at delta 0: ε per answer, k ε per worker; at a delta a bound (see `pure_delta`)."""
        pure = self._pure(answers, unit)
        if delta == 0:
            return Guarantee(Unit(unit), answers, pure, 0.0, True, self.assumptions, SOURCE)
        cell = _rounded_up(self.epsilon)
        held = pure_guarantee(cell, answers, unit, delta, assumptions=self.assumptions)
        epsilon = min(held.epsilon, pure)
        return Guarantee(Unit(unit), answers, epsilon, delta, False, self.assumptions, held.source)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        """0 from the pure ε on; below it at most that of k binary randomised responses."""
        if epsilon >= self._pure(answers, unit):
            return 0.0
        return pure_delta(epsilon, _rounded_up(self.epsilon), answers, unit)

    def _pure(self, answers: int, unit: UnitName) -> float:
        check_count("answers", answers)
        check_answer_count(answers)
        return _rounded_up(self.epsilon * (int(answers) if Unit(unit) is Unit.WORKER else 1))

    def claim(self, epsilon: float | None = None) -> Claim | None:
        """None: no paper has these parameters."""
        return None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "suite": SUITE,
            "layout": str(self.layout),
            "size": self.size,
            "hidden": self.hidden,
            "epsilon": [str(self.epsilon.numerator), str(self.epsilon.denominator)],
            "seats": self.seats,
            "degree": self.degree,
            "minimum": self.minimum,
            "keyholders": [one.as_json() for one in self.keyholders],
            "coordinator": self.coordinator,
        }

    @classmethod
    def of_json(cls, document: Any) -> Self:
        known = "suite layout size hidden epsilon seats degree minimum keyholders coordinator"
        fields = mechanism_fields(document, cls.name, set(known.split()))
        if fields["suite"] != SUITE:
            raise UsageError(f"the policy's suite must be {SUITE}, not {short(fields['suite'])}")
        if not isinstance(fields["keyholders"], list):
            raise UsageError("the policy's keyholders must be a list")
        return cls(
            _layout(fields["layout"]),
            integer(fields, "size"),
            fields["hidden"],
            _epsilon_of(fields["epsilon"]),
            integer(fields, "seats"),
            integer(fields, "degree"),
            integer(fields, "minimum"),
            tuple(map(Keyholder.of_json, fields["keyholders"])),
            fields["coordinator"],
        )


def _size_bounds(layout: Layout, size: Any) -> tuple[str, Any, int, int]:
    what, least, most = _SIZES[layout]
    return f"the {what} of {layout}", size, least, most


def _check_epsilon(epsilon: Any) -> None:
    if not isinstance(epsilon, Fraction) or epsilon <= 0:
        raise UsageError(f"epsilon must be a Fraction above 0, not {short(epsilon)}")
    if max(epsilon.numerator, epsilon.denominator) > MOST_PART:
        raise UsageError(
            f"epsilon must be a fraction of integers up to {MOST_PART:,}, not {short(epsilon)}"
        )


def _check_distinct(what: str, values: list[str]) -> None:
    """One person with two seats would count twice."""
    for value in values:
        if values.count(value) > 1:
            raise UsageError(
                f"two keyholders have the same {what} {short(value)}: each needs a different one"
            )


def _layout(text: Any) -> Layout:
    try:
        return Layout(text)
    except ValueError:
        raise UsageError(f"layout must be votes, sum or histogram, not {short(text)}") from None


def check_layout(sealed: SealedSum, domain: Domain) -> None:
    """Refuse a sealed sum made for another domain."""
    _layout_of(domain, sealed.layout)
    _size_of(domain, sealed.layout, sealed.size)


def _layout_of(domain: Domain, layout: Layout | str | None) -> Layout:
    """The requested layout, if the domain has it; by default votes for labels, sums for numbers."""
    numeric = domain.is_numeric
    chosen = (Layout.SUM if numeric else Layout.VOTES) if layout is None else _layout(layout)
    if (chosen is Layout.VOTES) == numeric:
        fitting = "sum or histogram" if numeric else "votes"
        raise UsageError(f"layout {chosen} does not take {domain} answers: use {fitting}")
    return chosen


def _size_of(domain: Domain, layout: Layout, size: int | None) -> int:
    """The number of labels, or the requested size, or the default of the domain."""
    if layout is Layout.VOTES:
        if size not in (None, domain.size):
            raise UsageError(
                f"the domain has {domain.size:,} labels, but the sealed sum has {size:,}: make "
                "the policy again"
            )
        return domain.size
    steps = Grid.over(domain).steps  # refuses a range without ends
    if size is not None:
        return size
    if layout is Layout.HISTOGRAM:
        return USUAL_BINS
    # Twice an odd number of steps has a middle and all points of the grid.
    even = steps if steps % 2 == 0 else 2 * steps
    return even if domain.step is not None and even <= MOST_STEPS else USUAL_STEPS


def _at_most(target: Fraction, asked: float) -> Fraction:
    """The largest fraction of small integers within the target: itself or a Farey neighbour."""
    most = min(MOST_PART, math.floor(MOST_PART / target)) if target > 1 else MOST_PART
    if most == 0 or target < Fraction(1, MOST_PART):
        raise UsageError(
            f"epsilon {asked:g} is {float(target):g} per answer; sealed sums take "
            f"{1 / MOST_PART:g} to {MOST_PART:,}"
        )
    near = target.limit_denominator(most)
    if near <= target:
        return near
    # The neighbour below n / d is p / q with n q - p d = 1 and the largest such q.
    inverse = pow(near.numerator, -1, near.denominator)
    q = most - (most - inverse) % near.denominator
    return Fraction((near.numerator * q - 1) // near.denominator, q)


def _epsilon_of(pair: Any) -> Fraction:
    """A fraction in lowest terms: two texts of digits, so that one policy has one hash."""
    if isinstance(pair, list) and len(pair) == 2 and all(map(_is_digits, pair)):
        numerator, denominator = int(pair[0]), int(pair[1])
        if denominator and math.gcd(numerator, denominator) == 1:
            return Fraction(numerator, denominator)
    raise UsageError(
        f"the policy's epsilon must be two texts of digits in lowest terms, not {short(pair)}"
    )


def _is_digits(text: Any) -> bool:
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 7):
        return False
    return text == str(int(text))


def _csch(x: float) -> float:
    return 2 * math.exp(-x) / -math.expm1(-2 * x)


def _rounded_up(exact: Fraction) -> float:
    """The least float that is not below: a bound stays a bound."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)
