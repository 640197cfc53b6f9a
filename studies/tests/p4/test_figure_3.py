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
            "MF d 1": mf + 0.7,
            "MF d 10, ridge 0.01": mf + 1,
            "MF d 2, V 0 to 1": mf + 0.8,
            OURS: 0.1,
            CONSTANT: 0.0,
        }
        found[place] = [
            {CLEAN: 0.8, **{name: 0.8 + change + trial / 1000 for name, change in changes.items()}}
            for trial in range(3)
        ]
    return found


def test_curves_as_in_the_text_hold_even_if_its_reason_is_false() -> None:
    outcome = judge(made_up())
    assert outcome.rulings.verdicts == ("holds", "holds", "partly")
    assert outcome.claims["P4-VI.C-8"].verdict == "fails"
    assert "4.2" in outcome.claims["P4-VI.C-8"].reason
    assert "that of the best constant 0.80" in outcome.claims["P4-VI.C-8"].reason
    assert outcome.claims["P4-V-10"].verdict == "partly"


def test_small_changes_wherever_truths_lie_are_a_prediction() -> None:
    outcome = judge(made_up(elsewhere=0.3))
    assert outcome.claims["P4-VI.C-8"].verdict == "holds"
    assert outcome.claims["P4-V-10"].verdict == "holds"


def test_a_change_above_the_printed_figure_fails() -> None:
    assert MOST == 0.5
    outcome = judge(made_up(most=0.6))
    assert outcome.rulings.verdicts[:2] == ("fails", "holds")
    assert "at most 0.6" in outcome.rulings.numbers.reason


def test_a_change_that_moves_with_sparsity_is_not_insensitive() -> None:
    shape = judge(made_up(most=0.4, span=0.3)).rulings.shape
    assert (shape.verdict, "insensitive" in shape.reason) == ("partly", True)


def test_others_that_do_not_grow_with_sparsity_are_named() -> None:
    outcome = judge(made_up(grows=0.0))
    assert "LP grows" in outcome.rulings.shape.reason
    assert outcome.claims["P4-VI.C-9"].verdict == "fails"


def test_words_and_verdict_agree() -> None:
    outcome = judge(made_up(most=0.6))
    assert "False: MF is never above 0.5" in outcome.explanation.replace("false", "False")
    assert "true: MF is never above" not in outcome.explanation


def test_the_slides_statement_is_about_the_epsilons_that_they_show() -> None:
    for epsilon, verdict in ((3.0, "holds"), (1.0, "fails")):
        found = {
            place: [{**trial, "RR": 0.8} for trial in trials]
            if (place.epsilon, place.truths) == (epsilon, "N(0, 1)")
            else trials
            for place, trials in made_up().items()
        }
        assert judge(found).claims["P4-slides-9"].verdict == verdict
