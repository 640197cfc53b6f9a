"""Reports as methods take them that know nothing of the noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import DataError
from sottovoce.mechanisms.codes import report_table
from sottovoce.mechanisms.policies import Target, make_policy, mechanism_of
from sottovoce.model import Cells, Domain, Policy, Reading, Reports, Unit

NUMBERS = Domain.numeric(-1, 1, 0.05)
ORDER = Domain.ordinal([1, 2, 3, 4, 5])
LABELS = Domain.categorical("abcd")
MANY = 40_000


def reports_of(policy: Policy, code: int, count: int = MANY, workers: int = MANY) -> Reports:
    """Reports of many workers with one answer."""
    mechanism, seed = mechanism_of(policy), SeededRandomness(11)
    rows = np.arange(count, dtype=np.int32)
    cells = Cells(
        rows % workers,
        rows // workers,
        np.full(count, code, np.int32),
        np.array([f"w{i}" for i in range(workers)], object),
        np.array([f"t{i}" for i in range(-(-count // workers))], object),
    )
    reports = mechanism.perturb(cells, mechanism.draw(workers, seed), seed)
    return report_table(reports, mechanism.alphabet, policy.domain, simulated=True)


@pytest.mark.statistical
@pytest.mark.parametrize("domain", [NUMBERS, ORDER], ids=str)
@pytest.mark.parametrize("name", ["laplace", "piecewise", "duchi", "threshold"])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_the_mean_of_many_reports_is_the_answer(name: str, domain: Domain, share: float) -> None:
    policy = make_policy(domain, name, Target(2.0))
    steps = 40 if domain.is_numeric else 4
    code = round(share * steps)
    numbers = mechanism_of(policy).plain(reports_of(policy, code), domain).value
    answer = -1 + 0.05 * code if domain.is_numeric else 1 + code
    # Piecewise and Duchi round their windows to the grid: half a step besides six sigma.
    half = (0.05 if domain.is_numeric else 1) / 2 if name == "piecewise" else 0.0
    error = 6 * float(numbers.std()) / math.sqrt(MANY)
    assert float(numbers.mean()) == pytest.approx(answer, abs=error + half)


def test_labels_stay_as_they_are() -> None:
    policy = make_policy(LABELS, "randomized-response", Target(2.0))
    reports = reports_of(policy, 1, 100)
    assert mechanism_of(policy).plain(reports, LABELS) is reports


@pytest.mark.statistical
@pytest.mark.parametrize("null", [False, True])
def test_votes_of_subsets_favour_the_answer(null: bool) -> None:
    policy = make_policy(LABELS, "subset-selection", Target(1.0, hide_participation=null))
    votes = mechanism_of(policy).plain(reports_of(policy, 2), LABELS)
    counts = np.bincount(votes.value, minlength=4)
    assert votes.domain == LABELS
    assert counts[2] - np.delete(counts, 2).max() > 6 * math.sqrt(2 * MANY)


@pytest.mark.statistical
def test_votes_of_bins_are_their_middles() -> None:
    policy = make_policy(NUMBERS, "subset-selection", Target(1.0), bins=4)
    votes = mechanism_of(policy).plain(reports_of(policy, 40), NUMBERS)
    values, counts = np.unique(votes.value, return_counts=True)
    assert len(values) == 4
    assert values[counts.argmax()] == values.max()


def test_null_reports_are_left_out_and_counted() -> None:
    policy = make_policy(LABELS, "null-randomized-response", Target(1.0))
    reports = reports_of(policy, -1, 1000)
    read = Reports(
        reports.worker, reports.task, reports.value, reports.workers, reports.tasks,
        reports.domain, Reading("here", 1000), simulated=True,
    )  # fmt: skip
    left = mechanism_of(policy).plain(read, LABELS)
    nothing = int(np.count_nonzero(reports.value == 4))
    assert (len(left), left.domain, left.simulated) == (1000 - nothing, LABELS, True)
    assert left.reading is not None
    assert left.reading.dropped == {"the report is NULL": nothing}


def test_only_null_reports_tell_nothing() -> None:
    policy = make_policy(LABELS, "null-randomized-response", Target(1.0))
    domain = Domain.categorical(["a", "b", "c", "d", "NULL"])
    reports = Reports.of([0, 1], [0, 0], [4, 4], domain=domain)
    with pytest.raises(DataError, match="every report is NULL"):
        mechanism_of(policy).plain(reports, LABELS)


def test_a_sample_is_read_like_what_was_sampled() -> None:
    policy = make_policy(NUMBERS, "duchi", Target(2.0, Unit.WORKER, 0.0, 10))
    numbers = mechanism_of(policy).plain(reports_of(policy, 30, 100, 10), NUMBERS)
    assert numbers.domain == Domain.numeric()
    assert len(np.unique(numbers.value)) == 2


@pytest.mark.parametrize("text", ["0 1", "5", "0 1 2 3"])
def test_a_set_that_the_policy_cannot_make_is_refused(text: str) -> None:
    policy = make_policy(LABELS, "subset-selection", Target(2.0))
    mechanism: Any = mechanism_of(policy)
    assert mechanism.size == 1
    reports = Reports.of([0], [0], [0], domain=Domain.categorical([text]))
    with pytest.raises(DataError, match="not a set of 1 of the 4 symbols"):
        mechanism.plain(reports, LABELS)


@pytest.mark.parametrize("name", ["laplace", "threshold", "subset-selection"])
def test_reports_that_hide_participation_can_be_taken_plainly(name: str) -> None:
    policy = make_policy(NUMBERS, name, Target(2.0, hide_participation=True))
    numbers = mechanism_of(policy).plain(reports_of(policy, 10, 200), NUMBERS)
    assert np.isfinite(numbers.value).all()
