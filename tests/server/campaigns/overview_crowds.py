"""Results of simulated campaigns as the service stores them, without a server."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.model import Policy, Reports
from sottovoce.planning.scenario import Scenario
from sottovoce.server.database.results import Columns


def simulated(scenario: Scenario, policy: Policy, seed: int) -> Reports:
    """The reports of a whole campaign."""
    answers, _ = scenario.draw(seed)
    return perturb(answers, policy, SeededRandomness(seed))


def columns_of(reports: Reports, policy: Policy) -> Columns:
    """The inferred truths of reports, and their certainty."""
    found = infer(reports, policy=policy)
    certainty = found.confidence if found.standard_error is None else found.standard_error
    assert certainty is not None
    none = Columns.none()
    return Columns(
        np.arange(len(found.tasks), dtype=np.int32), found.truths, certainty, found.answers,
        np.zeros(0, np.uint8), found.weights,
        np.bincount(reports.worker, minlength=len(reports.workers)),
        none.before_place, none.before_truth,
    )  # fmt: skip


def first_workers(reports: Reports, workers: int) -> Reports:
    """The reports of the first `workers` workers."""
    rows = reports.worker < workers
    return replace(
        reports,
        worker=reports.worker[rows],
        task=reports.task[rows],
        value=reports.value[rows],
        workers=reports.workers[:workers],
    )
