"""A result and more reports: the result of all reports, in fewer rounds."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce import Domain, Reports, Result, Target, infer, make_policy, perturb, read
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import DataError, UsageError

LABELS = Domain.categorical(["a", "b", "c"])


def crowd(answers: int = 4_000, seed: int = 1) -> Reports:
    """Workers of different ability; five answers a task."""
    rng = np.random.default_rng(seed)
    workers, tasks = 40, answers // 5
    task = np.repeat(np.arange(tasks), 5)
    worker = (np.tile(np.arange(5), tasks) * 8 + rng.integers(0, 8, answers)).astype(int)
    right = rng.random(answers) < rng.uniform(0.2, 0.9, workers)[worker]
    value = np.where(right, rng.integers(0, 3, tasks)[task], rng.integers(0, 3, answers))
    names = [f"w{i}" for i in range(workers)], [f"t{i}" for i in range(tasks)]
    return Reports.of(worker, task, value, domain=LABELS, workers=names[0], tasks=names[1])


def rows(reports: Reports, chosen: Any) -> dict[str, Any]:
    """Some rows, as columns of names."""
    return {
        "worker": reports.workers[reports.worker[chosen]],
        "task": reports.tasks[reports.task[chosen]],
        "answer": np.array(reports.domain.labels, dtype=object)[reports.value[chosen]],
    }


def sent_rows(reports: Reports, chosen: Any) -> dict[str, Any]:
    """The same for simulated reports."""
    columns = rows(reports, chosen)
    return {"simulated_report": columns.pop("answer"), **columns}


def halves(reports: Reports, share: float = 0.9) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first rows and the others, in a random order: both have tasks of their own."""
    order = np.random.default_rng(3).permutation(len(reports))
    cut = int(share * len(reports))
    return rows(reports, order[:cut]), rows(reports, order[cut:])


def by_task(result: Result) -> dict[str, tuple[Any, float]]:
    assert result.confidence is not None
    pairs = zip(result.values.tolist(), result.confidence.tolist(), strict=True)
    return dict(zip(map(str, result.tasks), pairs, strict=True))


def compared(found: Result, wanted: Result) -> tuple[float, np.ndarray[Any, Any]]:
    """The share of truths that differ, and how far confidences differ."""
    one, other = by_task(found), by_task(wanted)
    assert one.keys() == other.keys()
    differ = np.mean([one[task][0] != other[task][0] for task in one])
    return float(differ), np.abs([one[task][1] - other[task][1] for task in one])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_truths_are_those_of_a_fit_from_scratch(seed: int) -> None:
    reports = crowd(seed=seed)
    first, more = halves(reports)
    wanted = infer(reports, tolerance=1e-8)
    found = infer(first, domain=LABELS, tolerance=1e-8).updated(more)
    differ, apart = compared(found, wanted)
    assert differ == 0
    assert apart.max() < 1e-3
    assert int(found.answers.sum()) == len(reports)
    assert found.converged
    assert found.rounds <= wanted.rounds


