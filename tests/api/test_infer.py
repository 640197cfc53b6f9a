"""Three lines of Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sottovoce
from sottovoce import DataError, Domain, Kind, Reports, UsageError

ANSWERS = {
    "worker": ["ann", "bob", "cy", "ann", "bob", "cy", "ann", "bob"],
    "task": ["q1", "q1", "q1", "q2", "q2", "q2", "q3", "q3"],
    "answer": ["yes", "yes", "no", "no", "no", "no", "yes", "no"],
}
NUMBERS = {
    "worker": ["ann", "bob", "cy"] * 3,
    "task": ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 3,
    "value": [1.0, 1.2, 3.0, 5.0, 5.1, 9.0, 7.0, 7.3, 7.2],
}
GRADES = {
    "worker": ["ann", "bob", "cy"] * 2,
    "task": ["q1"] * 3 + ["q2"] * 3,
    "answer": [1, 2, 2, 3, 3, 1],
}


def test_labels_are_inferred_with_aware_labels_unless_told_otherwise() -> None:
    result = sottovoce.infer(ANSWERS)
    assert result.provenance.method == "aware-labels"
    assert dict(zip(result.tasks, result.values, strict=True))["q2"] == "no"


def test_numbers_are_inferred_with_aware_numbers_unless_told_otherwise() -> None:
    result = sottovoce.infer(NUMBERS)
    assert result.provenance.method == "aware-numbers"
    assert result.standard_error is not None


def test_the_same_answers_from_a_file_a_frame_and_a_mapping_give_the_same_truths(
    tmp_path: Path,
) -> None:
    frame = pd.DataFrame(ANSWERS)
    file = tmp_path / "answers.csv"
    frame.to_csv(file, index=False)
    results = [sottovoce.infer(source) for source in (ANSWERS, frame, file, str(file))]
    for result in results[1:]:
        np.testing.assert_array_equal(result.posterior, results[0].posterior)
        assert list(result.tasks) == list(results[0].tasks)


def test_parameters_reach_the_method() -> None:
    result = sottovoce.infer(ANSWERS, "dawid-skene", parameters={"max_rounds": 1})
    assert result.rounds == 1
    assert result.provenance.parameters["max_rounds"] == 1


def test_a_wrong_parameter_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="td takes max_rounds, tolerance, weight, divide_by"):
        sottovoce.infer(ANSWERS, "td", parameters={"rounds": 1})


def test_a_wrong_method_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="no method 'dawidskene': did you mean dawid-skene"):
        sottovoce.infer(ANSWERS, "dawidskene")


def test_a_method_for_numbers_refuses_labels_and_says_which_methods_take_them() -> None:
    with pytest.raises(UsageError, match=r"mean does not take categorical .* majority-vote"):
        sottovoce.infer(ANSWERS, "mean")


def test_a_method_for_numbers_takes_ordinal_labels_as_numbers() -> None:
    result = sottovoce.infer(GRADES, "mean", domain=Kind.ORDINAL)
    assert result.truths == pytest.approx([5 / 3, 7 / 3])


@pytest.mark.parametrize("domain", [Kind.ORDINAL, "ordinal"])
def test_ordinal_labels_that_are_not_numbers_must_be_listed(domain: Any) -> None:
    with pytest.raises(UsageError, match=r"from low to high: domain=Domain.ordinal\(\[...\]\)"):
        sottovoce.infer(ANSWERS, "mean", domain=domain)
    result = sottovoce.infer(ANSWERS, "mean", domain=Domain.ordinal(["no", "yes"]))
    assert result.truths == pytest.approx([2 / 3, 0, 1 / 2])


def test_the_hint_on_ordinal_labels_suits_the_labels() -> None:
    with pytest.raises(UsageError, match=r"list them from low to high: domain=Domain.ordinal"):
        sottovoce.infer(ANSWERS, "mean")
    with pytest.raises(UsageError, match=r"or pass domain=Kind.ORDINAL if the labels have"):
        sottovoce.infer(GRADES, "mean")


def test_a_kind_of_domain_can_be_given_by_its_name() -> None:
    assert sottovoce.read(GRADES, domain="numeric").domain == Domain.numeric()
    assert sottovoce.read(GRADES, domain="ordinal").domain == Domain.ordinal([1, 2, 3])


def test_an_aggregator_can_be_given_instead_of_a_name() -> None:
    result = sottovoce.infer(ANSWERS, sottovoce.TD(max_rounds=2))
    assert result.provenance.method == "td"


def test_a_table_already_read_takes_no_reading_options() -> None:
    table = sottovoce.read(ANSWERS)
    with pytest.raises(UsageError, match="already read"):
        sottovoce.infer(table, repeats="last")


def test_random_ties_need_a_seed() -> None:
    with pytest.raises(UsageError, match="need seed="):
        sottovoce.infer(ANSWERS, ties="random")


def test_random_ties_are_the_same_for_the_same_seed_and_fall_both_ways() -> None:
    tasks = np.repeat(np.arange(200), 2)
    table = Reports.of(
        np.tile([0, 1], 200), tasks, np.tile([0, 1], 200), domain=Domain.categorical("ab")
    )
    first = sottovoce.infer(table, "majority-vote", ties="random", seed=3)
    again = sottovoce.infer(table, "majority-vote", ties="random", seed=3)
    np.testing.assert_array_equal(first.truths, again.truths)
    # 200 fair coins: fewer than 50 heads happens once in 10^12.
    assert 50 <= int(first.truths.sum()) <= 150
    plain = sottovoce.infer(table, "majority-vote")
    assert set(plain.truths.tolist()) == {0}


def test_comparing_lists_every_suitable_method_best_first() -> None:
    gold = {"task": ["q1", "q2", "q3"], "truth": ["yes", "no", "yes"]}
    rows = sottovoce.compare(ANSWERS, gold)
    names = {row.method for row in rows}
    assert {"majority-vote", "dawid-skene", "one-coin", "td", "crh", "catd", "constant"} <= names
    assert not {"mean", "gtm"} & names
    accuracies = [row.score.accuracy or 0.0 for row in rows]
    assert accuracies == sorted(accuracies, reverse=True)


def test_comparing_numbers_sorts_by_the_smallest_error() -> None:
    gold = {"task": ["q1", "q2", "q3"], "truth": [1.1, 5.0, 7.1]}
    rows = sottovoce.compare(NUMBERS, gold)
    errors = [row.score.mae or 0.0 for row in rows]
    assert errors == sorted(errors)
    assert "majority-vote" not in {row.method for row in rows}


def test_gold_tasks_without_an_answer_are_counted() -> None:
    score = sottovoce.score(
        sottovoce.infer(ANSWERS), {"task": ["q1", "elsewhere"], "truth": ["yes", "no"]}
    )
    assert (score.tasks, score.unanswered) == (1, 1)


def test_gold_that_matches_no_task_is_refused() -> None:
    with pytest.raises(DataError, match="no gold task has an answer"):
        sottovoce.score(sottovoce.infer(ANSWERS), {"task": ["x"], "truth": ["yes"]})


def test_progress_is_told_after_every_pass() -> None:
    seen: list[int] = []
    result = sottovoce.infer(ANSWERS, "dawid-skene", progress=seen.append)
    assert seen == list(range(1, result.rounds + 2))  # the start is a pass too


def test_a_result_remembers_how_its_table_was_read() -> None:
    repeated = {key: [*column, column[0]] for key, column in ANSWERS.items()}
    result = sottovoce.infer(repeated)
    assert result.provenance.reading is not None
    assert result.provenance.reading.repeated == 1
    assert result.provenance.version == sottovoce.__version__


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz"])
def test_a_written_result_reads_back(tmp_path: Path, ending: str) -> None:
    result = sottovoce.infer(ANSWERS)
    file = tmp_path / f"truths{ending}"
    sottovoce.write(result, file)
    back = sottovoce.gold(file, result.domain)
    assert list(back.tasks) == list(result.tasks)
    assert list(back.truths) == list(result.values)


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    result = sottovoce.infer(ANSWERS)
    file = tmp_path / "truths.csv"
    file.write_text("mine")
    with pytest.raises(sottovoce.OutputExists, match="exists"):
        sottovoce.write(result, file)
    assert file.read_text() == "mine"
    sottovoce.write(result, file, force=True)
    assert file.read_text().startswith("task,truth,confidence,answers")


def test_inspecting_counts_and_finds_the_constant_worker() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 400)
    honest = [np.where(rng.random(400) < 0.9, truth, 1 - truth) for _ in range(4)]
    value = np.concatenate([*honest, np.ones(400, np.int64)])
    table = Reports.of(
        np.repeat(np.arange(5), 400), np.tile(np.arange(400), 5), value,
        domain=Domain.categorical(["no", "yes"]),
    )  # fmt: skip
    seen = sottovoce.inspect(table)
    assert (seen.workers, seen.tasks, seen.answers, seen.sparsity) == (5, 400, 2000, 0.0)
    assert [suspicion.worker for suspicion in seen.suspicious] == ["4"]
    assert "always answers 'yes'" in seen.suspicious[0].reason


def test_random_ties_do_not_depend_on_the_order_of_rows() -> None:
    rows = [(f"w{k}", f"t{j}", "ab"[k]) for j in range(60) for k in range(2)]
    results = []
    for order in (rows, rows[::-1]):
        table = dict(zip(("worker", "task", "answer"), zip(*order, strict=True), strict=True))
        found = sottovoce.infer(table, "majority-vote", ties="random", seed=1)
        results.append(dict(zip(found.tasks, found.values, strict=True)))
    assert results[0] == results[1]


def test_a_table_can_be_packed_and_read_again(tmp_path: Path) -> None:
    sottovoce.pack(ANSWERS, tmp_path / "packed.parquet")
    assert sottovoce.infer(tmp_path / "packed.parquet").rounds == sottovoce.infer(ANSWERS).rounds
