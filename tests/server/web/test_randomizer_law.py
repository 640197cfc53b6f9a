"""Real draws of the randomiser of the pages: they follow the channel, and keep the guarantee."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.server.web.node import randomizer
from tests.server.web.randomizer_vectors import written

from sottovoce.mechanisms.codes import answer_codes, names_of
from sottovoce.mechanisms.policies import Target, make_policy, mechanism_of
from sottovoce.mechanisms.registry import mechanism_from
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.model import NULL, Cells, Domain, Label, Policy, Unit
from sottovoce.privacy.audit import audit_samples

DRAWS = 50_000 if os.environ.get("SOTTOVOCE_EXAMPLES") == "thorough" else 20_000
"""Of each of two answers: 10⁵ under each policy in slow runs."""
WORKER = "worker"
TASKS = [f"t{i:05}" for i in range(DRAWS)]
SIX_SIGMA = 6.0
"""A share misses by more about twice in 10⁹ times."""

COINS = Domain.categorical(["a", "b", "c"])
RANGE = Domain.numeric(0, 4, step=1)


def _policy(domain: Domain, name: str, *, hides: bool = False, **parameters: Any) -> Policy:
    target = Target(1.0, answers=DRAWS, hide_participation=hides)
    return make_policy(domain, name, target, **parameters)


POLICIES: Mapping[str, tuple[Policy, Label | None, Label | None]] = {
    "randomized-response": (_policy(COINS, "randomized-response"), "a", "c"),
    "null-randomized-response": (
        _policy(COINS, "null-randomized-response", hides=True), "b", None,
    ),
    "subset-selection": (_policy(Domain.ordinal(range(6)), "subset-selection"), 0, 5),
    "laplace": (_policy(RANGE, "laplace", hides=True, null="random"), 4, None),
    "piecewise": (_policy(RANGE, "piecewise"), 0, 4),
    # With one step there is one threshold, so that all of a worker's tasks have the same law.
    "threshold": (_policy(Domain.numeric(0, 1, step=1), "threshold", hides=True), 0, None),
}  # fmt: skip
"""Each with two answers to tell apart."""

EACH = pytest.mark.parametrize("name", POLICIES)


@pytest.fixture(scope="module")
def reports() -> dict[str, list[npt.NDArray[Any]]]:
    """Reports on each of the two answers of each policy, as the library codes them."""
    jobs = [
        {
            "randomize": policy.as_json(),
            "worker": WORKER,
            "tasks": TASKS,
            "answers": [[task, answer] for task in TASKS],
            "brief": True,
        }
        for policy, *answers in POLICIES.values()
        for answer in answers
    ]
    drawn = iter(randomizer(*jobs))
    return {
        name: [_codes(next(drawn), policy), _codes(next(drawn), policy)]
        for name, (policy, *_) in POLICIES.items()
    }


def _codes(reports: list[Label], policy: Policy) -> npt.NDArray[Any]:
    """Places in the channel's list of reports; what is not in it is an error."""
    mechanism: Any = mechanism_of(policy)
    listed = written(mechanism.channel().reports, policy)
    places = {_text(report): place for place, report in enumerate(listed)}
    return np.array([places[_text(report)] for report in reports])


def _text(report: Label) -> str:
    return str(float(report)) if isinstance(report, int | float) else report


@pytest.mark.statistical
@EACH
def test_draws_follow_the_channel_of_the_library(
    name: str, reports: dict[str, list[npt.NDArray[Any]]]
) -> None:
    policy, *answers = POLICIES[name]
    mechanism: Any = mechanism_of(policy)
    channel = mechanism.channel()
    for answer, seen in zip(answers, reports[name], strict=True):
        row = -1 if answer is None else int(answer_codes([answer], policy.domain)[0])
        expected = np.array([weight / channel.total for weight in channel.weights[row]])
        found = np.bincount(seen, minlength=len(expected)) / DRAWS
        # What occurs a few times has a longer tail than the normal law: three draws more are fine.
        deviation = np.sqrt(expected * (1 - expected) / DRAWS) + 3 / DRAWS
        assert (np.abs(found - expected) < SIX_SIGMA * deviation).all()


