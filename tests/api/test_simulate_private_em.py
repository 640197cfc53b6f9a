"""The worker-private EM with all of its parties in one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce import Domain, LatentLabel, LocalEngine, Reports, read
from sottovoce.api.simulate_private_em import PrivateRun, is_plain, simulate_private_em
from sottovoce.errors import SealedAborted, UsageError
from sottovoce.securesum.em.simulation import SUITES, Suite
from sottovoce.securesum.em.terms import Mode
from sottovoce.securesum.em.transcript import Transcript

SEALED = [suite for suite in SUITES if suite != "plain"]
WORKERS, TASKS = 5, 6


def table(labels: int = 2, seed: int = 1) -> Reports:
    """Five workers, one of whom is poor, and most of the answers."""
    rng = np.random.default_rng(seed)
    truth, skill = rng.integers(0, labels, TASKS), np.array([0.95, 0.9, 0.8, 0.7, 0.4])
    worker, task = np.nonzero(rng.random((WORKERS, TASKS)) < 0.8)
    wrong = rng.random(len(worker)) >= skill[worker]
    label = (truth[task] + wrong * rng.integers(1, labels, len(worker))) % labels
    return Reports.of(
        worker, task, label, domain=Domain.categorical("abc"[:labels]),
        workers=[f"w{place}" for place in range(WORKERS)], tasks=np.arange(TASKS),
    )  # fmt: skip


def simulated(suite: Suite, **given: Any) -> PrivateRun:
    given = {"mode": "as_published", "rounds": 3, "bits": 1024, **given}
    return simulate_private_em(given.pop("source", None) or table(), suite=suite, **given)


@pytest.fixture(scope="module")
def published() -> dict[str, PrivateRun]:
    """The same answers, sealed in every way."""
    return {suite: simulated(suite) for suite in SUITES}


@pytest.mark.parametrize("suite", SEALED)
def test_every_suite_opens_the_same_integers(published: dict[str, PrivateRun], suite: str) -> None:
    assert published[suite].identical_to_plain
    pairs = zip(published[suite].records, published["plain"].records, strict=True)
    assert all(np.array_equal(one.totals, other.totals) for one, other in pairs)


def test_what_came_of_it_is_the_plain_em(published: dict[str, PrivateRun]) -> None:
    run = published["masked"]
    plain = LatentLabel(max_rounds=3).fit(LocalEngine(table()))
    assert run.result.values.tolist() == plain.values.tolist()
    assert run.result.tasks.tolist() == plain.tasks.tolist()
    assert run.rounds == plain.rounds
    assert list(run.skills) == [f"w{place}" for place in range(WORKERS)]
    for skill, confusion in zip(run.skills.values(), np.asarray(plain.confusions), strict=True):
        assert skill == pytest.approx(confusion, abs=1e-6)


def test_cpu_seconds_are_of_every_party(published: dict[str, PrivateRun]) -> None:
    assert {suite: set(run.cpu_seconds) for suite, run in published.items()} == {
        "plain": {"workers", "server"},
        "committee": {"workers", "server", "keyholder 1", "keyholder 2", "keyholder 3"},
        "masked": {"workers", "server"},
        "damgard_jurik": {"workers", "server", "dealer"},
    }


def test_exact_sums_promise_nothing(published: dict[str, PrivateRun]) -> None:
    assert published["masked"].guarantee is None


def test_three_labels_as_log_odds_come_out_alike_from_masks_and_in_the_open() -> None:
    runs = [simulated(each, source=table(3), mode="log_odds") for each in ("plain", "masked")]
    assert runs[1].identical_to_plain
    assert runs[0].terms == runs[1].terms
    assert np.array_equal(runs[0].result.posterior, runs[1].result.posterior)  # type: ignore[arg-type]


@pytest.mark.parametrize("suite", ["plain", "committee", "masked"])
def test_noised_sums_are_those_of_the_contributors_and_have_a_guarantee(suite: Suite) -> None:
    run = simulate_private_em(table(), suite=suite, mode="noised", epsilon=2.0)
    assert run.identical_to_plain
    assert run.rounds == len(run.records) == 1
    assert run.guarantee is not None
    assert run.guarantee_worker is not None
    assert run.guarantee.epsilon <= 2.0
    assert run.guarantee_worker.answers == int(np.bincount(table().worker).max())


def test_weighted_rounds_come_after_the_first() -> None:
    run = simulate_private_em(
        table(), suite="masked", mode="noised", epsilon=4.0, delta=1e-6, weighted_rounds=2
    )
    assert run.identical_to_plain
    assert run.rounds == 3


def test_noise_is_fresh_in_every_run() -> None:
    runs = [simulate_private_em(table(), suite="plain", mode="noised") for _ in range(2)]
    assert not np.array_equal(runs[0].records[0].totals, runs[1].records[0].totals)


def test_a_transcript_is_what_was_opened() -> None:
    run = simulated("plain")
    again = Transcript.parse(run.transcript.text())
    assert again.terms == run.terms
    assert again.assignments is None
    assert [each.totals.tolist() for each in again.opened] == [
        each.totals.tolist() for each in run.records
    ]


def test_assignments_are_in_the_transcript_if_the_server_knows_them() -> None:
    answers = table()
    run = simulated("plain", assignments=True)
    known = run.transcript.assignments
    assert known is not None
    assert known["w0"] == tuple(map(str, sorted(answers.task[answers.worker == 0])))


def test_who_falls_silent_is_left_out_from_then_on() -> None:
    run = simulated("masked", dropouts={(2, "contribute"): [3]})
    assert [len(record.contributors) for record in run.records] == [5, 5, 4, 4]
    assert run.excluded == {"w2": "it did not answer in phase contribute"}
    assert (run.workers, run.identical_to_plain) == (4, True)


def test_too_few_workers_end_the_session() -> None:
    with pytest.raises(SealedAborted):
        simulated("masked", dropouts={(1, "contribute"): [1, 2]})


def test_repeats_are_kept_where_that_is_asked_for() -> None:
    rows = {"worker": list("aaabbc"), "task": list("112121"), "answer": list("yynyny")}
    run = simulated("plain", source=rows, repeats="keep", domain=Domain.categorical("ny"))
    assert run.terms.repeats == 2
    assert run.records[0].totals.tolist() == [0, 4, 2, 0]


def test_each_mode_has_its_scale() -> None:
    found = {mode: simulated("plain", mode=mode).terms for mode in ("as_published", "log_odds")}
    assert (found["as_published"].scale, found["as_published"].clip) == (10**10, 10**6)
    assert (found["log_odds"].scale, found["log_odds"].clip) == (10**3, 10**3)
    assert found["log_odds"].mode is Mode.LOG_ODDS


def test_other_integers_are_not_plain(published: dict[str, PrivateRun]) -> None:
    records = published["plain"].records
    given = [{number: each.totals for number, each in enumerate(records)}]
    given += [{number: 0 * each.totals for number, each in enumerate(records)}] * (WORKERS - 1)
    assert is_plain(records, given)
    given[1] = {number: each + 1 for number, each in given[1].items()}
    assert not is_plain(records, given)


def columns(workers: str = "aabbcc", answers: str = "ynyyny") -> dict[str, list[str]]:
    return {"worker": list(workers), "task": list("121212"), "answer": list(answers)}


@pytest.mark.parametrize(
    ("source", "given", "words"),
    [
        (read(columns(answers="123456"), domain=Domain.numeric(0, 9)), {}, "answers are numbers"),
        (columns(workers="aabbbb"), {"repeats": "first"}, "3 workers or more, not 2"),
        (columns(answers="yyyyyy"), {}, "two labels or more"),
        (columns(), {"suite": "paillier"}, "masked, damgard_jurik, committee, plain, not 'pail"),
        (columns(), {"mode": "open"}, "as_published, log_odds, noised, not 'open'"),
        (columns(), {"scale": 10**15}, "scale must be from 1 to 10^14"),
        (columns(), {"clip": 10**30, "scale": 10**14, "mode": "log_odds"}, "lower scale"),
        (columns(), {"suite": "plain", "threshold": 3}, "plain has no threshold"),
        (columns(), {"mode": "noised", "scale": 10}, "scale= is for exact sums"),
        (columns(), {"threshold": 1}, "more than half of 3 workers"),
        (columns(), {"suite": "damgard_jurik", "bits": 512}, "1024, 2048, 3072 bits"),
        (columns(), {"dropouts": {(0, "contribute"): [9]}}, "numbers from 1 to 3"),
        (columns(), {"dropouts": {(0, "lunch"): [1]}}, "a phase must be one of share"),
    ],
)
def test_what_cannot_be_is_refused(source: Any, given: dict[str, Any], words: str) -> None:
    given = {"suite": "masked", "mode": "as_published", **given}
    with pytest.raises(UsageError, match=words.replace("^", r"\^")):
        simulate_private_em(source, **given)
