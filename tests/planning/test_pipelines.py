"""The papers' pipelines: each can be run on its domain, and keeps the target unless flagged."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Reports
from sottovoce.planning.pipelines import Pipeline, papers, true_guarantee
from sottovoce.planning.trials import run_trial

DOMAINS = {
    "categorical": Domain.categorical("abc"),
    "ordinal": Domain.ordinal(range(5)),
    "numeric": Domain.numeric(0, 10, step=0.5),
}
CASES = [
    pytest.param(kind, hide, pair, id=f"{kind}{' hidden' * hide}: {pair.name}")
    for kind in DOMAINS
    for hide in (False, True)
    for pair in papers(DOMAINS[kind], hide_participation=hide)
]
every_pipeline = pytest.mark.parametrize(("kind", "hide", "pair"), CASES)

WORKERS, TASKS = 12, 15


def answers_to(domain: Domain) -> Reports:
    worker, task = (grid.ravel() for grid in np.indices((WORKERS, TASKS)))
    value = (task * 0.5) if domain.is_numeric else task % domain.size
    return Reports.of(worker, task, value, domain=domain)


@every_pipeline
def test_a_pipeline_runs_on_its_domain(kind: str, hide: bool, pair: Pipeline) -> None:
    answers = answers_to(DOMAINS[kind])
    policy = pair.policy(answers.domain, Target(1.0, answers=TASKS, hide_participation=hide))
    truths = answers.value[:TASKS].astype(np.int64 if kind == "categorical" else np.float64)
    trial = run_trial(answers, truths, policy, pair.method, 1, pair.settings)
    assert math.isfinite(trial.error)
    assert len(trial.errors) == TASKS


@every_pipeline
def test_a_pipeline_keeps_the_target_unless_it_is_as_published(
    kind: str, hide: bool, pair: Pipeline
) -> None:
    target = Target(1.0, answers=TASKS, hide_participation=hide)
    held = true_guarantee(pair.policy(DOMAINS[kind], target), target)
    kept = held.within(1.0, pair.delta or 0.0)
    assert kept or pair.published
    assert held.answers <= TASKS


def test_two_layer_as_published_loses_more_than_it_claims() -> None:
    [flagged] = [pair for pair in papers(DOMAINS["categorical"]) if pair.published]
    target = Target(1.0, answers=TASKS)
    assert true_guarantee(flagged.policy(DOMAINS["categorical"], target), target).epsilon > 1.5


def test_factorization_as_published_keeps_nothing() -> None:
    pairs = papers(DOMAINS["ordinal"], hide_participation=True)
    [factorization] = [pair for pair in pairs if pair.mechanism == "matrix-factorization"]
    target = Target(1.0, answers=TASKS, hide_participation=True)
    held = true_guarantee(factorization.policy(DOMAINS["ordinal"], target), target)
    assert not held.is_finite


@pytest.mark.parametrize("kind", DOMAINS)
@pytest.mark.parametrize("hide", [False, True])
def test_the_names_of_pipelines_differ(kind: str, hide: bool) -> None:
    names = [pair.name for pair in papers(DOMAINS[kind], hide_participation=hide)]
    assert len(set(names)) == len(names) >= 2
