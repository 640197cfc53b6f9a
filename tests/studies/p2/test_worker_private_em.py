"""Study `worker-private-em`: what it draws, what it computes, and how it judges."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.studies.p2.gold_tasks import GoldTasks, PaperCrowd
from sottovoce.studies.p2.worker_private_em import (
    CROWD,
    DUCHENNE,
    EXPONENTS,
    PARAMETERS,
    STUDY,
    falls,
    judge,
    trial,
)


def found(**columns: list[int]) -> dict[str, Any]:
    """A trial whose errors fall, but for these columns."""
    scales = [
        {**dict.fromkeys(PARAMETERS, 10.0**-k), "rounds": 9, "changed": 0, "accuracy": 0.8}
        | {name: values[k] for name, values in columns.items()}
        for k in EXPONENTS
    ]
    return {
        "workers": 3, "tasks": 9, "answers": 27, "rounds": 9, "plain EM": 0.8,
        "majority vote": 0.7, "scales": scales,
    }  # fmt: skip


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


def test_errors_fall_down_to_the_last_bits() -> None:
    assert falls([10.0**-k for k in EXPONENTS])
    assert falls([1.0, 1e-1, 1e-3, 1e-2, 1e-4, 1e-5])  # up and down, yet down over 1,000
    assert falls([1e-12, 2e-13, 3e-13, 4e-12])  # nothing left to fall
    assert not falls([1e-3, 1e-4, 1e-5, 1e-3])


def test_what_the_paper_claims_holds_where_it_does() -> None:
    outcome = judge({DUCHENNE: [found(rounds=until(7, 5, 9))]})
    assert outcome.verdict == "holds"
    assert "rounds are the plain EM's from L = 10^7" in outcome.explanation


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"rounds": until(8, 5, 9)}, "rounds differ at L = 10^7 or above"),
        ({"changed": until(8, 2, 0)}, "labels change at L = 10^7 or above"),
        ({"beta": until(15, 1, 1)}, "the error of beta does not fall"),
    ],
)
def test_what_the_paper_claims_fails_where_it_does(
    columns: dict[str, list[int]], words: str
) -> None:
    outcome = judge({DUCHENNE: [found(**columns)]})
    assert outcome.verdict == "fails"
    assert words in outcome.explanation


def test_labels_that_change_at_small_scales_are_said() -> None:
    outcome = judge({CROWD: [found(changed=until(1, 3, 0)), found(rounds=until(9, 8, 9))]})
    assert outcome.verdict == "holds"  # how many rounds drawn crowds take is no claim of the paper
    assert "3 of 18 at 10^0 change, and none at any L in P2's table 1" in outcome.explanation
    assert "from L = 10^9 (at 10^7 in 1 of 2 tables)" in outcome.explanation
    assert f"{DUCHENNE} skipped" in outcome.explanation


def test_charts_have_the_axes_of_the_paper() -> None:
    errors, rounds = judge({CROWD: [found()]}).charts
    assert (errors.x_scale, errors.y_scale, rounds.x_scale) == ("log", "log", "log")
    assert [series.name for series in errors.series] == list(PARAMETERS)
    assert [level.name for level in rounds.levels] == ["plain EM"]


def test_the_public_data_bear_the_paper_out_but_for_the_smallest_scale(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    source = GoldTasks.of("duchenne")
    assert source is not None
    seen = trial(source, 0)
    assert seen["tasks"] == 159
    assert [row["rounds"] == seen["rounds"] for row in seen["scales"][7:]] == [True] * 8
    assert seen["scales"][0]["changed"] > 0
    assert judge({DUCHENNE: [seen]}).verdict == "holds"


def test_a_dataset_that_is_not_there_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert GoldTasks.of("duchenne") is None
    assert len(STUDY.plan("quick", 1).cells) == 2


def test_studies_need_no_library_that_seals() -> None:
    code = "import sys; sys.modules['cryptography'] = None; import sottovoce.studies"
    subprocess.run([sys.executable, "-c", code], check=True)
