"""P3's guarantee per answer, and the rule for its data that are not public."""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce_studies.p3.epsilon_sweep import with_numbers
from sottovoce_studies.p3.pipeline import over_range, true_epsilon
from sottovoce_studies.rulings import Ruling, Statement

__all__ = ["PRIVATE", "guarantee", "promised", "unchecked"]

PRIVATE = "P3's floorplans are not public"


def promised(answers: int, lambda1: float | None = None, width: float = 10.0) -> list[Statement]:
    """The guarantee of Thm. 4.8 at epsilon 1, with a public range and with the Δ of Lemma 4.7.

    Without a lambda1, as of real data, Lemma 4.7 gives no Δ.
    """
    cases = {"if Delta is the public range": true_epsilon(1.0, answers)}
    if lambda1 is not None:
        kept = true_epsilon(over_range(lambda1, 1.0, width), answers)
        cases["with the Delta of Lemma 4.7"] = kept
    return [
        Statement(f"epsilon 1 per answer {case}", kept <= 1.0, f"truly {kept:.3g}")
        for case, kept in cases.items()
    ]


def guarantee(answers: int, lambda1: float | None = None) -> Ruling:
    """The ruling on Thm. 4.8 at epsilon 1.

    P3's Definition 4.5 is about one value, so the epsilon per worker is told and not judged.
    """
    ruling = with_numbers(promised(answers, lambda1))
    worker = true_epsilon(1.0, answers, answers**-0.5)
    return Ruling(
        ruling.verdict, f"{ruling.reason}; per worker {worker:.3g}, which P3 does not claim"
    )


def unchecked(statements: Sequence[Statement]) -> Ruling:
    """The ruling on statements about the floorplans, of which only a stand-in was seen.

    A stand-in is no evidence for a claim about the data that it replaces.
    """
    return Ruling(
        "cannot be checked", f"{PRIVATE}; on a stand-in {with_numbers(statements).reason}"
    )
