"""`infer(known=...)`: the method learns from known truths, and its confidence is calibrated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import sottovoce
from sottovoce.api.known_truths import learns
from sottovoce.datasets import CategoricalCrowd, generate
from sottovoce.errors import DataError, UsageError
from sottovoce.inference import METHODS, Mean
from sottovoce.model import Domain, FloatArray, Gold, Kind, Reports, Result
from sottovoce.seams import Engine

LEARNING = [
    name for name, method in METHODS.items() if learns(method) and Kind.CATEGORICAL in method.takes
]


@pytest.fixture(scope="module")
def crowd() -> tuple[Reports, Gold]:
    return generate(
        CategoricalCrowd(workers=30, tasks=200, labels=3, redundancy=4, difficulty=0.6, seed=5)
    )


def first(gold: Gold, count: int) -> Gold:
    return Gold(gold.tasks[:count], gold.truths[:count])


def test_a_method_learns_from_known_truths() -> None:
    """Six workers who all swap two labels: only known truths can tell."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    answers = {"worker": [], "task": [], "label": []}  # type: dict[str, list[Any]]
    for task, right in enumerate(truth):
        for worker in range(6):
            said = 1 - right if rng.random() < 0.8 else right
            for name, value in zip(answers, (f"w{worker}", f"t{task}", f"l{said}"), strict=True):
                answers[name].append(value)
    known = {"task": [f"t{i}" for i in range(30)], "truth": [f"l{t}" for t in truth[:30]]}
    rest = {"task": [f"t{i}" for i in range(30, 60)], "truth": [f"l{t}" for t in truth[30:]]}
    before = sottovoce.score(sottovoce.infer(answers, "dawid-skene"), rest)
    after = sottovoce.score(sottovoce.infer(answers, "dawid-skene", known=known), rest)
    assert before.accuracy is not None
    assert before.accuracy < 0.4
    assert after.accuracy is not None
    assert after.accuracy > 0.8


@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize("count", [4, 40])
def test_known_tasks_have_their_truth_with_confidence_one(
    method: str, count: int, crowd: tuple[Reports, Gold]
) -> None:
    answers, gold = crowd
    wrong = Gold(gold.tasks[:count], (gold.truths[:count] + 1) % 3)
    found = sottovoce.infer(answers, method, known=wrong)
    assert found.known is not None
    assert found.posterior is not None
    assert found.confidence is not None
    rows = np.flatnonzero(found.known)
    given = dict(zip(wrong.tasks.tolist(), wrong.truths.tolist(), strict=True))
    assert found.values[rows].tolist() == [given[task] for task in found.tasks[rows].tolist()]
    assert (found.confidence[rows] == 1).all()
    assert found.table()["known"].sum() == found.provenance.known == count


def test_ten_known_truths_calibrate_and_nine_do_not(crowd: tuple[Reports, Gold]) -> None:
    answers, gold = crowd
    few = sottovoce.infer(answers, "dawid-skene", known=first(gold, 9))
    enough = sottovoce.infer(answers, "dawid-skene", known=first(gold, 10))
    assert few.provenance.calibration == "confidence not recalibrated: it takes 10 known truths"
    assert str(enough.provenance.calibration).startswith("confidence recalibrated: slope")
    with pytest.raises(UsageError, match="sets need at least 10 known truths"):
        few.prediction_sets()
    assert enough.prediction_sets(0.8).shape == (len(enough), 3)


def test_the_result_does_not_depend_on_the_order_of_known_truths(
    crowd: tuple[Reports, Gold],
) -> None:
    answers, gold = crowd
    order = np.random.default_rng(1).permutation(30)
    one = sottovoce.infer(answers, "dawid-skene", known=first(gold, 30))
    other = sottovoce.infer(
        answers, "dawid-skene", known=Gold(gold.tasks[order], gold.truths[order])
    )
    assert one.posterior is not None
    assert other.posterior is not None
    assert one.posterior == pytest.approx(other.posterior, abs=1e-9)


def test_confidence_is_nearer_to_the_accuracy(crowd: tuple[Reports, Gold]) -> None:
    answers, gold = crowd
    known, rest = first(gold, 60), Gold(gold.tasks[60:], gold.truths[60:])
    before = sottovoce.infer(answers, "dawid-skene")
    after = sottovoce.infer(answers, "dawid-skene", known=known)

    def gap(result: Result) -> float:
        accuracy, confidence = sottovoce.score(result, rest).accuracy, result.confidence
        assert accuracy is not None
        assert confidence is not None
        unknown = ~np.isin(result.tasks, known.tasks)
        return abs(float(confidence[unknown].mean()) - accuracy)

    assert gap(after) < 0.6 * gap(before)


