"""Methods for labels, on examples small enough to work out by hand."""

from __future__ import annotations

import re
from math import log
from typing import Any, Literal

import numpy as np
import pytest

from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference import CRH, TD, Constant, DawidSkene, LatentLabel, MajorityVote, OneCoin
from sottovoce.model import Domain, Reports


def engine(answers: list[str], labels: int = 2) -> LocalEngine:
    """One string of labels per worker; a dot is no answer."""
    rows = [(k, j, int(v)) for k, row in enumerate(answers) for j, v in enumerate(row) if v != "."]
    worker, task, value = zip(*rows, strict=True)
    names: dict[str, Any] = {"workers": range(len(answers)), "tasks": range(len(answers[0]))}
    return LocalEngine(
        Reports.of(worker, task, value, domain=Domain.categorical(range(labels)), **names)
    )


def test_a_majority_is_believed_by_its_share() -> None:
    result = MajorityVote().fit(engine(["012", "011", "112"], labels=3))
    assert result.truths.tolist() == [0, 1, 2]
    assert result.confidence == pytest.approx([2 / 3, 1, 2 / 3])


def test_a_tied_vote_goes_to_the_first_label() -> None:
    result = MajorityVote().fit(engine(["1", "0"]))
    assert result.truths.tolist() == [0]
    assert result.confidence == pytest.approx([0.5])


def test_labels_that_tie_share_the_win() -> None:
    result = MajorityVote().fit(engine(["10", "00", "21"], labels=3))
    assert result.weights == pytest.approx([(1 / 3 + 1) / 2, (1 / 3 + 1) / 2, 1 / 6])


def test_the_constant_is_the_most_frequent_label() -> None:
    result = Constant().fit(engine(["0112", "0112"], labels=3))
    assert result.truths.tolist() == [1, 1, 1, 1]
    assert result.confidence == pytest.approx([0.5] * 4)


HALF_RIGHT = ["0000", "0011", "0000"]


def test_td_weighs_by_log_odds_among_all_labels() -> None:
    result = TD(max_rounds=1).fit(engine(HALF_RIGHT, labels=3))
    best = log(0.98 * 2 / 0.02)
    assert result.weights == pytest.approx([best, log(2), best], rel=1e-11)


def test_td_as_published_weighs_as_if_there_were_two_labels() -> None:
    result = TD(max_rounds=1, weight="as_published").fit(engine(HALF_RIGHT, labels=3))
    assert result.weights == pytest.approx([log(49), 0, log(49)], rel=1e-11)


def test_td_as_published_is_td_for_two_labels() -> None:
    table = engine(["0110", "0100", "1010", "11.."])
    sound, published = TD().fit(table), TD(weight="as_published").fit(table)
    assert sound.weights.tolist() == published.weights.tolist()


def test_td_divides_by_the_tasks_a_worker_answered() -> None:
    table = engine(["0000", "0000", "01.."])
    assert TD(max_rounds=1).fit(table).weights[2] == pytest.approx(0)


def test_td_divides_by_all_tasks_on_request() -> None:
    table = engine(["0000", "0000", "01.."])
    weights = TD(max_rounds=1, divide_by="tasks").fit(table).weights
    assert weights[2] == pytest.approx(log(1 / 3))


def test_td_shares_a_tie_among_the_tied_labels_in_its_rounds() -> None:
    assert TD(max_rounds=1).fit(engine(["0", "1"])).weights == pytest.approx([0, 0])


def test_td_lets_the_first_of_tied_labels_win_its_rounds_on_request() -> None:
    weights = TD(max_rounds=1, round_ties="first").fit(engine(["0", "1"])).weights
    assert weights == pytest.approx([log(49), -log(49)])


def test_td_breaks_a_tie_between_later_labels_to_the_first_of_them() -> None:
    table = engine(["1", "2", "0"], labels=3)
    weights = TD(max_rounds=2, round_ties="first", floor=0.25).fit(table).weights
    # Round 1: all tie, label 0 wins. Round 2: worker 2 alone has a positive weight.
    assert weights == pytest.approx([log(2 / 3), log(2 / 3), log(6)])


def test_td_bounds_accuracies_by_its_floor() -> None:
    assert TD(floor=0.1).fit(engine(["00001", "00001", "11110"])).weights == pytest.approx(
        [log(9), log(9), -log(9)]
    )


def test_td_believes_the_opposite_of_a_liar() -> None:
    result = TD().fit(engine(["00001", "00001", "11110"]))
    assert result.weights[2] == pytest.approx(-log(49))


def test_td_confidence_is_what_its_weights_mean() -> None:
    result = TD(max_rounds=1).fit(engine(HALF_RIGHT, labels=3))
    odds = np.array([(0.98 * 2 / 0.02) ** 2, 2, 1])
    assert result.posterior is not None
    assert result.posterior[2] == pytest.approx(odds / odds.sum(), rel=1e-10)


def weak_crowd() -> tuple[Reports, Any]:
    """Workers right with probability .35 among five labels: useful, though seldom right."""
    rng = np.random.default_rng(3)
    worker, task = np.divmod(np.arange(60 * 400), 400)
    gold = rng.integers(0, 5, 400)
    wrong = (gold[task] + rng.integers(1, 5, len(task))) % 5
    value = np.where(rng.random(len(task)) < 0.35, gold[task], wrong)
    return Reports.of(worker, task, value, domain=Domain.categorical(range(5))), gold


def accuracy_of(weight: Literal["sound", "as_published"]) -> float:
    reports, gold = weak_crowd()
    return float(np.mean(TD(weight=weight).fit(LocalEngine(reports)).truths == gold))


def test_td_turns_no_useful_worker_around() -> None:
    reports, _ = weak_crowd()
    assert TD().fit(LocalEngine(reports)).weights.min() > 0


