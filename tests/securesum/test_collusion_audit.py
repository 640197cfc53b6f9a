"""The audit of opened totals: a sound sum passes, and one with too little noise is detected."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms import Layout, SealedSum
from sottovoce.mechanisms.laws.polya import Polya
from sottovoce.model import Unit
from sottovoce.securesum.collusion_audit import audit_opened

SURE = 1 - 1e-9


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("layout", "size", "hidden"),
    [
        (Layout.VOTES, 2, False),
        pytest.param(Layout.VOTES, 2, True, marks=pytest.mark.slow),
        pytest.param(Layout.VOTES, 3, True, marks=pytest.mark.slow),
        pytest.param(Layout.SUM, 4, True, marks=pytest.mark.slow),
    ],
)
def test_honest_noise_keeps_its_promise_and_not_much_more(
    layout: Layout, size: int, hidden: bool
) -> None:
    """The bound exceeds ε with a probability of at most 10⁻⁹; at this seed it is near."""
    sealed = SealedSum(layout, size, hidden, Fraction(1))
    found = audit_opened(sealed, SeededRandomness(2), samples=30_000, confidence=SURE)
    assert 0.75 < found.epsilon <= 1


@pytest.mark.statistical
def test_one_more_colluder_than_said_is_caught() -> None:
    """Five seats of which two collude, stated for one: too little noise is left."""
    stated = SealedSum(Layout.VOTES, 2, False, Fraction(1), 5, 1)

    class Betrayed(SealedSum):
        """Deals for one colluder while two collude."""

        @property
        def deals(self) -> tuple[Polya, ...]:
            return stated.deals

    betrayed = Betrayed(Layout.VOTES, 2, False, Fraction(1), 5, 2)
    found = audit_opened(betrayed, SeededRandomness(2), samples=30_000, confidence=SURE)
    assert found.exceeds(stated.guarantee(1, Unit.ANSWER).epsilon)


@pytest.mark.statistical
def test_per_worker_all_answers_are_changed() -> None:
    """Two answers lose more than one could."""
    sealed = SealedSum(Layout.VOTES, 2, False, Fraction(1))
    found = audit_opened(
        sealed, SeededRandomness(3), answers=2, unit=Unit.WORKER, samples=30_000,
        confidence=SURE,
    )  # fmt: skip
    assert 1 < found.epsilon <= 2