def test_sets_cover_and_grow_with_the_level(crowd: tuple[Reports, Gold]) -> None:
    answers, gold = crowd
    found = sottovoce.infer(answers, "dawid-skene", known=first(gold, 60))
    assert found.known is not None
    right = dict(zip(gold.tasks.tolist(), gold.truths.tolist(), strict=True))
    truth = np.array([right[task] for task in found.tasks.tolist()])
    unknown = ~found.known
    sets = {level: found.prediction_sets(level) for level in (0.5, 0.8, 0.95, 0.99)}
    covered = sets[0.95][np.arange(len(found)), truth][unknown]
    assert covered.mean() > 0.85
    assert (sets[0.5] <= sets[0.8]).all()
    assert (sets[0.8] <= sets[0.95]).all()
    assert sets[0.99][unknown].all(), "60 truths cannot promise 99 %"
    assert (sets[0.99][~unknown].sum(axis=1) == 1).all()
    assert sets[0.5][np.arange(len(found)), found.truths].all()


def test_gold_that_was_known_is_not_scored(crowd: tuple[Reports, Gold]) -> None:
    answers, gold = crowd
    found = sottovoce.infer(answers, "dawid-skene", known=first(gold, 50))
    scored = sottovoce.score(found, gold)
    assert (scored.tasks, scored.known, scored.as_dict()["known"]) == (150, 50, 50)
    with pytest.raises(DataError, match="the truth of every gold task was known"):
        sottovoce.score(found, first(gold, 50))


def test_a_method_that_cannot_learn_lists_those_that_can(crowd: tuple[Reports, Gold]) -> None:
    answers, gold = crowd
    with pytest.raises(UsageError, match=r"majority-vote does not learn .* dawid-skene"):
        sottovoce.infer(answers, "majority-vote", known=gold)


def test_a_known_truth_that_is_no_label_is_refused(crowd: tuple[Reports, Gold]) -> None:
    answers, gold = crowd
    odd = {"task": gold.tasks[:2], "truth": ["0", "7"]}
    with pytest.raises(DataError, match=r"of task '.*' is no label of the answers"):
        sottovoce.infer(answers, "dawid-skene", known=odd)


def test_known_tasks_that_nobody_answered_are_refused_if_all_and_ignored_if_some(
    crowd: tuple[Reports, Gold],
) -> None:
    answers, gold = crowd
    nowhere = {"task": ["x", "y"], "truth": ["0", "1"]}
    with pytest.raises(DataError, match="no known task has an answer: compare the task names"):
        sottovoce.infer(answers, "dawid-skene", known=nowhere)
    mixed = {"task": ["x", str(gold.tasks[0])], "truth": ["0", str(gold.truths[0])]}
    assert sottovoce.infer(answers, "dawid-skene", known=mixed).provenance.known == 1


def test_a_second_different_truth_of_a_known_task_is_refused(crowd: tuple[Reports, Gold]) -> None:
    task = str(crowd[1].tasks[0])
    with pytest.raises(DataError, match="has a second, different truth: keep one"):
        sottovoce.infer(crowd[0], known={"task": [task, task], "truth": ["0", "1"]})


def test_columns_of_known_truths_can_be_named(crowd: tuple[Reports, Gold]) -> None:
    answers, gold = crowd
    known = {"item": gold.tasks[:3], "right": gold.truths[:3]}
    named = {"task": "item", "truth": "right"}
    found = sottovoce.infer(answers, "dawid-skene", known=known, known_columns=named)
    assert found.provenance.known == 3


@dataclass(frozen=True)
class KnowingMean:
    """The mean of a task's numbers; known tasks are not known to it before they are clamped."""

    known: FloatArray | None = field(default=None, repr=False)

    name: ClassVar[str] = "knowing-mean"
    takes: ClassVar[frozenset[Kind]] = Mean.takes

    def fit(self, engine: Engine) -> Result:
        assert self.known is not None
        assert self.known.shape == (engine.task_count,)
        result = Mean().fit(engine)
        assert result.standard_error is not None
        return replace(result, standard_error=result.standard_error / 3)


@pytest.fixture(scope="module")
def numbers() -> tuple[dict[str, Any], FloatArray]:
    rng = np.random.default_rng(2)
    truth = rng.normal(0, 10, 300)
    said = truth[:, None] + rng.normal(0, 2, (300, 4))
    answers = {
        "worker": np.tile([f"w{i}" for i in range(4)], 300),
        "task": np.repeat([f"t{i}" for i in range(300)], 4),
        "value": said.ravel(),
    }
    return answers, truth


def known_numbers(truth: FloatArray, count: int) -> dict[str, Any]:
    return {"task": [f"t{i}" for i in range(count)], "truth": truth[:count]}