@pytest.mark.statistical
@EACH
def test_the_audit_of_real_draws_stays_below_the_guarantee(
    name: str, reports: dict[str, list[npt.NDArray[Any]]]
) -> None:
    stated = mechanism_of(POLICIES[name][0]).guarantee(1, Unit.ANSWER).epsilon
    found = audit_samples(*reports[name], confidence=1 - 1e-10)
    assert not found.exceeds(stated), str(found)
    # And it is no idle check: it finds a good part of what there is to find.
    assert found.exceeds(0.3 * stated), str(found)


@pytest.mark.statistical
def test_a_threshold_is_crossed_as_often_as_the_answer_says() -> None:
    policy = _policy(Domain.numeric(0, 100, step=10), "threshold")
    mechanism = mechanism_of(policy)
    assert isinstance(mechanism, Threshold)
    tasks = TASKS[:5_000]
    job = {
        "randomize": policy.as_json(), "worker": WORKER, "tasks": tasks,
        "answers": [[task, 60] for task in tasks], "brief": True,
    }  # fmt: skip
    [reports] = randomizer(job)
    rows = np.arange(len(tasks), dtype=np.int32)
    cells = Cells(
        np.zeros_like(rows), rows, np.full_like(rows, 6), names_of([WORKER]), names_of(tasks)
    )
    true = np.where(mechanism.thresholds(cells) <= 6, "not below", "below")
    kept = float(np.mean(np.array(reports) == true))
    expected = mechanism.channel().weights[0][0] / 2**64
    assert kept == pytest.approx(
        expected, abs=SIX_SIGMA * (expected * (1 - expected) / len(tasks)) ** 0.5
    )


@pytest.mark.statistical
def test_every_sample_of_the_answers_is_as_likely() -> None:
    target = Target(4.0, unit=Unit.WORKER, answers=4, sample=2)
    policy = make_policy(COINS, "randomized-response", target)
    tasks = ["t1", "t2", "t3", "t4"]
    job = {
        "randomize": policy.as_json(), "worker": WORKER, "tasks": tasks,
        "answers": [[task, "a"] for task in tasks],
    }  # fmt: skip
    times = 3000
    replies = randomizer(*[job] * times)
    pairs = [tuple(each["task"] for each in reply["reports"]) for reply in replies]
    counts = np.unique(pairs, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    deviation = (1 / 6 * 5 / 6 / times) ** 0.5
    assert np.abs(counts / times - 1 / 6).max() < SIX_SIGMA * deviation


# What a page may do wrong --------------------------------------------------------------------

ORDINARY = _policy(COINS, "randomized-response").as_json()
JOB: dict[str, Any] = {"randomize": ORDINARY, "worker": "w", "tasks": ["t1", "t2"], "answers": []}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"answers": [["t1", "x"]]}, "domain"),
        ({"answers": [["t1", "a"], ["t9", "a"]]}, "domain"),
        ({"answers": []}, "domain"),
        ({"answers": [["t1", None]]}, "domain"),
        ({"answers": [["t1", "a"]], "tasks": ["t1", "t1"]}, "domain"),
        ({"answers": [["t1", "a"]], "worker": ""}, "domain"),
        ({"answers": [["t1", "a"]], "tasks": ["t1", ""]}, "domain"),
        ({"answers": [["t1", "a"]], "secure": False}, "insecure"),
    ],
    ids=str,
)
def test_what_cannot_be_reported_is_refused_before_anything_is_drawn(
    change: dict[str, Any], code: str
) -> None:
    # There are no words to draw: a draw would end the script with an error.
    [reply] = randomizer({**JOB, **change, "words": []})
    assert reply["refused"] == code
    assert '"x"' not in reply["message"]
    assert " x " not in reply["message"]


@pytest.mark.parametrize("answer", [-0.1, 100.1, "50", "secret", True])
def test_an_answer_outside_the_range_is_refused_and_not_quoted(answer: Any) -> None:
    policy = _policy(Domain.numeric(0, 100, step=10), "laplace").as_json()
    [reply] = randomizer({**JOB, "randomize": policy, "answers": [["t1", answer]], "words": []})
    assert reply["refused"] == "domain"
    assert str(answer) not in reply["message"]


