"""The noise in opened sums, as seen by everyone and by t keyholders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from tests.securesum.committees import contributed, keys_of, session_of
from tests.securesum.sealed_policies import COORDINATOR

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.mechanisms.laws.polya import noise_law
from sottovoce.privacy.audit import audit_samples
from sottovoce.securesum.committee.simulation import run_in_memory
from sottovoce.securesum.committee.terms import Session

pytestmark = pytest.mark.statistical

SAMPLES = 6000
DOUBT = 1e-10
"""Each test looks at no more than ten: together once in 10⁹."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Opened:
    """Opened sums of one slot over many tasks, and the noise of each keyholder in them."""

    sums: Integers
    noise: Integers

    def without(self, coalition: Sequence[int]) -> Integers:
        """The noise that is left for keyholders who know their own."""
        left: Integers = self.sums - self.noise[[seat - 1 for seat in coalition]].sum(axis=0)
        return left


@cache
def session() -> Session:
    return session_of(tasks=SAMPLES, answers=SAMPLES, minimum=2)


@cache
def opened(answer: int, seed: int) -> Opened:
    """Two workers answer every task alike: one of them 0, the other as given."""
    made = session()
    uploads = [
        contributed(made, name, [code] * SAMPLES) for name, code in (("a", 0), ("b", answer))
    ]
    run = run_in_memory(made, uploads, keys_of(made), COORDINATOR, SeededRandomness(seed))
    randomness = SeededRandomness(seed)
    noise = [made.sealed.deals[0].sample(SAMPLES, randomness) for _ in range(made.sealed.seats)]
    return Opened(run.totals[:, 0], np.array(noise))


def chance(samples: Integers, shape: Fraction) -> float:
    """P(a distance to the law as large), by chi-square, with bins of at least 10 expected."""
    law, reach = noise_law(Fraction(1), shape)
    widest = int(np.flatnonzero(law * len(samples) >= 10)[-1]) - reach
    edges = np.clip(samples, -widest, widest) + widest
    seen = np.bincount(edges, minlength=2 * widest + 1)
    inner = law[reach - widest : reach + widest + 1].copy()
    inner[0] += law[: reach - widest].sum()
    inner[-1] += law[reach + widest + 1 :].sum()
    return float(stats.chisquare(seen, inner / inner.sum() * len(samples)).pvalue)


def test_everybody_sees_the_noise_of_all_deals() -> None:
    assert chance(opened(1, 11).sums - 1, Fraction(3, 2)) > DOUBT
    assert chance(opened(1, 11).sums - 1, Fraction(1)) < DOUBT  # it is not another law


def test_for_a_colluding_keyholder_it_is_discrete_laplace() -> None:
    for seat in (1, 2, 3):
        assert chance(opened(1, 11).without([seat]) - 1, Fraction(1)) > DOUBT


def test_one_keyholder_in_league_learns_no_more_than_epsilon() -> None:
    found = audit_samples(
        opened(0, 12).without([3]), opened(1, 11).without([3]), confidence=1 - DOUBT
    )
    assert not found.exceeds(1.0)
    assert found.epsilon > 0.5  # it does see something


def test_two_in_league_would() -> None:
    """More than the policy allows for: the audit's result if noise were missing."""
    found = audit_samples(
        opened(0, 12).without([2, 3]), opened(1, 11).without([2, 3]), confidence=1 - DOUBT
    )
    assert found.exceeds(1.0)