def test_standard_errors_of_numbers_are_widened_until_they_cover(
    numbers: tuple[dict[str, Any], FloatArray],
) -> None:
    answers, truth = numbers
    found = sottovoce.infer(answers, KnowingMean(), known=known_numbers(truth, 40))
    assert found.standard_error is not None
    assert found.known is not None
    place = np.array([int(str(task)[1:]) for task in found.tasks])
    error = np.abs(found.truths - truth[place])[~found.known]
    assert 0.88 < np.mean(error < 1.96 * found.standard_error[~found.known]) < 0.99
    assert str(found.provenance.calibration).startswith("standard errors multiplied by")
    assert (found.standard_error[found.known] == 0).all()
    assert found.truths[found.known] == pytest.approx(truth[place][found.known])


def test_intervals_of_numbers_cover_at_their_level(
    numbers: tuple[dict[str, Any], FloatArray],
) -> None:
    answers, truth = numbers
    found = sottovoce.infer(answers, KnowingMean(), known=known_numbers(truth, 60))
    place = np.array([int(str(task)[1:]) for task in found.tasks])
    assert found.known is not None
    for level, least, most in ((0.5, 0.35, 0.65), (0.9, 0.82, 0.97)):
        low, high = found.intervals(level)[~found.known].T
        inside = (low <= truth[place][~found.known]) & (truth[place][~found.known] <= high)
        assert least < inside.mean() < most
    known = found.intervals(0.99)[found.known]
    assert (known[:, 0] == known[:, 1]).all()
    assert np.isinf(found.intervals(0.99)[~found.known]).all()


def test_intervals_without_known_truths_are_the_normal_ones() -> None:
    answers = {"worker": ["a", "b"] * 2, "task": ["s", "s", "t", "t"], "value": [1, 2, 5, 8.5]}
    found = sottovoce.infer(answers, "mean")
    assert found.standard_error is not None
    width = np.diff(found.intervals(0.95), axis=1)[:, 0]
    assert width == pytest.approx(2 * 1.959964 * found.standard_error)
    with pytest.raises(UsageError, match="level must lie between 0 and 1, not 1"):
        found.intervals(1)
    with pytest.raises(UsageError, match="numbers have intervals"):
        found.prediction_sets()


def test_labels_have_no_intervals(crowd: tuple[Reports, Gold]) -> None:
    with pytest.raises(UsageError, match="labels have prediction_sets"):
        sottovoce.infer(crowd[0], "majority-vote").intervals()


def test_ordinal_labels_are_known_to_a_method_for_numbers_by_their_scale() -> None:
    answers = {"worker": ["a", "b"] * 2, "task": ["s", "s", "t", "t"], "label": list("lmmh")}
    ordinal = Domain.ordinal(["l", "m", "h"])
    known = {"task": ["s"], "truth": ["h"]}
    found = sottovoce.infer(answers, KnowingMean(), domain=ordinal, known=known)
    assert dict(zip(found.tasks, found.truths, strict=True)) == {"s": 2.0, "t": 1.5}


def test_a_known_number_outside_the_range_is_refused() -> None:
    answers = {"worker": ["a", "b"], "task": ["s", "s"], "value": [1, 2]}
    with pytest.raises(DataError, match="the known truth of task 's' is outside the range"):
        sottovoce.infer(
            answers,
            KnowingMean(),
            domain=Domain.numeric(0, 10),
            known={"task": ["s"], "truth": [12]},
        )


def test_large_tables_take_no_known_truths() -> None:
    keywords: Any = {"known": {"task": ["t"], "truth": ["x"]}}
    with pytest.raises(UsageError, match="known truths need all tasks in memory"):
        sottovoce.infer_into("answers.parquet", "truths", **keywords)


def test_intervals_on_a_logarithmic_scale_cover_at_their_level() -> None:
    rng = np.random.default_rng(3)
    truth = np.exp(rng.normal(4, 1, 200))
    said = truth[:, None] * np.exp(rng.normal(0, 0.4, (200, 4)) + rng.normal(0, 0.3, (200, 1)))
    answers = {
        "worker": np.tile([f"w{i}" for i in range(4)], 200),
        "task": np.repeat([f"t{i}" for i in range(200)], 4),
        "value": said.ravel(),
    }
    found = sottovoce.infer(answers, known=known_numbers(truth, 60))
    place = np.array([int(str(task)[1:]) for task in found.tasks])
    assert found.known is not None
    low, high = found.intervals(0.9)[~found.known].T
    right = truth[place][~found.known]
    assert found.log_scale
    assert 0.82 < np.mean((low <= right) & (right <= high)) < 0.97
