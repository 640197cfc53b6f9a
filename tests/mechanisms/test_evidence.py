"""Reports as symbols: the stated law is the one that symbols follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from sottovoce import Target, make_policy
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import DataError
from sottovoce.mechanisms.codes import report_table
from sottovoce.mechanisms.evidence import BINS, MOST_POINTS
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import (
    NULL,
    Cells,
    Domain,
    Evidence,
    FactorChannel,
    FloatArray,
    NoisyChannel,
    PointChannel,
    Policy,
    Reports,
    SetChannel,
)

LABELS = Domain.categorical(["a", "b", "c", "d", "e"])
GRADES = Domain.ordinal(range(10))
NUMBERS = Domain.numeric(0, 10, step=0.5)
DRAWS = 40_000


def reported(policy: Policy, code: int, draws: int = DRAWS) -> Evidence:
    """The symbols of one answer, given by many workers to one task."""
    mechanism = mechanism_of(policy)
    cells = Cells(
        np.arange(draws, dtype=np.int32),
        np.zeros(draws, np.int32),
        np.full(draws, code, np.int32),
        np.arange(draws),
        np.array(["q"]),
    )
    randomness = SeededRandomness(code + 7)
    sent = mechanism.perturb(cells, mechanism.draw(draws, randomness), randomness)
    table = report_table(sent, mechanism.alphabet, policy.domain, simulated=True)
    found = mechanism.evidence(table, policy.domain)
    assert found is not None
    return found


def shares(found: Evidence) -> FloatArray:
    return np.bincount(found.symbols.value, minlength=found.symbols.labels) / len(found.symbols)


def assert_follows(found: Evidence, law: FloatArray) -> None:
    """Every symbol as often as its law says, within six standard deviations."""
    law = law / law.sum()
    room = 6 * np.sqrt(law * (1 - law) / len(found.symbols)) + 2 / len(found.symbols)
    assert (np.abs(shares(found) - law) <= room).all()


LABEL_POLICIES = [
    make_policy(LABELS, "randomized-response", Target(1.0)),
    make_policy(LABELS, "subset-selection", Target(1.0)),
    make_policy(LABELS, "two-layer", Target(1.0, answers=4)),
    make_policy(LABELS, "null-randomized-response", Target(1.0, hide_participation=True)),
    make_policy(LABELS, "subset-selection", Target(0.5, hide_participation=True)),
]
NUMBER_POLICIES = [
    make_policy(NUMBERS, "piecewise", Target(1.0)),
    make_policy(NUMBERS, "laplace", Target(2.0)),
    make_policy(NUMBERS, "duchi", Target(1.0)),
    make_policy(NUMBERS, "subset-selection", Target(1.0)),
    make_policy(NUMBERS, "threshold", Target(1.0)),
    make_policy(GRADES, "threshold", Target(1.0, hide_participation=True)),
    make_policy(GRADES, "threshold", Target(0.3, hide_participation=True), coin=True),
    make_policy(GRADES, "laplace", Target(1.0, hide_participation=True)),
    make_policy(Domain.numeric(0, 1, step=0.0001), "piecewise", Target(1.0)),
    make_policy(Domain.numeric(0, 1, step=0.0001), "laplace", Target(1.0)),
]


def named(policy: Policy) -> str:
    return f"{policy.name} on {policy.domain}"


@pytest.mark.parametrize("policy", LABEL_POLICIES, ids=named)
def test_sets_of_labels_follow_their_law(policy: Policy) -> None:
    hides = mechanism_of(policy).hides_participation
    for code in (0, 3, *([NULL] if hides else [])):
        found = reported(policy, code)
        assert isinstance(found.channel, SetChannel)
        row = -1 if code == NULL else code
        assert_follows(found, found.channel.matrix()[row])


@pytest.mark.parametrize("policy", NUMBER_POLICIES, ids=named)
def test_numbers_follow_their_law(policy: Policy) -> None:
    mechanism: Any = mechanism_of(policy)
    ends = (0, mechanism.steps)
    for code in (*ends, *([NULL] if mechanism.hides_participation else [])):
        found = reported(policy, code, 20_000)
        assert isinstance(found.channel, PointChannel)
        row = {0: 0, NULL: -1}.get(code, len(found.channel.points) - 1)
        # All sets that are listed as they occur do occur.
        assert_follows(found, found.channel.likelihood[row])


@pytest.mark.parametrize("policy", NUMBER_POLICIES, ids=named)
def test_the_law_of_every_answer_sums_to_one(policy: Policy) -> None:
    found = reported(policy, 1, 5_000)
    assert isinstance(found.channel, PointChannel)
    np.testing.assert_allclose(found.channel.likelihood.sum(axis=1), 1.0, atol=1e-6)


def test_a_fine_grid_is_coarsened() -> None:
    found = reported(make_policy(Domain.numeric(0, 1, step=0.0001), "laplace", Target(1.0)), 5, 50)
    assert isinstance(found.channel, PointChannel)
    assert len(found.channel.points) == MOST_POINTS
    assert found.channel.symbols <= BINS + 2


def test_gaussian_noise_of_a_private_variance_follows_its_law() -> None:
    policy = make_policy(NUMBERS, "random-variance-gaussian", Target(1.0, delta=0.1, answers=5))
    found = reported(policy, 20)
    channel = found.channel
    assert isinstance(channel, NoisyChannel)
    # Finer than the channel's sixteen levels, which approximate the law of the variance.
    mechanism: Any = mechanism_of(policy)
    levels = -np.log1p(-(np.arange(4096) + 0.5) / 4096) * 2 * (0.5 * mechanism.scale) ** 2
    below = ndtr((channel.edges[:, None] - 10.0) / np.sqrt(levels)).mean(axis=1)
    law = np.diff(np.concatenate([[0.0], below, [1.0]]))
    assert np.abs(shares(found) - law).max() < 0.01


def test_labels_on_a_scale_are_numbers() -> None:
    policy = make_policy(GRADES, "randomized-response", Target(1.0))
    table = Reports.of([0, 1], [0, 0], [3, 9], domain=GRADES)
    found = mechanism_of(policy).evidence(table, GRADES, as_numbers=True)
    assert found is not None
    assert isinstance(found.channel, PointChannel)
    assert found.channel.points.tolist() == list(range(10))


def test_factorised_reports_come_with_their_profiles() -> None:
    policy = make_policy(GRADES, "matrix-factorization", Target(1.0, hide_participation=True))
    table = Reports.of([0, 0], [0, 1], [3.0, 4.5], domain=Domain.numeric())
    found = mechanism_of(policy).evidence(table, GRADES)
    assert found is not None
    assert isinstance(found.channel, FactorChannel)
    assert found.channel.profiles.shape == (10, 2)


def test_a_set_of_another_size_is_refused() -> None:
    policy = make_policy(LABELS, "subset-selection", Target(1.0))
    table = Reports.of([0], [0], [0], domain=Domain.categorical(["0 1 2 3"]))
    with pytest.raises(DataError, match="it was not made under this policy"):
        mechanism_of(policy).evidence(table, LABELS)