def test_more_answers_than_promised_are_refused() -> None:
    policy = make_policy(COINS, "randomized-response", Target(1.0, answers=1)).as_json()
    answers = [["t1", "a"], ["t2", "b"]]
    [reply] = randomizer({**JOB, "randomize": policy, "answers": answers, "words": []})
    assert reply["refused"] == "promise"


def test_a_skipped_task_is_left_out_where_skipping_is_not_hidden() -> None:
    [reply] = randomizer({**JOB, "answers": [["t1", "a"], ["t2", None]]})
    assert [each["task"] for each in reply["reports"]] == ["t1"]


def test_every_task_is_reported_on_where_skipping_is_hidden() -> None:
    hiding = POLICIES["null-randomized-response"][0].as_json()
    [reply] = randomizer({**JOB, "randomize": hiding, "answers": []})
    assert [each["task"] for each in reply["reports"]] == ["t1", "t2"]


def test_an_insecure_page_verifies_nothing() -> None:
    [reply] = randomizer({"verify": ORDINARY, "secure": False})
    assert reply["refused"] == "insecure"


# A policy that is tampered with --------------------------------------------------------------


def test_no_changed_policy_passes_for_what_it_was() -> None:
    """It is refused, or it has another hash and its guarantee is recomputed, as in the library."""
    changed = [
        (policy, document)
        for policy, *_ in POLICIES.values()
        for document in _mutants(policy.as_json())
    ]
    replies = randomizer(*({"verify": document, "counts": [1, 9]} for _, document in changed))
    accepted = 0
    for (policy, document), reply in zip(changed, replies, strict=True):
        if "refused" in reply:
            continue
        accepted += 1
        read = Policy.of_json(document)
        assert reply["hash"] == read.hash
        assert (reply["hash"] == policy.hash) == (read == policy), document
        mechanism = mechanism_from(read.mechanism)
        held = mechanism.guarantee(1, Unit.ANSWER).epsilon
        # The randomiser forgives the rounding of a logarithm, which the library knows exactly.
        assert read.promise is not None
        assert held <= read.promise.epsilon * (1 + 2e-12)
        for count, found in zip((1, 9), reply["guarantees"], strict=True):
            for name, unit in (("perAnswer", Unit.ANSWER), ("perWorker", Unit.WORKER)):
                held = mechanism.guarantee(count, unit).epsilon
                assert found[name] == pytest.approx(held, rel=1e-12, abs=1e-15)
    assert 20 < accepted < len(changed) / 2


def _mutants(document: Any) -> list[Any]:
    """The document with one thing in it changed, in every way."""
    return [
        mutant
        for mutant in _changed(document)
        if json.dumps(mutant, sort_keys=True) != json.dumps(document, sort_keys=True)
    ]


def _changed(value: Any) -> list[Any]:
    inside: list[Any]
    if isinstance(value, dict):
        inside = [
            {**value, name: other} for name, each in value.items() for other in _changed(each)
        ]
        without = [{name: each for name, each in value.items() if name != left} for left in value]
        return [*inside, *without, {**value, "more": 1}, None, []]
    if isinstance(value, list):
        places = range(len(value))
        inside = [
            [*value[:i], other, *value[i + 1 :]] for i in places for other in _changed(value[i])
        ]
        return [*inside, value[:-1], [*value, *value[-1:]], value[::-1], [*value, "zzz"], {}]
    if isinstance(value, bool):
        return [not value, None, "true", 1]
    if isinstance(value, int):
        return [value + 1, value - 1, -value, 2 * value, str(value), None, True, value + 0.5]
    if isinstance(value, str):
        number = int(value) if value.isdigit() else 0
        near = [str(number + shift) for shift in (1, -1, 1 << 50, -(1 << 50))] if number else []
        return [*near, value + "0", value + " ", value[:-1], "", value + "x", "7", 7, None]
    return [0, "", {}]


def test_a_code_for_null_is_no_answer_of_a_page() -> None:
    hiding = POLICIES["null-randomized-response"][0].as_json()
    [reply] = randomizer({**JOB, "randomize": hiding, "answers": [["t1", NULL]], "words": []})
    assert reply["refused"] == "domain"
