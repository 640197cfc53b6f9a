"""The whole of a sealed campaign in one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce import Domain, read, score
from sottovoce.api.simulate_sealed import simulate_sealed
from sottovoce.datasets import NumericCrowd, generate
from sottovoce.errors import UsageError

LABELS = ("no", "yes")
TRIALS = 20


def crowd(
    seed: int, *, workers: int = 200, tasks: int = 200, each: int = 50
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Workers right with a chance of U(.55, .8), each on some of the tasks."""
    draw = np.random.default_rng(seed)
    truths, ability = draw.integers(0, 2, tasks), draw.uniform(0.55, 0.8, workers)
    worker = np.repeat(np.arange(workers), each)
    task = np.concatenate([draw.choice(tasks, each, replace=False) for _ in range(workers)])
    wrong = draw.random(len(worker)) >= ability[worker]
    names = [f"t{place:03}" for place in range(tasks)]
    answers = {
        "worker": [f"w{place}" for place in worker],
        "task": [names[place] for place in task],
        "answer": [LABELS[code] for code in truths[task] ^ wrong],
    }
    return answers, {"task": names, "truth": [LABELS[code] for code in truths]}


@pytest.mark.parametrize(
    "terms",
    [{}, {"hide_participation": True}, {"keyholders": 5, "colluding": 2}, {"suite": "plain"}],
)
def test_keyholders_open_the_integers_of_the_plain_suite(terms: dict[str, Any]) -> None:
    answers, _ = crowd(1, workers=12, tasks=7, each=5)
    run = simulate_sealed(answers, domain=Domain.categorical(LABELS), **terms)
    assert run.identical_to_plain
    assert (run.workers, run.dropped, run.rounds) == (12, 0, 1)


def test_the_guarantee_is_for_what_workers_sent() -> None:
    answers, _ = crowd(1, workers=12, tasks=7, each=5)
    public = simulate_sealed(answers, epsilon=0.5, domain=Domain.categorical(LABELS))
    hidden = simulate_sealed(
        answers, epsilon=0.5, hide_participation=True, domain=Domain.categorical(LABELS)
    )
    assert (public.guarantee.epsilon, public.guarantee_worker.epsilon) == (0.5, 2.5)
    assert (hidden.guarantee.epsilon, hidden.guarantee_worker.epsilon) == (0.5, 3.5)


def test_numbers_are_sealed_as_sums_and_as_histograms() -> None:
    answers, _ = generate(NumericCrowd(workers=20, tasks=5, clip=True, inset=1.0, seed=1))
    for layout in ("sum", "histogram"):
        run = simulate_sealed(answers, epsilon=4.0, layout=layout)
        assert run.identical_to_plain
        assert ((run.result.truths >= 0) & (run.result.truths <= 10)).all()


def test_a_sum_over_one_worker_is_refused() -> None:
    table = {"worker": ["ann"], "task": ["q1"], "answer": ["yes"]}
    with pytest.raises(UsageError, match="hides nothing"):
        simulate_sealed(read(table, domain=Domain.categorical(LABELS)))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("epsilon", "figure"), [(1.0, 0.015), (0.5, 0.045)])
def test_labels_come_out_almost_as_from_clean_answers(epsilon: float, figure: float) -> None:
    errors = []
    for seed in range(TRIALS):
        answers, gold = crowd(seed)
        run = simulate_sealed(answers, epsilon=epsilon, domain=Domain.categorical(LABELS))
        errors.append(1 - float(score(run.result, gold).accuracy or 0))
    assert _least(errors) <= figure


@pytest.mark.slow
@pytest.mark.statistical
def test_numbers_come_out_ten_times_closer_than_the_papers_pipeline() -> None:
    errors = []
    for seed in range(TRIALS):
        answers, gold = generate(NumericCrowd(clip=True, inset=1.0, seed=seed))
        run = simulate_sealed(answers, epsilon=1.0)
        errors.append(float(score(run.result, gold).mae or 0))
    assert _least(errors) <= 0.13


def _least(errors: list[float]) -> float:
    """The mean less two standard errors, as in the studies."""
    return float(np.mean(errors) - 2 * np.std(errors, ddof=1) / np.sqrt(len(errors)))
