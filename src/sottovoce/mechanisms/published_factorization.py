"""Matrix factorisation as published: for reproduction, because it does not hide participation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.codes import report_cells
from sottovoce.mechanisms.evidence import plain_numbers
from sottovoce.mechanisms.laws.draws import laplace
from sottovoce.mechanisms.laws.task_profiles import as_matrix, check_salt, real_profiles
from sottovoce.mechanisms.papers import P4
from sottovoce.mechanisms.validation import (
    FARTHEST,
    NUMBERS,
    check_answers,
    check_integer,
    check_steps,
    codes_within,
    grid_of,
    integer,
    mechanism_fields,
)
from sottovoce.model import (
    NULL,
    Alphabet,
    Candidate,
    Cells,
    Citation,
    Claim,
    Domain,
    FloatArray,
    Guarantee,
    Kind,
    Listing,
    Private,
    Promise,
    ReportCodes,
    Reports,
    Unit,
    UnitName,
)
from sottovoce.model.policy import check_target, decimal
from sottovoce.seams import Randomness

MOST_DIMENSIONS = 256


class Factorization:
    """The common part of the paper's factorisation and the sound one."""

    __slots__ = ()

    name: ClassVar[str] = "matrix-factorization"
    takes: ClassVar[frozenset[Kind]] = NUMBERS
    alphabet: ClassVar[Alphabet] = Alphabet.NUMBERS
    hides_participation: ClassVar[bool] = True
    citation: ClassVar[Citation] = Citation(
        "noise on a factorisation of each worker's answers", *P4
    )
    hiding: ClassVar[Mapping[str, Any] | None] = {}
    whole: ClassVar[bool] = True
    sound_as_published: ClassVar[bool] = False
    in_browser: ClassVar[bool] = False
    is_separable: ClassVar[bool] = False
    is_plain: ClassVar[bool] = True

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, -FARTHEST, FARTHEST)

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        return plain_numbers(reports, report_cells(reports, self.alphabet, domain).code, domain)

    def odds(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class PublishedFactorization(Factorization):
    """Report uᵀV, where u minimises a perturbed loss over the tasks answered (P4 Alg. 2, Eq. 9).

        u = argmin Σ_T (aⱼ - uᵀvⱼ)² + 2 uᵀη,   ηₗ ~ Laplace(|Γ| / ε),   |vⱼ|₁ = 1
          = H⁻¹ g,   H = Σ_T vⱼvⱼᵀ + ridge I,   g = Σ_T aⱼvⱼ - η

    Γ is the set of values, for numbers that of the grid. P4 takes gradient steps until the gradient
    is 0, and their limit is u for any start and learning rate; it is solved for here. For a worker
    with fewer answers than dimensions there is no minimum, and it is refused unless `ridge`, which
    P4 does not have, is above 0.

    P4 Thm. 4 claims ε per answer with NULL an answer like others. But the tasks answered are in H:
    for one report u the noise of neighbours differs by v (a - uᵀv), which has no bound, so no
    finite ε holds. Between two values it is v (a - a'), and ε holds with max - min for |Γ|.
    Every task gets a report, but the privacy loss has no bound.

    >>> paper = PublishedFactorization.over(Domain.ordinal(range(10)), 1.0)
    >>> paper.guarantee(20, Unit.ANSWER).epsilon, round(paper.value_epsilon, 9)
    (inf, 0.9)
    """

    steps: int
    low: str
    step: str
    dimension: int
    epsilon: float
    ridge: float = 0.0
    salt: str = ""

    form: ClassVar[str] = "as-published"
    listing: ClassVar[Listing | None] = None

    def __post_init__(self) -> None:
        check_steps(self.steps)
        check_integer("dimension", self.dimension, 1, MOST_DIMENSIONS)
        check_target(self.epsilon, 0.0, 1)
        if not 0 <= self.ridge < math.inf:
            raise UsageError(f"ridge must be a number from 0 up, not {self.ridge:g}")
        check_salt(self.salt)
        _fraction(self.low, "low")
        if _fraction(self.step, "step") <= 0:
            raise UsageError("step must be above 0")

    @classmethod
    def over(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        dimension: int = 10,
        ridge: float = 0.0,
        salt: str = "",
    ) -> Self:
        """The paper's parameters for a domain; it gives no dimension."""
        grid = grid_of(domain, cls.name)
        return cls(grid.steps, str(grid.low), str(grid.step), dimension, epsilon, ridge, salt)

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
    ) -> NoReturn:
        """No parameters of it meet a target."""
        raise UsageError(
            f"{cls.name} as published keeps no finite epsilon: drop "
            "calibration=Calibration.AS_PUBLISHED"
        )

    @property
    def scale(self) -> float:
        """|Γ| / ε, in the numbers themselves."""
        return (self.steps + 1) / self.epsilon

    @property
    def value_epsilon(self) -> float:
        """The ε between two values of one answer, if participation is public."""
        return self.steps * float(Fraction(self.step)) / self.scale

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = as_matrix(cells, check_answers(cells, self.steps + 1, null=True), self.name)
        answered = (codes != NULL).astype(np.float64)
        few = int(np.sum(answered.sum(axis=1) < self.dimension))
        if few and self.ridge == 0:
            raise DataError(
                f"{few:,} of {len(codes):,} workers answer fewer than {self.dimension} tasks, for "
                "which P4 Alg. 2 has no minimum: choose a smaller dimension, or a ridge above 0"
            )
        low, step = float(Fraction(self.low)), float(Fraction(self.step))
        profiles = real_profiles(cells.tasks, self.dimension, self.salt)
        hessian, pull = self.normal_equations(
            answered, answered * (low + step * codes), profiles, randomness
        )
        fitted = np.linalg.solve(hessian, pull[..., np.newaxis])[..., 0]
        return cells.reporting(((fitted @ profiles - low) / step).ravel())

    def normal_equations(
        self, answered: FloatArray, values: FloatArray, profiles: FloatArray, randomness: Randomness
    ) -> tuple[FloatArray, FloatArray]:
        """H and g of each worker, with fresh noise; the values of missing answers are 0."""
        workers, d = len(values), self.dimension
        squares = np.einsum("in,jn->nij", profiles, profiles).reshape(-1, d * d)
        hessian = (answered @ squares).reshape(workers, d, d) + self.ridge * np.eye(d)
        noise = self.scale * laplace(randomness.words(workers * d)).reshape(workers, d)
        return hessian, values @ profiles.T - noise

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        """None: it keeps no promise."""
        return ()

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> None:
        """None: a report depends on all answers of its worker: no law given one answer."""
        return None

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        """Infinite: between NULL and a value the loss has no bound."""
        return Guarantee(
            Unit(unit),
            answers,
            math.inf,
            delta,
            False,
            (f"between two values of an answer alone epsilon {self.value_epsilon:.4g} holds",),
            "P4 Alg. 2; the loss between NULL and a value grows with the report",
        )

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        """1: nothing less is proven for every worker."""
        return 1.0

    def claim(self, epsilon: float | None = None) -> Claim:
        return Claim(
            self.epsilon,
            0.0,
            "P4 Thm. 4",
            "false between no answer and an answer, where no finite epsilon holds; between two "
            f"values of an answer epsilon is {self.value_epsilon:.4g}",
        )

    def as_json(self) -> dict[str, Any]:
        decimals = {"epsilon": repr(self.epsilon), "ridge": repr(self.ridge)}
        return {"name": self.name, "form": self.form, **asdict(self), **decimals}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(
            document,
            cls.name,
            {"form", "steps", "low", "step", "dimension", "epsilon", "ridge", "salt"},
        )
        if fields["form"] != cls.form:
            raise UsageError(f"the policy's form must be {cls.form}, not {fields['form']!r}")
        return cls(
            integer(fields, "steps"),
            fields["low"],
            fields["step"],
            integer(fields, "dimension"),
            decimal(fields["epsilon"], "epsilon"),
            decimal(fields["ridge"], "ridge"),
            fields["salt"],
        )


def _fraction(text: Any, field: str) -> Fraction:
    try:
        if isinstance(text, str) and len(text) <= 80 and "e" not in text.lower():
            return Fraction(text)
    except (ValueError, ZeroDivisionError):
        pass
    raise UsageError(f"{field} must be a fraction, written as text, not {text!r}")
