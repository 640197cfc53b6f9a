"""Tests of study `p4-figure-3`: the statements of the text, also with other truths."""

from __future__ import annotations

from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.figure_3 import MOST, OTHER, OTHER_EPSILON, judge
from sottovoce_studies.p4.sparse_tables import OURS, Found, Place
from sottovoce_studies.p4.sparse_trials import CLEAN

SPARSITIES = (0.3, 0.9)


def made_up(
    *, most: float = 0.2, span: float = 0.0, elsewhere: float = 4.2, grows: float = 1.0
) -> Found:
    """Trials with MF up to `most` in all settings, and `span` lower with more answers."""
    found = {}
    for place in (
        *(Place(2_000, 200, s, e) for e in (0.1, 1.0, 3.0) for s in SPARSITIES),
        *(Place(2_000, 200, s, OTHER_EPSILON, OTHER) for s in SPARSITIES),
    ):
        mf = elsewhere if place.truths == OTHER else most - span * (place.sparsity < 0.9)
        changes = {
            "LP": 2 + grows * place.sparsity,
            "RR": 3 + grows * place.sparsity,
            "MF d 2": mf,
            "MF d 10": mf + 1,
            OURS: 0.1,
            CONSTANT: 0.0,
        }
        found[place] = [
            {CLEAN: 0.8, **{name: 0.8 + change + trial / 1000 for name, change in changes.items()}}
            for trial in range(3)
        ]
    return found


def test_small_changes_around_0_only_are_no_prediction() -> None:
    outcome = judge(made_up())
    assert outcome.verdict == "fails"
    assert "truths are around 0" in outcome.reason
    assert "4.2" in outcome.reason


def test_small_changes_wherever_truths_lie_hold() -> None:
    outcome = judge(made_up(elsewhere=0.3))
    assert outcome.verdict == "holds in shape"
    assert outcome.reason == "with MF d 2"


def test_a_change_above_the_printed_figure_fails() -> None:
    assert MOST == 0.5
    outcome = judge(made_up(most=0.6, elsewhere=0.3))
    assert outcome.verdict == "fails"
    assert "never above 0.5" in outcome.reason


def test_a_change_that_moves_with_sparsity_fails() -> None:
    assert "insensitive" in judge(made_up(most=0.4, span=0.3, elsewhere=0.3)).reason


def test_others_that_do_not_grow_with_sparsity_make_the_claim_fail() -> None:
    assert "LP grows" in judge(made_up(elsewhere=0.3, grows=0.0)).reason
