"""The catalogue has every published calculator, and its defaults give the known figures."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.inference import importance
from sottovoce_studies import theorems
from sottovoce_studies.theorems import (
    THEOREMS,
    assess,
    catalogue,
    error_bound,
    theorem_named,
    vote_error,
)

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "theorems.md"


@pytest.mark.parametrize("name", THEOREMS)
def test_every_theorem_has_figures_and_reasons_at_its_defaults(name: str) -> None:
    found = assess(name)
    assert found.figures
    assert all(note.endswith(".") for note in found.notes)


@pytest.mark.parametrize(
    "name", [name for name in theorems.__all__ if name.startswith("published_")]
)
def test_every_published_calculator_is_reachable(name: str) -> None:
    assert f".{name}" in inspect.getsource(catalogue)


def test_the_page_lists_every_theorem_in_order() -> None:
    assert re.findall(r"^\| `(p\d-\S+)` \|", PAGE.read_text("utf-8"), re.MULTILINE) == list(
        THEOREMS
    )


@pytest.mark.parametrize(
    ("name", "figure", "printed", "sound"),
    [
        ("p1-theorem-6.3", "epsilon per answer", 0.99970, 4.60517),
        ("p1-theorem-6.3", "epsilon per worker", 0.99970, 67.18387),
        ("p1-eq-6", "error bound", 0.00385393, 0.07776),
        ("p1-eq-6-folded", "error bound", 4.57376e-05, 0.07776),
        ("p3-theorem-4.3", "least alpha", 1.65685, 2.41421),
        ("p3-theorem-4.3", "mean distance E[Y]", 1.03828, 1.512884),
        ("p3-lemma-4.7", "probability", 0.778198, 0.576155),
        ("p4-theorem-2", "mean error", 14.12979, 4.10094),
        ("p4-theorem-3", "mean error", 3.43680, 4.43043),
        ("p4-theorem-5", "mean error", 1.79788, np.inf),
    ],
)
def test_the_defaults_give_the_known_figures(
    name: str, figure: str, printed: float, sound: float
) -> None:
    found = assess(name).figures[figure]
    assert found.value == pytest.approx(printed, rel=1e-5)
    assert found.sound == pytest.approx(sound, rel=1e-5)


def test_the_law_of_delta_has_its_known_values() -> None:
    more = assess("p1-delta").more
    assert more["density at 0.05"] == pytest.approx(5.28484, abs=5e-6)
    assert more["probability up to 0.05"] == pytest.approx(0.589076, abs=5e-7)
    assert more["mean of two layers"] == pytest.approx(0.064)


def test_randomised_response_with_null_keeps_about_80_percent_at_the_example() -> None:
    kept = assess("p4-eq-8").more["probability of keeping an answer"]
    assert kept == pytest.approx(0.800682, abs=5e-7)


def test_the_papers_own_number_is_given_at_its_example_only() -> None:
    assert assess("p4-theorem-3").example == 3.551
    assert assess("p4-theorem-3", epsilon=2.0).example is None


def test_a_bound_between_the_exact_error_and_the_sound_bound_holds() -> None:
    crowd = (0.9, 0.9, 0.9)
    found = assess("p1-eq-6", accuracies=crowd)
    printed = found.figures["error bound"]
    assert vote_error(crowd) < printed.value < error_bound(crowd)
    assert printed.holds


def test_the_bound_of_eq_5_falls_with_the_scale_of_the_weights() -> None:
    held = [
        assess("p1-eq-5", vote_weights=(scale,)).figures["error bound"].holds
        for scale in (1.0, 2.0)
    ]
    assert held == [True, False]


def test_one_weight_stands_for_all_workers() -> None:
    one = assess("p1-eq-5", vote_weights=(2.0,)).figures["error bound"]
    assert one == assess("p1-eq-5", vote_weights=(2.0,) * 5).figures["error bound"]


def test_importance_is_compared_with_the_exact_ratio_of_errors() -> None:
    crowd = (0.9, 0.8, 0.7, 0.6)
    figures = list(assess("p1-importance", accuracies=crowd).figures.values())
    np.testing.assert_allclose([each.value for each in figures], importance(crowd))
    without_last = vote_error(crowd[:3]) / vote_error(crowd)
    assert figures[3].sound == pytest.approx(without_last)


def test_a_vote_of_nobody_is_a_coin() -> None:
    [only] = assess("p1-importance", accuracies=(0.8,)).figures.values()
    assert only.sound == pytest.approx(0.5 / 0.2)


def test_a_large_crowd_is_compared_with_the_valid_bound() -> None:
    crowd = tuple(np.linspace(0.6, 0.9, 40))
    last = list(assess("p1-importance", accuracies=crowd).figures.values())[-1]
    assert last.sound == pytest.approx(error_bound(crowd[:-1]) / error_bound(crowd))
    assert "exact error" not in assess("p1-eq-6", accuracies=crowd).more


def test_the_important_workers_reach_a_share_of_the_greatest() -> None:
    crowd = (0.6, 0.95, 0.1)
    found = assess("p1-importance", accuracies=crowd, importance_share=0.4)
    assert found.more["important workers"] == [2, 3]
    assert assess("p1-importance", accuracies=crowd, importance_share=1.0).more == {
        "important workers": [2]
    }


def test_a_parameter_that_a_theorem_lacks_is_refused_with_those_it_has() -> None:
    with pytest.raises(UsageError, match="p1-eq-8 does not depend on epsilon; it takes accuracies"):
        assess("p1-eq-8", epsilon=1.0)


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(UsageError, match=r"did you mean p3-theorem-4\.8\?"):
        theorem_named("P3-Thm-4.8")


def test_simulated_figures_repeat_with_the_seed() -> None:
    once, again = (assess("p3-eq-10", seed=3).figures["least beta"].sound for _ in range(2))
    assert once == again
    with pytest.raises(UsageError, match="seed must be at least 0"):
        assess("p3-eq-10", seed=-1)
