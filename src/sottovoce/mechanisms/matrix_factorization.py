"""Matrix factorisation: a worker's answers as a few noisy numbers, and a report for every task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.geometric import (
    LONGEST,
    Geometric,
    finest_resolution,
    noise_for,
    step_epsilon,
)
from sottovoce.mechanisms.laws.task_profiles import as_matrix, check_salt, integer_profiles
from sottovoce.mechanisms.published_factorization import Factorization, PublishedFactorization
from sottovoce.mechanisms.validation import (
    check_answers,
    check_integer,
    check_steps,
    grid_of,
    has_grid,
    integer,
    mechanism_fields,
    word_weight,
)
from sottovoce.model import (
    NULL,
    WORDS,
    Candidate,
    Cells,
    Domain,
    Evidence,
    FactorChannel,
    FloatArray,
    Grid,
    Guarantee,
    Listing,
    Private,
    Promise,
    Reports,
    Unit,
    UnitName,
)
from sottovoce.model.guarantee import check_answer_count
from sottovoce.model.policy import check_target
from sottovoce.privacy.composition import pure_delta, pure_guarantee
from sottovoce.seams import Randomness

MOST_DIMENSIONS = 256
MOST_RESOLUTION = 1 << 16

ASSUMPTIONS = (
    "every worker reports on every task, answered or not",
    "the profiles of tasks are public and do not depend on answers",
)
SOURCE = "upper bound: 1-norm sensitivity, tight per answer up to the rounding of weights"


@dataclass(frozen=True, slots=True)
class MatrixFactorization(Factorization):
    """Report c + uᵀV, where u fits noisy sums of a worker's offsets (P4 Alg. 2, corrected).

        oⱼ = answer - c, or 0 for NULL                 c = `middle`, public
        zₗ = clamp(clamp((V o)ₗ) + noise)               clamp to ±S, S = reach / 2
        u  = (V Vᵀ + ridge I)⁻¹ z,   reports = c + uᵀ V

    The columns of V are public integers with 1-norm `resolution`, r (`task_profiles`); the noise
    is `Geometric` and independent. u and the reports are computed from z alone.

    One answer, changed to another or to or from NULL, moves o by at most N = `steps` in one place,
    and so (V o)ₗ by at most pₗ N with Σ pₗ = r; clamping increases no distance. Let m be the
    largest loss of one zₗ under a shift by N, which is attained at a weight or at a tail of the
    table: m = max ln w(d)/w(d + N), ln T(d)/T(d + N). A shift by pₗ N is pₗ of those, so

        ε = r m  per answer,   k r m  for k answers of a worker.

    S is some noise scales: where the sums are larger, reports are biased towards c.

    >>> law = MatrixFactorization.calibrated(Domain.ordinal(range(10)), 1.0)
    >>> print(law.guarantee(1, Unit.ANSWER), law.resolution, law.reach)
    epsilon 1 per answer 256 32860
    """

    steps: int
    middle: int
    dimension: int
    resolution: int
    ridge: int
    centre: int
    ratio: int
    reach: int
    salt: str = ""

    listing: ClassVar[Listing | None] = Listing(
        9, "Matrix factorisation: all answers in one bundle"
    )

    def __post_init__(self) -> None:
        check_steps(self.steps)
        check_integer("middle", self.middle, 0, self.steps)
        check_integer("dimension", self.dimension, 1, MOST_DIMENSIONS)
        check_integer("resolution", self.resolution, 1, MOST_RESOLUTION)
        check_integer("ridge", self.ridge, 1, MOST_RESOLUTION**2)
        check_integer("reach", self.reach, 2 * self.steps, LONGEST)
        if self.reach % 2:
            raise UsageError(f"reach must be even, not {self.reach}")
        check_salt(self.salt)
        self._noise  # noqa: B018 - its weights are checked when it is made

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
        dimension: int = 10,
        middle: int | None = None,
        salt: str = "",
    ) -> Self:
        """The least noise whose guarantee is within the target, on profiles as fine as it allows.

        The ridge is about the weight of one task in V Vᵀ.
        """
        check_target(epsilon, delta, answers)
        check_integer("dimension", dimension, 1, MOST_DIMENSIONS)
        steps = grid_of(domain, cls.name).steps
        changed = answers if Unit(unit) is Unit.WORKER else 1
        cell = _pure(epsilon, delta) / changed
        resolution = finest_resolution(steps, cell)
        noise = noise_for(steps, cell, resolution, changed)
        return cls(
            steps,
            steps // 2 if middle is None else middle,
            dimension,
            resolution,
            max(1, resolution**2 // dimension**2),
            noise.centre,
            noise.ratio,
            noise.reach,
            salt,
        )

    @classmethod
    def as_published(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        dimension: int = 10,
        ridge: float = 0.0,
        salt: str = "",
    ) -> PublishedFactorization:
        """P4 Alg. 2 to the letter, which does not hide participation: for reproduction only."""
        return PublishedFactorization.over(
            domain, epsilon, dimension=dimension, ridge=ridge, salt=salt
        )

    @property
    def _noise(self) -> Geometric:
        return Geometric(self.centre, self.ratio, self.reach)

    @property
    def cell_epsilon(self) -> float:
        """r m: the ε of one answer."""
        return self.resolution * step_epsilon(self._noise, self.steps)

    @property
    def noise_variance(self) -> float:
        """The variance of the noise on one of a worker's sums, in squared steps."""
        distance = np.arange(self.reach + 1, dtype=np.float64)
        return float(2 * np.sum(self._noise.weights / WORDS * np.square(distance)))

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = as_matrix(cells, check_answers(cells, self.steps + 1, null=True), self.name)
        profiles = integer_profiles(cells.tasks, self.dimension, self.resolution, self.salt)
        sums = self.sums(codes, profiles, randomness)
        return cells.reporting(self._reports(sums, profiles.astype(np.float64)).ravel())

    def sums(
        self, codes: FloatArray, profiles: npt.NDArray[np.int64], randomness: Randomness
    ) -> FloatArray:
        """z, a row per worker: reports depend on nothing else."""
        offsets = np.where(codes == NULL, 0.0, codes - self.middle)
        furthest = self.reach // 2
        # Sums of integers below 2⁵³ are exact in floating point, in any order.
        true = np.clip(offsets @ profiles.T.astype(np.float64), -furthest, furthest)
        noise = self._noise.sample(true.size, randomness).reshape(true.shape)
        sent: FloatArray = np.clip(true + noise, -furthest, furthest)
        return sent

    def _reports(self, sums: FloatArray, profiles: FloatArray) -> FloatArray:
        gram = profiles @ profiles.T + self.ridge * np.eye(self.dimension)
        reports: FloatArray = self.middle + np.linalg.solve(gram, sums.T).T @ profiles
        return reports

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        return (Candidate(10),) if has_grid(domain) and hidden else ()

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        """The public profiles of the tasks, and the noise's variance on the domain's scale."""
        grid = Grid.over(domain)
        profiles = integer_profiles(reports.tasks, self.dimension, self.resolution, self.salt)
        channel = FactorChannel(
            float(grid.low),
            float(grid.high),
            float(grid.values(self.middle)),
            profiles.astype(float),
            float(self.ridge),
            self.noise_variance * float(grid.step) ** 2,
        )
        return Evidence(reports, channel)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        held = pure_guarantee(self._loss(answers, unit), 1, Unit.ANSWER, delta)
        return replace(
            held, unit=Unit(unit), answers=answers, assumptions=ASSUMPTIONS, source=SOURCE
        )

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return pure_delta(epsilon, self._loss(answers, unit), 1, Unit.ANSWER)

    def _loss(self, answers: int, unit: UnitName) -> float:
        check_answer_count(answers)
        return self.cell_epsilon * (answers if Unit(unit) is Unit.WORKER else 1)

    def claim(self, epsilon: float | None = None) -> None:
        """The paper's mechanism is a different one."""
        return None

    def as_json(self) -> dict[str, Any]:
        weights = {"centre": str(self.centre), "ratio": str(self.ratio)}
        return {"name": self.name, "form": "sound", **asdict(self), **weights}

    @classmethod
    def of_json(cls, document: Any) -> Any:
        """Either form: `form` distinguishes them."""
        if isinstance(document, dict) and document.get("form") == PublishedFactorization.form:
            return PublishedFactorization.of_json(document)
        small = ("steps", "middle", "dimension", "resolution", "ridge")
        fields = mechanism_fields(
            document, cls.name, {"form", *small, "centre", "ratio", "reach", "salt"}
        )
        if fields["form"] != "sound":
            raise UsageError(
                f"the policy's form must be sound or as-published, not {fields['form']!r}"
            )
        return cls(
            **{field: integer(fields, field) for field in (*small, "reach")},
            centre=word_weight(fields, "centre"),
            ratio=word_weight(fields, "ratio"),
            salt=fields["salt"],
        )


def _pure(epsilon: float, delta: float) -> float:
    """The pure ε whose binary randomised response has this δ at ε, without its last digits."""
    pure = epsilon + math.log1p(delta * math.exp(-epsilon)) - math.log1p(-delta)
    return pure * (1 - 1e-10)
