"""Whether a worker may send reports in several parts."""

from __future__ import annotations

import pytest

from sottovoce.mechanisms import Sampled
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.mechanisms.registry import mechanism_from
from sottovoce.model import Domain

LABELS, NUMBERS = Domain.categorical(["no", "yes", "?"]), Domain.numeric(0, 4, step=1)


@pytest.mark.parametrize(
    ("mechanism", "domain", "separable"),
    [
        ("randomized-response", LABELS, True),
        ("subset-selection", LABELS, True),
        ("piecewise", NUMBERS, True),
        ("duchi", NUMBERS, True),
        ("threshold", NUMBERS, True),
        ("laplace", NUMBERS, True),
        ("null-randomized-response", LABELS, False),
        ("two-layer", LABELS, False),
        ("matrix-factorization", NUMBERS, False),
    ],
)
def test_only_reports_with_noise_of_their_own_are_separable(
    mechanism: str, domain: Domain, separable: bool
) -> None:
    policy = make_policy(domain, mechanism, Target(1.0, answers=4))
    assert mechanism_from(policy.mechanism).is_separable is separable


def test_a_variance_that_is_drawn_once_is_not_separable() -> None:
    policy = make_policy(NUMBERS, "random-variance-gaussian", Target(1.0, delta=1e-3, answers=4))
    assert not mechanism_from(policy.mechanism).is_separable


def test_a_sample_is_taken_once() -> None:
    inner = make_policy(LABELS, "randomized-response", Target(1.0, answers=2))
    assert not Sampled(mechanism_from(inner.mechanism), 2).is_separable
