"""Tests of study `worker-private-em`: its crowds, its results, and the verdict."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.model import Domain, Reports
from sottovoce_studies.p2.crowds import GoldTasks, PaperCrowd
from sottovoce_studies.p2.em_trials import EXPONENTS, PARAMETERS, TIES, _votes, trial
from sottovoce_studies.p2.worker_private_em import (
    CLAIMS,
    DRAWN,
    MAIN,
    STUDY,
    falls,
    judge,
    name_of,
)

FIRST = name_of("first answer", "1e-6")


def found(right: float = 0.761, vote: float = 0.752, **columns: list[Any]) -> dict[str, Any]:
    """A trial with P2's accuracies, of which all its statements are true except these columns."""
    slow = [0.1 * 0.9**k if k < 7 else 10.0**-k for k in EXPONENTS]
    own: dict[str, list[Any]] = {"mu": slow, "rounds": until(7, 5, 9), **columns}
    scales = [
        {**dict.fromkeys(PARAMETERS, 10.0**-k), "changed": 0, "accuracy": right}
        | {name: values[k] for name, values in own.items()}
        for k in EXPONENTS
    ]
    return {
        "workers": 3,
        "tasks": 9,
        "answers": 27,
        "gold by label": [4, 5],
        "answers by label": [13, 14],
        "rounds": 9,
        "plain EM": right,
        "majority vote": vote,
        "votes": dict.fromkeys(TIES, vote),
        "scales": scales,
        "same rounds": {"4": 1e-5, "6": 1e-7},
    }


def until(k: int, value: float, rest: float) -> list[float]:
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


def test_tied_votes_go_to_a_label_or_count_half() -> None:
    worker, task = np.divmod(np.arange(6), 3)
    tied = np.array([1, 1, 0, 0, 1, 0])  # two workers disagree on the first of three tasks
    answers = Reports.of(worker, task, tied, domain=Domain.categorical((0, 1)))
    assert _votes(answers, np.array([1, 1, 0])) == pytest.approx(
        {"label 0": 2 / 3, "label 1": 1, "half": 5 / 6}
    )


def test_mu_is_as_wrong_with_the_rounds_that_are_taken_anyway() -> None:
    seen = trial(PaperCrowd(tasks=40, zeros=15, workers=8, answers=350), 3, fixed=(14,))
    assert seen["scales"][14]["rounds"] == seen["rounds"]
    assert seen["same rounds"]["14"] == pytest.approx(seen["scales"][14]["mu"])


def test_repeats_are_kept_or_the_first_answer_counts(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    kept, first = (GoldTasks.of("duchenne", each) for each in ("keep", "first"))
    assert kept is not None
    assert first is not None
    assert [len(each.draw(0)[0]) for each in (kept, first)] == [1950, 1221]


def test_errors_fall_down_to_the_last_bits() -> None:
    assert falls([10.0**-k for k in EXPONENTS])
    assert falls([1.0, 1e-1, 1e-3, 1e-2, 1e-4, 1e-5])  # up and down, yet down over 1,000
    assert falls([1e-12, 2e-13, 3e-13, 4e-12])  # nothing left to fall
    assert not falls([1e-3, 1e-4, 1e-5, 1e-3])


def test_all_holds_where_table_1_and_every_curve_are_met() -> None:
    outcome = judge({MAIN: [found()]})
    assert outcome.rulings.verdicts == ("holds", "holds", "not claimed")
    assert "rounds equal the plain EM's from L = 10^7" in outcome.explanation


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"rounds": until(8, 5, 9)}, "from L = 10^7 on, and not before (from 10^8 on)"),
        ({"rounds": until(3, 5, 9)}, "from L = 10^7 on, and not before (from 10^3 on)"),
        ({"beta": until(15, 1, 1)}, "errors fall as L grows (not that of beta)"),
        ({"mu": [10.0**-k for k in EXPONENTS]}, "mu hardly falls up to L = 10^7 (1 at L = 1"),
        ({"accuracy": until(1, 0.7, 0.761)}, "the same at every L (0.700 at L = 1"),
    ],
)
def test_shape_holds_in_part_where_a_curve_is_another(columns: dict[str, Any], words: str) -> None:
    ruling = judge({MAIN: [found(**columns)]}).rulings.shape
    assert ruling.verdict == "partly"
    assert ruling.reason.startswith("3 of 4 statements come out on the public answers")
    assert words in ruling.reason


def test_a_curve_that_is_another_on_public_answers_cannot_be_checked() -> None:
    claims = judge({MAIN: [found(accuracy=until(1, 0.7, 0.761))]}).claims
    assert claims["P2-6.2.2-1"].verdict == "holds"
    assert str(claims["P2-6.2.2-6"]).startswith(
        "cannot be checked: P2's answers are not public; on the public ones: 0.700 at L = 1"
    )


