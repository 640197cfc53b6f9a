"""Tests of study `label-recovery`: its runs, and the verdict on the guarantee."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.model import Domain, Reports
from sottovoce.securesum.em.terms import Mode
from sottovoce_studies.p2.crowds import GoldTasks, against_theorem_1
from sottovoce_studies.p2.em_trials import Setting, attacked, attacked_real
from sottovoce_studies.p2.label_recovery import PAPER_SCALE, STUDY, judge, settings
from sottovoce_studies.p2.real_transcripts import MODELS, ROWS

DENSE = Setting(5, 1.0, "as_published", PAPER_SCALE)
SPARSE = Setting(5, 0.7, "as_published", PAPER_SCALE)
SECRET = Setting(5, 0.7, "as_published", PAPER_SCALE, known=False)
SEEN = {
    "rounds": 9,
    "tasks": 150,
    "rank": 6,
    "needed": 6,
    "exact": 5,
    "named": 0,
    "answers": 100,
    "right": 100,
    "guessed": 70,
}
REAL = {
    "data": "a dataset",
    "known": True,
    "workers": 17,
    "tasks": 159,
    "answers": 1221,
    "against": 0,
    "exact": 2,
    "named": 2,
    "candidates": [1, 1, 24, 3, None],
    "certain": 500,
    "certain_right": 500,
    "right": 900,
    "guessed": 800,
}
NAMED = {**SEEN, "named": 5}
PART = {**SEEN, "exact": 4}


def test_every_mode_is_attacked_in_every_size() -> None:
    for size in ("quick", "full"):
        assert {each.mode for each in settings(size)} == set(Mode)
        papers = [each for each in settings(size) if each.scale == PAPER_SCALE]
        assert {each.share < 1 for each in papers} == {True, False}


def test_both_models_are_attacked_at_the_scale_of_the_paper() -> None:
    for size in ("quick", "full"):
        papers = [each for each in settings(size) if each.scale == PAPER_SCALE]
        assert {each.known for each in papers if each.mode == Mode.AS_PUBLISHED} == {True, False}


def test_the_guarantee_is_partly_true_where_names_follow_assignments() -> None:
    outcome = judge({DENSE: [SEEN], SPARSE: [NAMED], SECRET: [SEEN]})
    assert outcome.rulings.verdicts == ("not claimed", "not claimed", "partly")
    reason = outcome.rulings.guarantee.reason
    assert reason.startswith(
        "true in P2's model, by renaming; false for a server that knows the assignments, which P2 "
        "excludes; with them all labels with names in 1 of 1 runs on drawn crowds"
    )
    assert "columns of labels without names: all recovered in 1 of 1 runs" in reason
    assert "the theorem's proof is this renaming" in outcome.explanation


def test_the_theorem_and_its_proof_hold_in_the_papers_model_where_columns_have_no_names() -> None:
    claims = judge({DENSE: [SEEN], SPARSE: [NAMED], SECRET: [SEEN]}).claims
    assert {name: ruling.verdict for name, ruling in claims.items()} == dict.fromkeys(
        ("P2-5-1", "P2-5-6", "P2-5-7"), "holds"
    )
    for ruling in claims.values():
        assert ": 0 names found; not covered: columns of labels without names (all" in ruling.reason
        assert "and a server that knows the assignments (all labels with names" in ruling.reason


def test_the_theorem_fails_where_names_are_found_without_assignments() -> None:
    outcome = judge({SPARSE: [NAMED], SECRET: [NAMED]})
    assert outcome.rulings.guarantee.verdict == "fails"
    assert "the theorem's proof is this renaming" not in outcome.explanation
    assert {ruling.verdict for ruling in outcome.claims.values()} == {"fails"}


def test_the_guarantee_holds_where_names_are_missing_in_most_runs() -> None:
    outcome = judge({SPARSE: [PART, PART, NAMED], SECRET: [PART, PART, SEEN]})
    assert outcome.rulings.guarantee.verdict == "holds"
    assert "not covered: columns of labels without names" in outcome.rulings.guarantee.reason
    assert judge({SPARSE: [PART, NAMED], SECRET: [PART]}).rulings.guarantee.verdict == "partly"


def test_other_scales_than_the_papers_do_not_decide() -> None:
    other = Setting(5, 0.7, "as_published", 10)
    assert judge({other: [NAMED]}).rulings.guarantee.verdict == "holds"


def test_certain_labels_of_real_answers_count_against_the_guarantee() -> None:
    outcome = judge({SPARSE: [PART], SECRET: [PART]}, [REAL])
    assert outcome.rulings.guarantee.verdict == "partly"
    assert "; labels certain: a dataset 500 of 1,221" in outcome.rulings.guarantee.reason
    none = {**REAL, "certain": 0, "known": True}
    assert judge({SPARSE: [PART], SECRET: [PART]}, [none]).rulings.guarantee.verdict == "holds"
    secret = {**REAL, "known": False, "named": 1}
    assert judge({SPARSE: [NAMED], SECRET: [SEEN]}, [secret]).rulings.guarantee.verdict == "fails"


def test_real_answers_have_a_row_and_a_sentence_with_their_name() -> None:
    outcome = judge({SPARSE: [NAMED], SECRET: [SEEN]}, [REAL])
    assert (
        "On a dataset (17 workers, 1,221 labels of 159 tasks), if the server knows the "
        "assignments, 2 of 17 columns are recovered, 2 with names, and 500 labels are certain."
    ) in outcome.explanation
    [row] = [row for row in outcome.rows if row.get("data") == "a dataset"]
    assert (row["candidates counted"], row["most candidates"]) == (4, 24)


def test_columns_without_names_are_told_as_such() -> None:
    dense = {**REAL, "exact": 17, "named": 0, "candidates": [17] * 17, "known": False}
    outcome = judge({SPARSE: [NAMED], SECRET: [SEEN]}, [dense])
    assert "17 of 17 columns are recovered, none with a name" in outcome.explanation
    assert "; columns recovered: a dataset 17 of 17" in outcome.rulings.guarantee.reason


def test_labels_of_unanimous_tasks_have_no_names_without_assignments() -> None:
    none = {**REAL, "exact": 0, "named": 0, "candidates": [], "certain": 131, "known": False}
    words = judge({SPARSE: [NAMED], SECRET: [SEEN]}, [none]).explanation
    assert words.endswith(
        "0 of 17 columns are recovered, and 131 labels of unanimous tasks are known, without names."
    )


def test_a_full_run_attacks_every_dataset_in_both_models(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    if GoldTasks.of("bluebirds") is None or GoldTasks.of("duchenne") is None:
        pytest.skip("needs the datasets duchenne and bluebirds")
    cells = [cell for cell in STUDY.plan("full", 1).cells if cell.function is attacked_real]
    assert [cell.arguments[:2] for cell in cells] == [row for row in ROWS for _ in MODELS]
    assert {cell.arguments[2] for cell in cells} == set(MODELS)


def test_real_answers_that_are_not_there_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert not any(cell.function is attacked_real for cell in STUDY.plan("full", 1).cells)


def test_repeats_of_one_worker_are_not_answers_of_all() -> None:
    answers = Reports.of(
        np.array([0, 0, 0, 1, 2]),
        np.array([0, 0, 0, 1, 1]),
        np.array([1, 1, 1, 0, 0]),
        domain=Domain.categorical((0, 1)),
    )
    assert not against_theorem_1(answers).any()


def test_every_sentence_names_the_crowd() -> None:
    words = judge({DENSE: [SEEN], SPARSE: [NAMED], SECRET: [SEEN]}).explanation
    assert words.startswith(
        "On drawn crowds that meet the theorem's condition (5 workers, 150 tasks, of which each "
        "answers all or 70 %), in P2's own model,"
    )


def test_crowds_meet_the_condition_of_the_theorem() -> None:
    dense, sparse = DENSE.draw(1), SPARSE.draw(1)
    assert len(dense.tasks) < 159  # some tasks had the same label from all
    for answers in (dense, sparse):
        assert not against_theorem_1(answers).any()
        assert len(answers.workers) == 5


def test_a_task_that_somebody_left_out_has_two_labels_if_none_counts_as_one() -> None:
    answers = Reports.of(
        np.array([0, 1, 2, 0, 1, 0, 1, 2]),
        np.array([0, 0, 0, 1, 1, 2, 2, 2]),
        np.array([1, 1, 1, 1, 1, 0, 1, 1]),
        domain=Domain.categorical((0, 1)),
    )
    assert against_theorem_1(answers).tolist() == [True, False, False]


def test_charts_and_tables_show_shares_by_scale() -> None:
    other = Setting(5, 1.0, "as_published", 10)
    outcome = judge({other: [{**SEEN, "exact": 1}], DENSE: [SEEN]})
    [chart] = outcome.charts
    assert [series.y for series in chart.series] == [(0.2, 1.0)]
    assert [row["5, all"] for row in outcome.rows if "L" in row] == [0.2, 1.0]


def test_an_attack_is_the_same_for_the_same_seed_with_and_without_noise() -> None:
    noised = Setting(5, 0.7, "noised", None, "epsilon 1, counts")
    assert attacked(noised, 0, 1) == attacked(noised, 0, 1)
    assert attacked(SPARSE, 0, 1)["named"] == 5
    secret = attacked(SECRET, 0, 1)
    assert (secret["exact"], secret["named"]) == (5, 0)
