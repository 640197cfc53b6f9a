"""Tests of study `worker-private-em`: its crowds, its results, and the verdict."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce_studies.p2.crowds import GoldTasks, PaperCrowd
from sottovoce_studies.p2.em_trials import EXPONENTS, PARAMETERS, trial
from sottovoce_studies.p2.worker_private_em import DRAWN, DUCHENNE, STUDY, falls, judge


def found(accuracy: float = 0.761, **columns: list[int]) -> dict[str, Any]:
    """A trial with P2's accuracies whose errors fall, except for these columns."""
    scales = [
        {**dict.fromkeys(PARAMETERS, 10.0**-k), "rounds": 9, "changed": 0, "accuracy": accuracy}
        | {name: values[k] for name, values in columns.items()}
        for k in EXPONENTS
    ]
    return {
        "workers": 3,
        "tasks": 9,
        "answers": 27,
        "gold by label": [4, 5],
        "answers by label": [13, 14],
        "rounds": 9,
        "plain EM": accuracy,
        "majority vote": 0.752,
        "scales": scales,
    }


def until(k: int, value: int, rest: int) -> list[int]:
    return [value if place < k else rest for place in EXPONENTS]


def test_the_crowd_has_the_numbers_of_the_paper() -> None:
    answers, truths = PaperCrowd().draw(1)
    assert (len(answers), len(answers.workers), len(answers.tasks)) == (3513, 20, 159)
    assert np.bincount(truths).tolist() == [58, 101]


def test_from_ten_million_on_a_crowd_has_the_labels_of_the_plain_em() -> None:
    seen = trial(PaperCrowd(tasks=40, zeros=15, workers=8, answers=350), 3)
    assert [row["changed"] for row in seen["scales"][7:]] == [0] * 8
    assert falls([row["mu"] for row in seen["scales"]])
    assert seen["scales"][14]["rounds"] == seen["rounds"]
    assert seen["gold by label"] == [15, 25]


def test_errors_fall_down_to_the_last_bits() -> None:
    assert falls([10.0**-k for k in EXPONENTS])
    assert falls([1.0, 1e-1, 1e-3, 1e-2, 1e-4, 1e-5])  # up and down, yet down over 1,000
    assert falls([1e-12, 2e-13, 3e-13, 4e-12])  # nothing left to fall
    assert not falls([1e-3, 1e-4, 1e-5, 1e-3])


def test_the_claim_holds_where_table_1_is_met_at_every_scale() -> None:
    outcome = judge({DUCHENNE: [found(rounds=until(7, 5, 9))]})
    assert outcome.ruling == "holds"
    assert "rounds equal the plain EM's from L = 10^7" in outcome.explanation


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"rounds": until(8, 5, 9)}, "rounds differ at L = 10^7 or above"),
        ({"changed": until(8, 2, 0)}, "labels change at L = 10^7 or above"),
        ({"beta": until(15, 1, 1)}, "the error of beta does not fall"),
    ],
)
def test_the_claim_fails_where_a_curve_is_another(columns: dict[str, Any], words: str) -> None:
    outcome = judge({DUCHENNE: [found(**columns)]})
    assert outcome.verdict == "fails"
    assert words in outcome.reason
    assert words in outcome.explanation


def test_labels_that_change_at_small_scales_leave_the_shape() -> None:
    outcome = judge({DRAWN: [found(changed=until(1, 3, 0)), found(rounds=until(9, 8, 9))]})
    # The paper makes no claim about the rounds of drawn crowds.
    assert outcome.ruling == "holds in shape: labels change at L = 1, in P2 at no L"
    assert "3 of 18 at L = 1 change; in P2 none at any L" in outcome.explanation
    assert "from L = 10^9 on (at 10^7 in 1 of 2 tables)" in outcome.explanation
    assert f"{DUCHENNE} is skipped" in outcome.explanation


def test_another_accuracy_than_the_papers_leaves_the_shape() -> None:
    outcome = judge({DUCHENNE: [found(0.8)]})
    assert outcome.ruling == "holds in shape: plain EM is right in 0.800, in P2 0.761"
    assert judge({DRAWN: [found(0.8)]}).verdict == "holds"  # drawn crowds have no printed accuracy


def test_the_papers_numbers_are_compared_only_on_its_own_data() -> None:
    rows = judge({DUCHENNE: [found(0.8)], DRAWN: [found()]}).rows
    table = [row for row in rows if row["part"] == "P2 Table 1: accuracy"]
    assert {row["data"] for row in table if "paper" in row} == {DUCHENNE}
    assert table[0]["difference"] == pytest.approx(0.0)  # 0.752
    assert table[1]["difference"] == pytest.approx(0.8 - 0.761)


def test_charts_have_the_axes_of_the_paper() -> None:
    errors, rounds = judge({DRAWN: [found()]}).charts
    assert (errors.x_scale, errors.y_scale, rounds.x_scale) == ("log", "log", "log")
    assert [series.name for series in errors.series] == list(PARAMETERS)
    assert [level.name for level in rounds.levels] == ["plain EM"]


def test_a_dataset_that_is_not_there_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert GoldTasks.of("duchenne") is None
    assert len(STUDY.plan("quick", 1).cells) == 2


def test_studies_need_no_library_that_seals() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['cryptography', 'gmpy2'])); "
        "import sottovoce_studies.catalogue"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
