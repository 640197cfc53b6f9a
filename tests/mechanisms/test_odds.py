"""Odds in words."""

from __future__ import annotations

import math

import pytest

from sottovoce.cli.console import hundred
from sottovoce.mechanisms.odds import opened_odds, weakness_warnings
from sottovoce.mechanisms.policies import Target, make_policy, mechanism_of
from sottovoce.model import Domain, Guarantee, Unit

LABELS = Domain.categorical("abc")
NUMBERS = Domain.numeric(0, 10, 0.1)


def sentence(name: str, domain: Domain, target: Target) -> str:
    odds = mechanism_of(make_policy(domain, name, target)).odds()
    assert odds is not None
    assert f" {odds.of_100} " in odds.sentence
    return odds.sentence


@pytest.mark.parametrize(
    ("name", "domain", "target", "words"),
    [
        (
            "randomized-response",
            Domain.categorical("ab"),
            Target(math.log(3)),
            "Of 100 workers with the same answer 75 send it and 25 send the other label.",
        ),
        (
            "randomized-response",
            LABELS,
            Target(1.0),
            "Of 100 workers with the same answer 58 send it and 42 send another label (about 21 "
            "for each).",
        ),
        (
            "null-randomized-response",
            LABELS,
            Target(1.0),
            "Of 100 workers with the same answer 48 send it and 52 send another label or nothing "
            "(about 17 for each).",
        ),
        (
            "subset-selection",
            LABELS,
            Target(1.0),
            "Of 100 workers with the same answer 58 send a set of 1 that contains it and 42 a "
            "set that does not.",
        ),
        (
            "threshold",
            NUMBERS,
            Target(1.0),
            "Of 100 workers whose answer is on the same side of a random threshold, 73 send that "
            "side and 27 do not.",
        ),
        (
            "randomized-response",
            LABELS,
            Target(2.0, Unit.WORKER, 0.0, 50),
            "Of 100 workers with the same answer 79 send it and 21 send another label (about 11 "
            "for each). A worker sends 1 of its answers, chosen at random.",
        ),
    ],
)
def test_odds_read_as_a_sentence(name: str, domain: Domain, target: Target, words: str) -> None:
    assert sentence(name, domain, target) == words


def test_a_little_noise_is_not_called_none() -> None:
    assert sentence("randomized-response", LABELS, Target(30.0)) == (
        "Of 100 workers with the same answer more than 99 send it and fewer than 1 send another "
        "label."
    )


@pytest.mark.parametrize("name", ["laplace", "piecewise", "random-variance-gaussian"])
def test_numbers_are_near_or_far(name: str) -> None:
    said = sentence(name, NUMBERS, Target(3.0, delta=1e-5))
    assert "send a number close to it (within a tenth of the range) and" in said


def test_duchi_says_which_end() -> None:
    assert "at the same end of the range" in sentence("duchi", NUMBERS, Target(1.0))


def test_no_report_stands_for_one_answer_where_answers_are_factorised() -> None:
    assert mechanism_of(make_policy(NUMBERS, "matrix-factorization", Target(1.0))).odds() is None


@pytest.mark.parametrize(
    ("epsilon", "word"), [(3.99, None), (4.0, "hides little"), (math.inf, "no finite epsilon")]
)
def test_a_large_epsilon_is_called_what_it_is(epsilon: float, word: str | None) -> None:
    said = weakness_warnings(Guarantee(Unit.ANSWER, 1, epsilon), Guarantee(Unit.WORKER, 1, epsilon))
    assert (not said) if word is None else word in said[0]


@pytest.mark.parametrize(("epsilon", "answers", "said"), [(10, 5, 0), (10.1, 5, 1), (10.1, 1, 0)])
def test_a_large_total_hides_little_about_a_worker(epsilon: float, answers: int, said: int) -> None:
    held = (Guarantee(Unit.ANSWER, answers, 1.0), Guarantee(Unit.WORKER, answers, epsilon))
    assert len(weakness_warnings(*held)) == said


def test_opened_totals_have_the_odds_of_a_guess() -> None:
    assert "right at most 74 times of 100" in opened_odds(Guarantee(Unit.ANSWER, 1, 1.0))
    assert "nearly always right" in opened_odds(Guarantee(Unit.ANSWER, 1, 9.0))


@pytest.mark.parametrize("filled", [0, 1, 58, 100])
def test_a_hundred_people_stand_in_ten_rows_of_ten(filled: int) -> None:
    rows = [row.split(" ") for row in hundred(filled).split("\n")]
    assert [len(row) for row in rows] == [10] * 10
    assert [person for row in rows for person in row] == ["●"] * filled + ["○"] * (100 - filled)
