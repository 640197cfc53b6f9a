"""Sealed sums: what they promise, what they refuse, and how policies hold them."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.mechanisms import Layout, SealedSum
from sottovoce.mechanisms.laws.polya import noise_law
from sottovoce.mechanisms.policies import (
    Target,
    make_policy,
    mechanism_of,
    policy_of,
    release_of,
    sealed_of,
)
from sottovoce.model import Calibration, Domain, Keyholder, Policy, ShowDraw, Unit
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.plain import PlainSum

YES_NO = Domain.categorical(["no", "yes"])
GRID = Domain.numeric(0, 10, step=0.5)
KEYS = [f"{letter * 42}A" for letter in "BCDEFGH"]
KEYHOLDERS = tuple(Keyholder(f"k{i}", KEYS[i], KEYS[i + 3]) for i in range(3))


def every_layout() -> Iterator[SealedSum]:
    sizes = [(Layout.VOTES, 2), (Layout.VOTES, 3), (Layout.SUM, 6), (Layout.HISTOGRAM, 4)]
    for (layout, size), hidden in itertools.product(sizes, (False, True)):
        yield SealedSum(layout, size, hidden, Fraction(3, 2))


def named(sealed: SealedSum) -> str:
    return f"{sealed.layout} of {sealed.size}{', hidden' * sealed.hidden}"


@pytest.mark.parametrize("sealed", list(every_layout()), ids=named)
def test_an_answer_loses_epsilon_exactly_whatever_the_layout(sealed: SealedSum) -> None:
    """The largest Σ λ |d| over all pairs of answers, NULL among them where it is hidden."""
    ballot = Ballot.of(sealed)
    codes = np.arange(-1 if sealed.hidden else 0, ballot.codes)
    slots = PlainSum(ballot, 1).slot_values(codes).tolist()
    losses = [
        sum(decay * abs(x - y) for decay, x, y in zip(sealed.scales, one, other, strict=True))
        for one, other in itertools.product(slots, repeat=2)
    ]
    assert max(losses) == sealed.epsilon
    assert len(sealed.scales) == ballot.slots


@pytest.mark.parametrize(("seats", "degree"), [(3, 1), (5, 2), (5, 1)])
def test_noise_of_the_honest_loses_epsilon_and_more_of_it_no_more(seats: int, degree: int) -> None:
    """Counts that differ by one: P(z) / P(z + 1) under N - t deals, and under all N."""
    sealed = SealedSum(Layout.VOTES, 2, False, Fraction(1, 2), seats, degree)
    (deal,) = sealed.deals
    least, reach = noise_law(deal.decay, deal.shape * (seats - degree))
    assert np.abs(np.diff(np.log(least))).max() == pytest.approx(0.5, abs=1e-9)
    ((law, _),) = sealed.noise_laws()
    middle = np.abs(np.diff(np.log(law)))
    assert middle.max() < 0.5
    assert middle[0] > 0.48  # the tails tend to it
    z = np.arange(len(law)) - len(law) // 2
    assert float(np.sum(law * z**2)) == pytest.approx(sealed.variances[0], rel=1e-9)
    assert reach < len(law) // 2


@pytest.mark.parametrize(
    ("target", "exact"),
    [
        (1.0, Fraction(1)),
        (0.5, Fraction(1, 2)),
        (0.1, Fraction(1, 10)),
        (1e6, Fraction(10**6)),
        (0.3, None),
        (math.pi, None),
        (999_999.9, None),
    ],
)
def test_a_calibration_is_the_largest_fraction_within_the_target(
    target: float, exact: Fraction | None
) -> None:
    found = SealedSum.calibrated(YES_NO, target).epsilon
    assert found <= Fraction(target)
    assert float(Fraction(target) - found) <= 1e-6 * max(target, target**2)
    assert exact is None or found == exact
    below = np.arange(1, 2000)
    rivals = [Fraction(math.floor(Fraction(target) * int(d)), int(d)) for d in below]
    assert all(rival <= found for rival in rivals if rival.numerator <= 10**6)


@pytest.mark.parametrize("target", [1.0, 0.3, 0.7, 2.3, 1 / 3])
@pytest.mark.parametrize("answers", [1, 3, 7, 30])
def test_the_guarantee_is_within_the_target_and_never_below_the_fraction(
    target: float, answers: int
) -> None:
    sealed = SealedSum.calibrated(YES_NO, target, unit=Unit.WORKER, answers=answers)
    held = sealed.guarantee(answers, Unit.WORKER)
    assert held.exact
    assert held.within(target)
    assert Fraction(held.epsilon) >= sealed.epsilon * answers
    assert Fraction(sealed.guarantee(answers, Unit.ANSWER).epsilon) >= sealed.epsilon
    assert sealed.delta(target, answers, Unit.WORKER) == 0.0


def test_a_delta_buys_a_smaller_epsilon_that_is_called_a_bound() -> None:
    sealed = SealedSum.calibrated(YES_NO, 0.1)
    held = sealed.guarantee(1000, Unit.WORKER, 1e-6)
    assert not held.exact
    assert held.epsilon < 20
    assert sealed.delta(held.epsilon, 1000, Unit.WORKER) == pytest.approx(1e-6, rel=1e-3)


def test_the_assumptions_name_how_many_may_collude() -> None:
    sealed = SealedSum(Layout.VOTES, 2, False, Fraction(1), 5, 2)
    assert "at most 2 of 5 keyholders collude" in sealed.guarantee(1, Unit.ANSWER).assumptions[0]


@pytest.mark.parametrize(
    ("domain", "options", "size"),
    [
        (Domain.ordinal("abcde"), {}, 5),
        (GRID, {}, 20),
        (Domain.numeric(0, 5, step=1), {}, 10),
        (Domain.numeric(0, 5), {}, 256),
        (Domain.numeric(0, 5, step=0.001), {}, 256),
        (GRID, {"layout": "histogram"}, 16),
        (GRID, {"size": 100}, 100),
    ],
)
def test_the_size_suits_the_domain(domain: Domain, options: dict[str, Any], size: int) -> None:
    assert SealedSum.calibrated(domain, 1.0, **options).size == size


BASE = SealedSum(Layout.VOTES, 2, False, Fraction(1), keyholders=KEYHOLDERS, coordinator=KEYS[6])


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"layout": "votes"}, "layout must be votes, sum or histogram"),
        ({"size": 1}, "the labels of votes must be an integer from 2 to 256, not 1"),
        ({"size": 257}, "from 2 to 256"),
        ({"layout": Layout.SUM, "size": 5}, "must be even"),
        ({"layout": Layout.SUM, "size": 4098}, "from 2 to 4,096"),
        ({"layout": Layout.HISTOGRAM, "size": 2}, "the bins of histogram"),
        ({"hidden": 1}, "hidden must be true or false"),
        ({"epsilon": 1.0}, "epsilon must be a Fraction above 0"),
        ({"epsilon": Fraction(0)}, "epsilon must be a Fraction above 0"),
        ({"epsilon": Fraction(1, 1_000_001)}, "integers up to 1,000,000"),
        (
            {"layout": Layout.SUM, "size": 4096, "epsilon": Fraction(1, 100)},
            "too wide to open: choose a larger epsilon or a smaller size",
        ),
        ({"seats": 2}, "seats must be an integer from 3 to 15"),
        ({"degree": 0}, "degree must be"),
        ({"degree": 2}, "2 colluding keyholders need at least 5 seats, not 3"),
        ({"minimum": 1}, "minimum must be"),
        ({"seats": 4}, "4 seats need as many keyholders, but 3 are given"),
        ({"keyholders": list(KEYHOLDERS)}, "must be a tuple of Keyholder"),
        (
            {"keyholders": (*KEYHOLDERS[:2], KEYHOLDERS[0])},
            "two keyholders have the same name 'k0'",
        ),
        (
            {"keyholders": (*KEYHOLDERS[:2], replace(KEYHOLDERS[2], signing=KEYS[0]))},
            "two keyholders have the same key",
        ),
        ({"coordinator": KEYS[0]}, "the same key"),
        ({"coordinator": "secret"}, "the coordinator's key must be 32 bytes"),
    ],
)
def test_what_makes_no_sealed_sum_is_refused(changed: dict[str, Any], wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        replace(BASE, **changed)


def test_a_policy_holds_a_sealed_sum_and_gives_it_back() -> None:
    policy = make_policy(
        YES_NO, "sealed-sum", Target(1.0, answers=20), keyholders=KEYHOLDERS, coordinator=KEYS[6]
    )
    assert policy.sealed
    assert policy.mechanism == BASE.as_json()
    again = Policy.parse(policy.text())
    assert again.hash == policy.hash
    assert release_of(again) == sealed_of(again) == BASE


def test_an_epsilon_has_one_spelling() -> None:
    document = json.loads(make_policy(YES_NO, "sealed-sum", Target(1.0)).text())
    document["mechanism"]["epsilon"] = ["2", "2"]
    with pytest.raises(UsageError, match="in lowest terms"):
        release_of(Policy.of_json(document))


def test_a_promise_that_is_not_kept_is_refused() -> None:
    document = json.loads(make_policy(YES_NO, "sealed-sum", Target(1.0)).text())
    document["promise"]["epsilon"] = "0.9"
    with pytest.raises(UsageError, match="it cannot be trusted"):
        release_of(Policy.of_json(document))


@pytest.mark.parametrize(
    ("sealed", "domain", "wrong"),
    [
        (BASE, Domain.categorical("abc"), "has 3 labels, but the sealed sum has 2"),
        (BASE, GRID, "layout votes does not take numeric"),
        (SealedSum(Layout.SUM, 4, False, Fraction(1)), YES_NO, "layout sum does not take"),
        (SealedSum(Layout.SUM, 4, False, Fraction(1)), Domain.numeric(), "public range"),
        (replace(BASE, hidden=True), Domain.categorical(["NULL", "yes"]), "means “no answer”"),
    ],
)
def test_a_sealed_sum_of_other_answers_is_refused(
    sealed: SealedSum, domain: Domain, wrong: str
) -> None:
    with pytest.raises(UsageError, match=wrong):
        policy_of(sealed, domain, Target(1.0).promise)


def test_hiding_participation_makes_null_an_answer() -> None:
    policy = make_policy(GRID, "sealed-sum", Target(1.0, hide_participation=True))
    assert sealed_of(policy).hides_participation
    with pytest.raises(UsageError, match="hide participation: pass hide_participation=True"):
        make_policy(GRID, "sealed-sum", Target(1.0), hidden=True)


@pytest.mark.parametrize(
    ("target", "options", "wrong"),
    [
        (Target(1.0, Unit.WORKER, answers=5, sample=2), {}, "drop sample="),
        (
            Target(1.0),
            {"calibration": Calibration.AS_PUBLISHED},
            "drop calibration=Calibration.AS_PUBLISHED",
        ),
        (Target(1.0, show_draw=ShowDraw.AFTER_SEND), {}, "draws nothing on the device"),
        (Target(1.0), {"keyholders": "me"}, "keyholders must be a tuple of Keyholder, not 'me'"),
        (Target(1.0), {"layout": 3}, "layout must be a Layout or a text, not 3"),
        (Target(1.0), {"bins": 3}, "no parameter 'bins'; its parameters are: hidden, layout"),
        (Target(5e-6), {}, "too wide to open"),
        (Target(1e-9), {}, "epsilon 1e-09 is 1e-09 per answer"),
        (Target(1e9), {}, "sealed sums take 1e-06 to 1,000,000"),
    ],
)
def test_what_cannot_be_asked_of_a_sealed_sum_is_refused(
    target: Target, options: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(UsageError, match=wrong):
        make_policy(YES_NO, "sealed-sum", target, **options)


def test_nothing_is_perturbed_under_a_sealed_policy() -> None:
    policy = make_policy(YES_NO, "sealed-sum", Target(1.0))
    with pytest.raises(UsageError, match="this policy is for sealed answers: workers seal them"):
        mechanism_of(policy)


def test_a_policy_of_a_mechanism_is_not_sealed() -> None:
    policy = make_policy(YES_NO, "randomized-response", Target(1.0))
    assert not policy.sealed
    assert release_of(policy) == mechanism_of(policy)
    with pytest.raises(UsageError, match="this policy is for randomized-response"):
        sealed_of(policy)