def test_numbers_cannot_be_checked_where_the_public_part_gives_others() -> None:
    data = {MAIN: [found(0.8, 0.7)], FIRST: [found(0.76, 0.752)]}
    ruling = judge(data, "searched 2 datasets").rulings.numbers
    assert ruling.verdict == "cannot be checked"
    assert "; searched 2 datasets; on the public ones" in ruling.reason
    assert "3,513 labels of 20 workers are not public" in ruling.reason
    assert (
        "on the public ones 1 of 3 come out in 6 choices, nearest 0.752 / 0.760 / 0.760"
        in ruling.reason
    )
    assert "repeats: first answer" in ruling.reason


def test_the_choice_that_meets_most_is_judged() -> None:
    worse = found(0.8, accuracy=until(1, 0.7, 0.8), rounds=until(9, 5, 9))
    outcome = judge({MAIN: [worse], FIRST: [found(0.76)]})
    assert outcome.explanation.startswith("Judged on Duchenne, first answer")
    assert [choice.met for choice in outcome.choices] == [3, 3, 3, 5, 5, 5]


def test_a_tie_rule_that_gives_the_printed_vote_is_nearest() -> None:
    own = found()
    own["votes"] = {"label 0": 0.761, "label 1": 0.74, "half": 0.752}
    outcome = judge({MAIN: [own]})
    assert [choice.met for choice in outcome.choices] == [6, 6, 7]
    assert outcome.rulings.numbers.verdict == "holds"


def test_labels_that_change_at_small_scales_are_told() -> None:
    drawn = [found(changed=until(1, 3, 0)), found(rounds=until(9, 8, 9))]
    words = judge({MAIN: [found()], DRAWN: drawn}).explanation
    assert "3 of 18 at L = 1 change; in P2 the accuracy is the same at every L" in words
    assert "from L = 10^9 on (at 10^7 in 1 of 2 tables)" in words


def test_the_supposed_reason_of_slow_errors_is_tested_with_equal_rounds() -> None:
    def ruling(**same: float) -> str:
        own = {**found(), "same rounds": {name[1:]: error for name, error in same.items()}}
        return judge({MAIN: [own]}).claims["P2-6.2.2-4"].verdict

    assert ruling(_4=1e-5, _6=1e-7) == "holds"
    assert ruling(_4=1e-1, _6=1e-7) == "partly"
    assert ruling(_4=1e-1, _6=1e-1) == "fails"
    assert ruling(_9=1e-1) == "cannot be checked"  # there rounds are equal anyway


def test_counts_of_the_data_are_compared_with_the_printed_ones() -> None:
    own = found()
    assert judge({MAIN: [own]}).claims["P2-6.1-1"].verdict == "cannot be checked"
    own |= {"tasks": 159, "gold by label": [101, 58]}
    assert str(judge({MAIN: [own]}).claims["P2-6.1-1"]) == (
        "partly: 159 tasks and 58 of that kind in gold are as printed; the 20 workers' labels are "
        "not public (public: 3 workers, 27 labels, 14 of that kind in labels)"
    )
    own |= {"workers": 20, "answers": 3513}
    own |= {"answers by label": [1709, 1804]}
    assert judge({MAIN: [own]}).claims["P2-6.1-1"].verdict == "holds"


def test_without_the_data_nothing_is_checked() -> None:
    outcome = judge({DRAWN: [found()]})
    assert outcome.rulings.verdicts == ("cannot be checked", "cannot be checked", "not claimed")
    assert outcome.explanation.startswith("Duchenne is not in the cache. Drawn (3 workers")
    assert outcome.claims.keys() == judge({MAIN: [found()]}).claims.keys() == set(CLAIMS)


def test_the_papers_numbers_are_compared_only_on_its_own_data() -> None:
    rows = judge({MAIN: [found(0.8)], DRAWN: [found()]}).rows
    table = [row for row in rows if row["part"] == "P2 Table 1: accuracy"]
    assert {row["data"] for row in table if "paper" in row} == {MAIN}
    assert table[0]["difference"] == pytest.approx(0.0)  # 0.752
    assert table[3]["difference"] == pytest.approx(0.8 - 0.761)


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
    cells = STUDY.plan("quick", 1).cells
    assert len(cells) == 2  # a drawn crowd, and the search for P2's data
    assert cells[-1].run() == "no dataset is in the cache to search"


def test_studies_need_no_library_that_seals() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['cryptography', 'gmpy2'])); "
        "import sottovoce_studies.catalogue"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