def test_td_finds_the_truth_among_five_labels() -> None:
    assert accuracy_of("sound") > 0.9


def test_td_as_published_turns_useful_workers_around() -> None:
    assert accuracy_of("as_published") < 0.2  # chance


def test_crh_weighs_by_the_share_of_wrong_answers() -> None:
    result = CRH(max_rounds=1).fit(engine(["0000", "0001", "0110"]))
    assert result.weights == pytest.approx([-log(1e-10), -log(1 / 3), -log(2 / 3)], rel=1e-11)


def test_crh_weighs_all_alike_when_nobody_is_wrong() -> None:
    result = CRH().fit(engine(["0101", "0101", "01.."]))
    assert result.weights == pytest.approx([log(3)] * 3, rel=1e-11)


TWO_TASKS = ["01", "01", "11"]


def test_a_round_of_dawid_skene() -> None:
    # Shares 2/3, 1/3 and 0, 1 give workers 0 and 1 P(0|0) = 1, P(0|1) = 1/4 and the prior 1/3, 2/3:
    # label 0 has 1/3 · 1 · 1 · 1, label 1 has 2/3 · 1/4 · 1/4 · 1.
    result = DawidSkene(max_rounds=1).fit(engine(TWO_TASKS))
    assert result.posterior == pytest.approx(np.array([[8 / 9, 1 / 9], [0, 1]]), abs=1e-9)


def test_a_round_of_one_coin() -> None:
    # Skills 5/6, 5/6, 2/3 and the prior 1/3, 2/3.
    result = OneCoin(max_rounds=1).fit(engine(TWO_TASKS))
    expected = np.array([[25 / 29, 4 / 29], [1 / 101, 100 / 101]])
    assert result.posterior == pytest.approx(expected, rel=1e-11)


def test_a_round_of_the_latent_label_model() -> None:
    # alpha = 3/4, 3/4, 1 and beta = 1, 1, 0 (almost), p = 2/3: label 1 has 2/3 · 1/16, label 0 has
    # 1/3 · 1 · 1 · 1 (worker 2 always answers 1).
    result = LatentLabel(max_rounds=1).fit(engine(TWO_TASKS))
    assert result.posterior is not None
    assert result.posterior[0] == pytest.approx([8 / 9, 1 / 9], abs=1e-5)


def test_latent_label_refuses_three_labels() -> None:
    with pytest.raises(UsageError, match="two labels, and the domain has 3; dawid-skene takes"):
        LatentLabel().fit(engine(["012"], labels=3))


@pytest.mark.parametrize("use_kernels", [True, False])
def test_gold_is_believed_against_any_majority(use_kernels: bool) -> None:
    rows = [(k, j, 0) for k in range(20) for j in range(3)]
    worker, task, value = zip(*rows, strict=True)
    reports = Reports.of(worker, task, value, domain=Domain.categorical(range(2)))
    known = np.array([1, -1, -1], np.int32)
    result = DawidSkene(known=known).fit(LocalEngine(reports, use_kernels=use_kernels))
    assert result.posterior is not None
    assert result.posterior[0].tolist() == [0, 1]


def test_gold_teaches_who_lies() -> None:
    table = engine(["0000000", "1111111", "0000011"])
    known = np.array([1, 1, 1, 1, -1, -1, -1], np.int32)
    assert DawidSkene(known=known).fit(table).truths.tolist() == [1] * 7


def test_no_gold_is_the_same_as_unknown_gold() -> None:
    table = engine(["0110", "0100", "1010"])
    unknown = DawidSkene(known=np.full(4, -1, np.int32)).fit(table)
    assert unknown.truths.tobytes() == DawidSkene().fit(table).truths.tobytes()
    assert unknown.weights.tobytes() == DawidSkene().fit(table).weights.tobytes()


@pytest.mark.parametrize("known", [[0], [0, 1, 1, 0, 1], [0, 5, -1, -1], [0, -7, 1, 1]])
def test_gold_of_another_length_or_domain_is_refused(known: list[int]) -> None:
    with pytest.raises(UsageError, match="known"):
        DawidSkene(known=np.array(known, np.int32)).fit(engine(["0110", "0100"]))


@pytest.mark.parametrize(
    ("method", "setting"),
    [
        (TD, {"weight": "soud"}),
        (TD, {"divide_by": "task"}),
        (TD, {"round_ties": "random"}),
        (CRH, {"scaling": "sd"}),
        (DawidSkene, {"bound": "task"}),
        (OneCoin, {"bound": "task"}),
    ],
)
def test_an_unknown_setting_is_refused(method: Any, setting: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        method(**setting)


def test_an_unknown_precision_is_refused() -> None:
    precision: Any = "float16"
    with pytest.raises(UsageError, match="precision must be float64 or float32, not 'float16'"):
        DawidSkene(precision=precision)


@pytest.mark.parametrize("method", [LatentLabel, TD])
@pytest.mark.parametrize("floor", [0.0, 0.5, -1.0])
def test_a_floor_that_leaves_no_room_is_refused(floor: float, method: Any) -> None:
    with pytest.raises(UsageError, match="floor must lie between 0 and 1/2"):
        method(floor=floor)


@pytest.mark.parametrize(
    ("method", "setting", "words"),
    [
        (LatentLabel, {"floor": float("nan")}, "floor must be a number, not nan"),
        (TD, {"max_rounds": 2.5}, "max_rounds must be a whole number, not 2.5"),
        (TD, {"max_rounds": True}, "max_rounds must be a whole number, not True"),
        (CRH, {"tolerance": "small"}, "tolerance must be a number, not 'small'"),
    ],
)
def test_a_setting_of_the_wrong_kind_is_refused(
    method: type[Any], setting: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        method(**setting)
