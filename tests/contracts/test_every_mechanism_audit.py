"""Every mechanism under the audit: the bound is below the guarantee, and exposes false claims."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.mechanisms import (
    Laplace,
    MatrixFactorization,
    Piecewise,
    RandomizedResponse,
    TwoLayer,
)
from sottovoce.mechanisms.audit import audit_mechanism, submissions
from sottovoce.model import NULL, Domain, Unit
from sottovoce.privacy.audit import audit
from sottovoce.seams import Mechanism

if TYPE_CHECKING:
    from tests.contracts.conftest import Case

pytestmark = pytest.mark.statistical

SURE = 1 - 1e-9
COIN, TENTHS = Domain.categorical("ab"), Domain.numeric(0, 10, step=1)


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("samples", [10_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_samples_prove_no_more_than_is_stated(audited: Case, unit: Unit, samples: int) -> None:
    mechanism, answers = audited.mechanism, 3
    delta = 0.1 if math.isinf(mechanism.guarantee(answers, unit).epsilon) else 0.0
    found = audit_mechanism(
        mechanism, audited.domain, SeededRandomness(21),
        answers=answers, unit=unit, samples=samples, delta=delta, confidence=SURE,
    )  # fmt: skip
    assert found.epsilon <= mechanism.guarantee(answers, unit, delta).epsilon + 1e-12


@pytest.mark.parametrize(
    ("mechanism", "domain"),
    [
        (RandomizedResponse.calibrated(COIN, 1.0), COIN),
        (Laplace.calibrated(TENTHS, 1.0), TENTHS),
        pytest.param(Piecewise.calibrated(TENTHS, 1.0), TENTHS, marks=pytest.mark.slow),
    ],
    ids=lambda found: getattr(found, "name", ""),
)
def test_a_million_samples_prove_most_of_what_is_stated(
    mechanism: Mechanism, domain: Domain
) -> None:
    found = audit_mechanism(
        mechanism, domain, SeededRandomness(22), samples=1_000_000, confidence=SURE
    )
    assert 0.85 <= found.epsilon <= 1.0


def test_samples_expose_two_layer_as_published() -> None:
    mechanism = TwoLayer.as_published(COIN, 1.0)
    found = audit_mechanism(
        mechanism, COIN, SeededRandomness(23), answers=20, samples=200_000, confidence=SURE
    )
    claim = mechanism.claim()
    assert claim.epsilon == pytest.approx(1.0)
    assert 1.5 < found.epsilon <= mechanism.guarantee(20, Unit.ANSWER).epsilon


@pytest.mark.slow
def test_samples_expose_the_factorisation_as_published() -> None:
    mechanism = MatrixFactorization.as_published(TENTHS, 1.0, dimension=2)
    answered = np.array([10, *[0] * 3], np.int32)
    skipped = np.array([NULL, *[0] * 3], np.int32)
    found = audit(
        submissions(mechanism, SeededRandomness(24)), answered, skipped,
        samples=200_000, confidence=SURE,
    )  # fmt: skip
    assert mechanism.claim().epsilon == 1.0
    assert found.exceeds(2.5)


def test_samples_do_not_expose_the_repaired_factorisation() -> None:
    mechanism = MatrixFactorization.calibrated(TENTHS, 1.0, dimension=2)
    answered = np.array([10, *[0] * 3], np.int32)
    skipped = np.array([NULL, *[0] * 3], np.int32)
    found = audit(
        submissions(mechanism, SeededRandomness(24)), answered, skipped,
        samples=200_000, confidence=SURE,
    )  # fmt: skip
    assert found.epsilon <= 1.0
