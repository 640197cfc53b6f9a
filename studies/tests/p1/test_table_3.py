"""Tests of study `p1-table-3`: the verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sottovoce_studies.claims import CLAIMS
from sottovoce_studies.p1.error_changes import Answered
from sottovoce_studies.p1.layers import AS_PRINTED, Setting
from sottovoce_studies.p1.table_3 import STUDY, judge
from sottovoce_studies.study import Outcome

ONE = Answered(1, 1)
MANY = Answered(104, 1834)
RANDOM = Setting("random")


def judged(seen: Any, answered: Answered = MANY, **other: Any) -> Outcome:
    """The outcome of made-up trials, with other trials under random ties."""
    found = {AS_PRINTED: seen, **({RANDOM: other["random"]} if other else {})}
    return judge(found, seen, answered)


def test_two_layers_keep_their_epsilon_for_one_answer_only() -> None:
    assert ONE.true_epsilon(1.0) == pytest.approx(1.0)
    assert not ONE.more_than(1.0)
    assert MANY.true_epsilon(1.0) == pytest.approx(4.644, abs=1e-3)
    assert MANY.more_than(1.0)


def test_workers_with_as_many_answers_have_one_row() -> None:
    assert [row["answers"] for row in Answered(5, 5).rows("x", [1.0])] == [5]
    assert [row["worker"] for row in MANY.rows("x", [1.0, 0.5])] == ["most", "median"] * 2


def test_printed_numbers_hold_and_many_answers_break_the_guarantee(
    as_printed: Callable[..., Any],
) -> None:
    assert judged(as_printed("Table 3")).rulings.verdicts == ("holds", "holds", "fails")
    assert judged(as_printed("Table 3"), ONE).rulings.verdicts == ("holds", "holds", "holds")


def test_the_setting_that_is_nearest_is_judged(as_printed: Callable[..., Any]) -> None:
    far = as_printed("Table 3", {"two-layer TD": 0.5})
    outcome = judged(far, random=as_printed("Table 3"))
    assert outcome.rulings.numbers.verdict == "holds"
    assert "tie rule: random" in outcome.rulings.numbers.reason
    assert [choice.met for choice in outcome.choices] == [9, 12]


def test_numbers_that_are_far_fail_or_hold_in_part(as_printed: Callable[..., Any]) -> None:
    some = judged(as_printed("Table 3", {"two-layer MV": 0.5}))
    assert some.rulings.numbers.verdict == "partly"
    changes = dict.fromkeys(("one-layer MV", "one-layer TD", "two-layer MV"), 0.6)
    assert judged(as_printed("Table 3", changes)).rulings.numbers.verdict == "fails"


def test_two_layers_that_do_worse_are_named(as_printed: Callable[..., Any]) -> None:
    outcome = judged(as_printed("Table 3", {"one-layer TD": 0.01}))
    assert outcome.rulings.shape.verdict == "partly"
    assert "two-layer TD changes less than one-layer TD" in outcome.rulings.shape.reason
    assert outcome.claims["P1-7.2-11"].verdict == "fails"


def test_majority_votes_that_differ_are_named(as_printed: Callable[..., Any]) -> None:
    outcome = judged(as_printed("Table 3", {"two-layer MV": 0.4}))
    assert outcome.claims["P1-7.2-6"].verdict == "fails"
    assert outcome.claims["P1-7.2-7"].verdict == "fails"


def test_the_sentence_about_epsilon_0_is_contradicted_by_the_print(
    as_printed: Callable[..., Any],
) -> None:
    claim = judged(as_printed("Table 3")).claims["P1-7.2-5"]
    assert claim.verdict == "partly"
    assert claim.reason.startswith("two-layer TD prints 0.1793 in Table 3, not about 0.26")


def test_the_stated_accuracy_is_that_of_one_method(as_printed: Callable[..., Any]) -> None:
    known, unknown = (judged(as_printed("Table 3", clean=error)) for error in (0.24, 0.3))
    assert known.claims["P1-7.2-4"].verdict == "holds"
    assert unknown.claims["P1-7.2-4"].verdict == "fails"


def test_a_loss_above_the_best_constant_is_not_tolerable(as_printed: Callable[..., Any]) -> None:
    few, none = (judged(as_printed("Table 3", clean=error)) for error in (0.25, 0.1))
    assert few.claims["P1-abstract-2"].verdict == "partly"
    assert none.claims["P1-abstract-2"].verdict == "holds"


def test_td_is_close_to_majority_vote_if_the_gap_is_a_smaller_share_of_its_change(
    as_printed: Callable[..., Any],
) -> None:
    printed = judged(as_printed("Table 3")).claims["P1-7.2-13"]
    assert printed.verdict == "holds"
    assert printed.reason == (
        "gap 9% of majority vote's change at small epsilon, 40% at 1 (Duchenne); Table 2 prints "
        "12% at 0 and 17% at 1"
    )
    far = judged(as_printed("Table 3", {"one-layer TD": 0.1}))
    assert far.claims["P1-7.2-13"].verdict == "partly"


def test_choices_that_differ_in_rounds_only_are_summarised(as_printed: Callable[..., Any]) -> None:
    seen = as_printed("Table 3")
    far = as_printed("Table 3", {"two-layer TD": 0.5})
    outcome = judge({AS_PRINTED: seen, Setting(rounds="100"): far}, seen, MANY)
    words = outcome.explanation
    assert "with label 0 and answered, 9 to 12 come out" in words
    assert "with 100 rounds, nearest to P1's iteration until convergence, 9 to 9" in words
    assert "come out for every number of rounds" not in judged(seen).explanation


def test_it_judges_its_claims_and_no_others(as_printed: Callable[..., Any]) -> None:
    own = {name for name, claim in CLAIMS.items() if claim.judge == "p1-table-3"}
    assert judged(as_printed("Table 3")).claims.keys() == own


def test_without_the_dataset_nothing_is_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    outcome = STUDY.run("quick")
    assert set(outcome.rulings.verdicts) == {"cannot be checked"}
    assert {claim.verdict for claim in outcome.claims.values()} == {"cannot be checked"}
    assert outcome.claims
