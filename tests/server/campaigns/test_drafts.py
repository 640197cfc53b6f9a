"""Drafts can be changed; a policy is calibrated, or checked if it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.server.drafts import LABELS, TASKS, TODAY, draft, running, terms

from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Calibration, Domain, State, Task, Terms, Unit
from sottovoce.server.campaigns.drafts import change_draft, change_tasks, create_draft, list_tasks
from sottovoce.server.campaigns.guarantees import calibrated_policy, given_policy, guarantees_of
from sottovoce.server.campaigns.lifecycle import (
    close_campaign,
    find_campaign,
    list_campaigns,
    open_campaign,
)
from sottovoce.server.database import Database
from sottovoce.server.service import Service


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as made:
        yield made


def test_a_draft_is_what_was_asked_for(service: Service) -> None:
    asked = terms(quota=9, closes_on=TODAY)
    made = create_draft(service, asked, TASKS)
    assert (made.state, made.terms, made.tasks) == (State.DRAFT, asked, 2)
    assert find_campaign(service, made.id) == made


def test_identifiers_are_ten_letters_and_digits_and_differ(service: Service) -> None:
    ids = {create_draft(service, terms()).id for _ in range(20)}
    assert len(ids) == 20
    assert all(re.fullmatch("[a-z2-7]{10}", id) for id in ids)


def test_a_draft_may_have_no_tasks_yet(service: Service) -> None:
    assert create_draft(service, terms()).tasks == 0


def test_campaigns_are_listed_newest_first(service: Service) -> None:
    first, second = draft(service), draft(service)
    assert [each.id for each in list_campaigns(service)] == [second.id, first.id]


def test_changed_terms_leave_the_tasks(service: Service) -> None:
    made = draft(service)
    changed = change_draft(service, made.id, terms(title="Trees"))
    assert (changed.terms.title, changed.tasks) == ("Trees", 2)


def test_changed_terms_may_bring_tasks(service: Service) -> None:
    made = draft(service)
    change_draft(service, made.id, terms(), [Task("only", "One?")])
    assert list_tasks(service, made.id, 0, 10) == ([Task("only", "One?")], 1)


def test_tasks_are_listed_in_pages(service: Service) -> None:
    made = create_draft(service, terms(), [Task(f"t{i}", "?") for i in range(10)])
    page, total = list_tasks(service, made.id, 8, 5)
    assert ([task.name for task in page], total) == (["t8", "t9"], 10)
    assert list_tasks(service, made.id, 99, 5) == ([], 10)


def test_tasks_twice_or_none_are_refused_and_change_nothing(service: Service) -> None:
    made = draft(service)
    with pytest.raises(UsageError, match="twice"):
        change_tasks(service, made.id, [Task("a", "a"), Task("a", "b")])
    with pytest.raises(UsageError, match="1 to"):
        change_tasks(service, made.id, [])
    assert list_tasks(service, made.id, 0, 10) == (list(TASKS), 2)


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_only_drafts_change(service: Service, closed: bool) -> None:
    made = draft(service)
    open_campaign(service, made.id)
    if closed:
        close_campaign(service, made.id)
    with pytest.raises(Refused) as terms_refused:
        change_draft(service, made.id, terms(title="Other"))
    with pytest.raises(Refused) as tasks_refused:
        change_tasks(service, made.id, [Task("other", "?")])
    assert terms_refused.value.reason is tasks_refused.value.reason is Reason.NOT_A_DRAFT
    assert find_campaign(service, made.id).terms == made.terms
    assert list_tasks(service, made.id, 0, 10) == (list(TASKS), 2)


def test_what_is_not_there_is_not_found(service: Service) -> None:
    for ask in (
        lambda: change_draft(service, "absent", terms()),
        lambda: change_tasks(service, "absent", TASKS),
        lambda: list_tasks(service, "absent", 0, 1),
    ):
        with pytest.raises(Refused) as refused:
            ask()
        assert refused.value.reason is Reason.NOT_FOUND


@pytest.mark.parametrize(
    ("domain", "hide", "unit", "name"),
    [
        (LABELS, False, Unit.ANSWER, "randomized-response"),
        (LABELS, True, Unit.ANSWER, "null-randomized-response"),
        (Domain.ordinal(["low", "mid", "high"]), False, Unit.ANSWER, "randomized-response"),
        (Domain.numeric(0, 10), False, Unit.ANSWER, "piecewise"),
        (Domain.numeric(0, 10, 0.5), True, Unit.ANSWER, "subset-selection"),
        (LABELS, False, Unit.WORKER, "randomized-response"),
        (Domain.ordinal(range(10)), False, Unit.ANSWER, "subset-selection"),
        (Domain.ordinal(range(10)), True, Unit.WORKER, "subset-selection"),
        (Domain.ordinal(range(64)), False, Unit.ANSWER, "randomized-response"),
        (Domain.numeric(0, 10), False, Unit.WORKER, "piecewise"),
    ],
)
def test_every_kind_of_answer_has_a_mechanism(
    domain: Domain, hide: bool, unit: Unit, name: str
) -> None:
    target = Target(1.0, unit, answers=4, hide_participation=hide)
    policy = calibrated_policy(domain, target)
    mechanism = policy.mechanism.get("of", policy.mechanism)
    kept = guarantees_of(policy)
    held = kept.per_answer if unit is Unit.ANSWER else kept.per_worker
    assert mechanism["name"] == name
    assert held.within(1.0)


def test_a_mechanism_and_its_parameters_can_be_chosen() -> None:
    target = Target(2.0, answers=4)
    policy = calibrated_policy(
        LABELS, target, mechanism="subset-selection", parameters={"null": False}
    )
    assert policy.name == "subset-selection"


def test_numbers_beyond_reach_are_refused() -> None:
    for domain, epsilon in (
        (Domain.numeric(0, 1e300, 1e-300), 1.0),
        (Domain.numeric(0, 10), 1e308),
    ):
        with pytest.raises(UsageError, match="too large or too small"):
            calibrated_policy(domain, Target(epsilon))


def test_a_given_policy_is_taken_as_it_is() -> None:
    policy = terms().policy
    assert given_policy(policy.as_json()).hash == policy.hash


def test_a_given_policy_must_keep_its_promise() -> None:
    document = terms().policy.as_json()
    document["promise"]["epsilon"] = "0.5"
    with pytest.raises(UsageError, match="cannot be trusted"):
        given_policy(document)


def test_a_policy_as_published_is_refused() -> None:
    published = make_policy(
        Domain.numeric(0, 1), "laplace", Target(1.0), calibration=Calibration.AS_PUBLISHED
    )
    with pytest.raises(UsageError, match="promises something"):
        Terms("t", "q", given_policy(published.as_json()))


def test_guarantees_per_worker_and_per_answer_are_shown_together() -> None:
    kept = guarantees_of(terms().policy)
    assert kept.per_answer.epsilon == pytest.approx(1.0)
    assert kept.per_worker.epsilon == pytest.approx(5.0)
    assert kept.odds is not None
    assert kept.warning is None


def test_little_privacy_is_said_frankly() -> None:
    policy = calibrated_policy(LABELS, Target(8.0, answers=5))
    assert "hides little" in str(guarantees_of(policy).warning)
