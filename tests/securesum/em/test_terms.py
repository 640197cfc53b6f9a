"""The noise of a private EM in its terms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sottovoce.errors import UsageError
from sottovoce.securesum.em.terms import EMTerms, Law, Mode, NoiseTerms, RoundNoise

LAPLACE, GAUSSIAN = RoundNoise(Law.LAPLACE, Fraction(5, 2)), RoundNoise(Law.GAUSSIAN, Fraction(99))


def noise(**changed: Any) -> NoiseTerms:
    usual: dict[str, Any] = {
        "epsilon": Fraction(1), "delta": Fraction(1, 10**6), "honest": 5,
        "rounds": (LAPLACE, GAUSSIAN),
    }  # fmt: skip
    return NoiseTerms(**{**usual, **changed})


def test_terms_with_noise_are_read_as_they_were_written() -> None:
    terms = EMTerms(("q1", "q2"), ("no", "yes"), Mode.NOISED, 64, noise=noise())
    assert EMTerms.of_json(terms.as_json()) == terms


def test_every_round_but_the_first_is_weighted() -> None:
    assert noise().weighted == 1


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"epsilon": Fraction(0)}, "epsilon must be a positive fraction"),
        ({"delta": Fraction(3, 2)}, "delta must be below 1"),
        ({"delta": Fraction(-1, 2)}, "delta must be a positive fraction"),
        ({"honest": 1}, "at least 2 honest workers"),
        ({"rounds": ()}, "1 to 10 rounds, not 0"),
        ({"rounds": (LAPLACE,) * 11}, "1 to 10 rounds, not 11"),
    ],
)
def test_noise_that_makes_no_sense_is_refused(changed: dict[str, Any], wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        noise(**changed)


@pytest.mark.parametrize(
    ("law", "size", "wrong"),
    [
        (Law.GAUSSIAN, Fraction(1, 2), "must be an integer"),
        (Law.LAPLACE, Fraction(0), "positive fraction"),
        (Law.LAPLACE, Fraction(1, 10**13), "up to 10\\^12"),
    ],
)
def test_a_size_that_is_none_is_refused(law: Law, size: Fraction, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        RoundNoise(law, size)


@pytest.mark.parametrize("size", [["1", "0"], ["1"], "1"])
def test_noise_that_nobody_wrote_is_refused(size: Any) -> None:
    document = EMTerms(("q",), ("no", "yes"), Mode.NOISED, 64, noise=noise()).as_json()
    document["noise"]["rounds"][0][1] = size
    with pytest.raises(UsageError, match="not the terms of a private EM"):
        EMTerms.of_json(document)
