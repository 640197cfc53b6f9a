"""Labels from transcripts of the product's own private EM."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.api.simulate_private_em import simulate_private_em
from sottovoce.errors import DataError
from sottovoce.model import Reports
from sottovoce.model.sum_rounds import OpenedSum
from sottovoce.securesum.em.transcript import Transcript
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.p2.attack.transcript_attack import Recovery, read_transcript, recover_labels

TASKS = 159


def crowd(workers: int, share: float = 1.0, labels: int = 2, seed: int = 1) -> Reports:
    answered = round(share * TASKS)
    return LabelCrowd(workers, TASKS, answered, labels, "heterogeneous").draw(seed)[0]


def attacked(answers: Any, **options: Any) -> Recovery:
    exact = {} if options.get("mode") == "noised" else {"mode": "as_published", "rounds": 15}
    given = {"suite": "plain", "assignments": True, **exact, **options}
    return recover_labels(simulate_private_em(answers, **given).transcript)


def test_every_label_of_every_worker_comes_out() -> None:
    answers = crowd(8)
    recovery = attacked(answers, scale=10**10)
    score = recovery.score(answers)
    assert (recovery.outcome, recovery.rank, recovery.needed) == ("all", 9, 9)
    assert recovery.reproduced
    assert (score.exact, score.right, score.answers) == (8, 8 * TASKS, 8 * TASKS)


def test_every_label_comes_out_under_its_workers_name() -> None:
    answers = crowd(8, 0.7)
    recovery = attacked(answers, scale=10**14)
    assert (recovery.rank, recovery.needed) == (16, 16)
    assert recovery.linked == tuple(map(str, range(8)))
    assert recovery.score(answers).owned == 8


def test_columns_have_no_names_where_the_transcript_does_not_say_who_had_what() -> None:
    answers = crowd(8, 0.7)
    recovery = attacked(answers, scale=10**14, assignments=False)
    assert recovery.linked == ()
    assert recovery.score(answers).exact == 8
    assert recovery.score(answers).owned == 0


def test_three_labels_come_out_too() -> None:
    answers = crowd(5, 0.7, labels=3)
    assert attacked(answers).score(answers).owned == 5


def test_differences_at_a_small_scale_hide_nothing() -> None:
    answers = crowd(8)
    recovery = attacked(answers, mode="log_odds", scale=1000)
    assert recovery.reproduced
    assert recovery.score(answers).exact == 8


def test_few_rounds_hide_nothing_at_the_papers_scale() -> None:
    """Rank 4 of 21: the rest follows from short relations between tasks."""
    answers = crowd(20)
    recovery = attacked(answers, rounds=1)
    assert (recovery.rank, recovery.needed) == (4, 21)
    assert recovery.score(answers).exact == 20


@pytest.mark.slow
@pytest.mark.parametrize("scale", [10**10, 10**14])
@pytest.mark.parametrize(("workers", "share"), [(20, 1.0), (20, 0.7), (39, 1.0)])
def test_crowds_as_large_as_the_papers_come_out(workers: int, share: float, scale: int) -> None:
    answers = crowd(workers, share)
    recovery = attacked(answers, scale=scale)
    score = recovery.score(answers)
    assert score.exact == workers
    assert score.owned == (workers if share < 1 else 0)


def test_noise_leaves_nothing_but_the_published_truths() -> None:
    answers = crowd(8, 0.7)
    recovery = attacked(answers, mode="noised", epsilon=1.0)
    score = recovery.score(answers)
    assert (recovery.columns, recovery.unanimous, recovery.unanimous_labels) == (0, 0, 0)
    assert recovery.reproduced is None
    assert score.right == score.guessed > 0


def test_a_worker_that_falls_silent_is_found_all_the_same() -> None:
    answers = crowd(6, 0.7)
    gone = {(3, "contribute"): [2]}
    recovery = attacked(answers, suite="masked", threshold=4, rounds=8, dropouts=gone)
    assert {each.workers for each in recovery.transcript.opened} == {5, 6}
    assert recovery.score(answers).owned == 6
    assert recovery.reproduced is None


def doubled(answers: Reports, rows: int) -> Reports:
    """The first answers are given again, with the other label."""
    return Reports.of(
        np.append(answers.worker, answers.worker[:rows]),
        np.append(answers.task, answers.task[:rows]),
        np.append(answers.value, 1 - answers.value[:rows]),
        domain=answers.domain, tasks=answers.tasks,
    )  # fmt: skip


def test_who_answered_a_task_twice_is_found_with_everybody_else() -> None:
    answers = doubled(crowd(5, 0.7), 9)
    recovery = attacked(answers)
    assert recovery.transcript.terms.repeats == 2
    assert recovery.linked == ("0", "1", "2", "3", "4")
    assert recovery.score(answers).owned == 5
    assert recovery.score(answers).right == len(answers)


def test_a_label_that_was_given_twice_has_two_rows() -> None:
    answers = doubled(crowd(5, 0.7), 9)
    assert len(attacked(answers).table()["label"]) == len(answers)


def test_repeats_are_not_taken_apart_where_it_is_not_known_who_repeated_what() -> None:
    recovery = attacked(doubled(crowd(5, 0.7), 9), assignments=False)
    assert (recovery.groups, recovery.leaks) == ((), ())
    assert recovery.certain == recovery.unanimous_labels


def test_each_worker_has_one_column_left_where_all_are_known() -> None:
    answers = crowd(8, 0.7)
    leaks = attacked(answers).leaks
    assert [leak.worker for leak in leaks] == [str(number) for number in range(8)]
    assert {leak.candidates for leak in leaks} == {1}
    assert sum(leak.certain for leak in leaks) == len(answers)


def test_workers_with_the_same_tasks_have_all_their_columns_left() -> None:
    answers = crowd(8)
    recovery = attacked(answers, assignments=False)
    assert {leak.candidates for leak in recovery.leaks} == {8}
    assert {leak.worker for leak in recovery.leaks} == {None}
    assert recovery.score(answers).certain == recovery.certain < len(answers)


def test_labels_are_certain_where_columns_are_not_counted() -> None:
    """Too little was opened, and only unanimous tasks give labels away."""
    answers = crowd(8, 0.5)
    recovery = attacked(answers, mode="log_odds", scale=1, rounds=1)
    assert {leak.candidates for leak in recovery.leaks} == {None}
    score = recovery.score(answers)
    assert 0 < recovery.unanimous_labels == score.certain == score.certain_right


def test_labels_that_do_not_give_every_total_again_are_not_claimed() -> None:
    """Twice a total is in the span too; no such workers would have sent it."""
    run = simulate_private_em(crowd(5), suite="plain", mode="as_published", rounds=15)
    assert recover_labels(run.transcript).columns == 5
    *opened, last = run.transcript.opened
    doubled = OpenedSum(2 * last.totals, last.workers)
    recovery = recover_labels(replace(run.transcript, opened=(*opened, doubled)))
    assert (recovery.outcome, recovery.columns, recovery.reproduced) == ("none", 0, None)


def test_the_order_of_a_workers_answers_hides_nothing_at_the_largest_scale() -> None:
    """The last digits of logarithms depend on it; with these answers they do."""
    for seed in range(5):
        answers = crowd(5, seed=seed)
        recovery = attacked(answers, scale=10**14, rounds=40)
        assert recovery.score(answers).exact == 5


def test_the_table_has_every_label_that_was_found() -> None:
    answers = crowd(8, 0.7)
    table = attacked(answers).table()
    found = set(zip(*(table[name].tolist() for name in ("worker", "task", "label")), strict=True))
    given = zip(answers.worker.tolist(), answers.task.tolist(), answers.value.tolist(), strict=True)
    assert found == {(str(worker), str(task), str(value)) for worker, task, value in given}


def test_unanimous_tasks_are_in_the_table_where_no_column_is() -> None:
    answers = crowd(5, 0.7)
    recovery = attacked(answers, mode="log_odds", scale=1, rounds=1, assignments=False)
    assert (recovery.columns, recovery.unanimous > 0) == (0, True)
    table = recovery.table()
    assert set(table["worker"].tolist()) == {"everybody who answered"}
    assert len(table["task"]) == recovery.unanimous


def test_labels_are_not_in_a_repr() -> None:
    recovery = attacked(crowd(5))
    assert "array" not in repr(recovery)


def test_answers_to_other_tasks_are_refused() -> None:
    recovery = attacked(crowd(5))
    with pytest.raises(DataError, match="the task 'q' of these answers is not in the transcript"):
        recovery.score({"worker": ["a"], "task": ["q"], "answer": ["1"]})
    with pytest.raises(DataError, match="the label 'x' of these answers"):
        recovery.score({"worker": ["a"], "task": ["1"], "answer": ["x"]})


@pytest.fixture(scope="module")
def transcript() -> Transcript:
    run = simulate_private_em(crowd(4), suite="plain", mode="log_odds", rounds=5)
    return run.transcript


def test_a_file_is_read_again(transcript: Transcript, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(transcript.text())
    assert read_transcript(file).text() == transcript.text()


def test_what_is_no_file_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"\x89PNG\xff\xfe")
    for name, words in (
        ("none", "none: the file does not exist"),
        ("image", "image: not a transcript: it is not text"),
        (".", "cannot be read: Is a directory"),
    ):
        with pytest.raises(DataError, match=words):
            read_transcript(tmp_path / name)


def test_rounds_that_are_not_those_of_the_terms_are_refused(
    transcript: Transcript, tmp_path: Path
) -> None:
    document = json.loads(transcript.text())
    rounds = document["rounds"]
    short = {**rounds[1], "totals": rounds[1]["totals"][:-1]}
    large = {**rounds[1], "totals": [str(10**12), *rounds[1]["totals"][1:]]}
    file = tmp_path / "t.json"
    for given, words in (
        ([], "t.json: nothing was opened"),
        ([rounds[0], short], "t.json: round 1 does not match these terms"),
        ([rounds[0], large], "t.json: round 1 does not match these terms"),
        ([*rounds, rounds[-1]], "t.json: round .* comes after the last of these terms"),
    ):
        file.write_text(json.dumps({**document, "rounds": given}))
        with pytest.raises(DataError, match=words):
            read_transcript(file)