def test_truths_of_real_data_are_those_of_a_fit_from_scratch(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    reports = read("dataset:rte")
    first, more = halves(reports)
    for tolerance, most, mean in ((1e-8, 1e-3, 1e-4), (1e-5, 0.1, 0.02)):
        wanted = infer(reports, tolerance=tolerance)
        found = infer(first, tolerance=tolerance).updated(more)
        differ, apart = compared(found, wanted)
        assert differ <= (0 if tolerance < 1e-5 else 0.005)
        assert apart.max() < most
        assert apart.mean() < mean


def test_reports_of_a_policy_are_updated_under_it() -> None:
    policy = make_policy(LABELS, "randomized-response", Target(2.0))
    sent = perturb(crowd(), policy, SeededRandomness(1))
    chosen = np.random.default_rng(2).random(len(sent)) < 0.8
    first, more = (sent_rows(sent, mask) for mask in (chosen, ~chosen))
    found = infer(first, policy=policy, tolerance=1e-9, max_rounds=1_000).updated(more)
    wanted = infer(sent, policy=policy, tolerance=1e-9, max_rounds=1_000)
    differ, apart = compared(found, wanted)
    assert differ == 0
    assert apart.max() < 1e-3
    assert found.provenance.policy_hash == policy.hash
    assert found.provenance.started_from == int(chosen.sum())
    assert found.provenance.simulated


def test_hidden_participation_is_updated_too() -> None:
    target = Target(4.0, answers=20, hide_participation=True)
    policy = make_policy(LABELS, "null-randomized-response", target)
    sent = perturb(crowd(100), policy, SeededRandomness(1))
    late = sent.worker == sent.worker.max()
    first, more = (sent_rows(sent, mask) for mask in (~late, late))
    found = infer(first, policy=policy).updated(more)
    assert len(found.workers) == len(sent.workers)
    np.testing.assert_allclose(found.confusions.sum(axis=2), 1.0)  # type: ignore[union-attr]


def test_a_small_update_takes_fewer_rounds_and_names_its_start() -> None:
    first, more = halves(crowd(), share=0.98)
    before = infer(first)
    found = before.updated(more)
    assert found.rounds < before.rounds
    assert found.provenance.started_from == int(before.answers.sum())
    again = found.updated({"worker": ["w1"], "task": ["new"], "answer": ["a"]})
    assert again.provenance.started_from == found.provenance.started_from


def test_rounds_start_again_once_reports_have_doubled() -> None:
    reports = crowd()
    first, more = halves(reports, share=0.4)
    found = infer(first, domain=LABELS).updated(more)
    assert found.provenance.started_from == 0
    wanted = infer(joined_rows(first, more), domain=LABELS)
    assert found.rounds == wanted.rounds
    assert compared(found, wanted)[1].max() < 1e-9


def joined_rows(first: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    return {name: np.concatenate([first[name], more[name]]) for name in first}


@pytest.mark.parametrize("method", ["dawid-skene", "majority-vote", "one-coin"])
def test_other_methods_fit_all_reports_from_scratch(method: str) -> None:
    first, more = halves(crowd())
    found = infer(first, method, domain=LABELS).updated(more)
    wanted = infer(joined_rows(first, more), method, domain=LABELS)
    assert found.provenance.method == method
    differ, apart = compared(found, wanted)
    assert differ == 0
    assert apart.max() < 1e-12


def test_numbers_can_be_updated() -> None:
    rng = np.random.default_rng(0)
    worker, task = np.divmod(np.arange(100), 20)
    table = {"worker": worker, "task": task, "answer": task + rng.normal(size=100)}
    first = {name: column[:80] for name, column in table.items()}
    more = {name: column[80:] for name, column in table.items()}
    found, wanted = infer(first).updated(more), infer(table)
    np.testing.assert_allclose(found.truths, wanted.truths, rtol=1e-12)


def test_parameters_and_known_truths_stay_those_of_the_first_call() -> None:
    first, more = halves(crowd())
    known = {"task": ["t0", "t1"], "truth": ["a", "b"]}
    before = infer(first, domain=LABELS, known=known, ties="random", seed=4, max_rounds=2)
    found = before.updated(more)
    assert found.provenance.known == 2
    assert found.provenance.parameters["max_rounds"] == 2
    assert dict(zip(found.tasks, found.values, strict=True))["t0"] == "a"


@pytest.mark.parametrize(
    ("repeats", "given", "answers"), [("first", "yes", 2), ("last", "no", 2), ("keep", "yes", 3)]
)
def test_repeats_decide_if_a_worker_answers_again(repeats: str, given: str, answers: int) -> None:
    first = {"worker": ["ann", "bob"], "task": ["q", "q"], "answer": ["yes", "yes"]}
    more = {"worker": ["ann"], "task": ["q"], "answer": ["no"]}
    domain = Domain.categorical(["no", "yes"])
    found = infer(first, "majority-vote", domain=domain).updated(more, repeats=repeats)
    assert int(found.answers[0]) == answers
    assert found.provenance.reading is not None
    assert found.provenance.reading.repeated == 1
    votes = found.posterior[0] * answers  # type: ignore[index]
    assert votes[0] == pytest.approx(0 if given == "yes" and repeats == "first" else 1)


def test_integer_names_and_their_texts_are_the_same_workers() -> None:
    first = {"worker": [1, 2], "task": [7, 7], "answer": ["a", "b"]}
    found = infer(first).updated({"worker": ["2", "x"], "task": ["8", "7"], "answer": ["a", "b"]})
    assert found.workers.tolist() == ["1", "2", "x"]
    assert found.tasks.tolist() == ["7", "8"]


def test_a_new_label_is_refused() -> None:
    first = {"worker": ["ann", "bob"], "task": ["q", "q"], "answer": ["yes", "no"]}
    result = infer(first)
    with pytest.raises(DataError, match="maybe"):
        result.updated({"worker": ["cy"], "task": ["q"], "answer": ["maybe"]})
    with pytest.raises(UsageError, match="the domain of the others: drop domain="):
        result.updated(first, domain="categorical")


def test_a_pickled_result_starts_a_fit_but_has_no_reports() -> None:
    first, more = halves(crowd())
    before = infer(first, domain=LABELS)
    saved = pickle.loads(pickle.dumps(before))  # noqa: S301 - written in this line
    with pytest.raises(UsageError, match="pass all reports to infer, with start="):
        saved.updated(more)
    again = infer(joined_rows(first, more), domain=LABELS, start=saved)
    assert by_task(again) == by_task(before.updated(more))


def test_a_start_from_another_domain_is_refused() -> None:
    first, _ = halves(crowd(100))
    before = infer(first, domain=LABELS)
    with pytest.raises(UsageError, match="start= is a result for categorical"):
        infer(first, domain=Domain.categorical("abcd"), start=before)
