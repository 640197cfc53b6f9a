"""Tests of the rulings on P3's guarantee, and on claims about data that are not public."""

from __future__ import annotations

import pytest

from sottovoce_studies.p3.guarantees import guarantee, promised, unchecked
from sottovoce_studies.p3.pipeline import over_range, true_epsilon
from sottovoce_studies.rulings import Statement


def test_epsilon_is_kept_per_answer_with_a_public_range_alone() -> None:
    public, lemma = promised(30, 1.0)
    assert (public.true, lemma.true) == (True, False)
    assert lemma.seen == f"truly {true_epsilon(over_range(1.0, 1.0, 10.0), 30):.3g}"
    assert guarantee(30, 1.0).verdict == "partly"


def test_epsilon_per_worker_is_told_and_not_judged() -> None:
    ruling = guarantee(129)
    assert ruling.verdict == "holds"
    assert ruling.reason == (
        "epsilon 1 per answer if Delta is the public range: truly 0.879; per worker 69.9, which P3 "
        "does not claim"
    )


@pytest.mark.parametrize(("true", "seen"), [(True, "it falls: 0.1"), (False, "it falls (0.1)")])
def test_a_stand_in_is_no_evidence_for_or_against_a_claim(true: bool, seen: str) -> None:
    ruling = unchecked([Statement("it falls", true, "0.1")])
    assert ruling.verdict == "cannot be checked"
    assert ruling.reason.startswith("P3's floorplans are not public; on a stand-in ")
    assert ruling.reason.endswith(seen)
