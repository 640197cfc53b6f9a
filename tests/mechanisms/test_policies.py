"""Policies that keep what they promise, and those that are refused."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, make_policy, mechanism_of, release_of
from sottovoce.mechanisms.registry import MECHANISMS, RELEASES
from sottovoce.model import WORDS, Calibration, Domain, Kind, Policy, ShowDraw, Unit

LABELS = Domain.categorical("abc")
ORDER = Domain.ordinal(range(1, 6))
NUMBERS = Domain.numeric(0, 10, 0.5)
DELTA = {"random-variance-gaussian": 1e-5}
PAIRS = [
    (name, domain)
    for name, kind in MECHANISMS.items()
    for domain in (LABELS, ORDER, NUMBERS)
    if domain.kind in kind.takes
]


def target_of(name: str, unit: Unit, **others: Any) -> Target:
    return Target(2.0, unit, DELTA.get(name, 0.0), 3, **others)


@cache
def policy_of(name: str, domain: Domain, unit: Unit) -> Policy:
    """Calibrated once: some take a second."""
    return make_policy(domain, name, target_of(name, unit))


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize(("name", "domain"), PAIRS, ids=str)
def test_every_mechanism_makes_a_policy_that_keeps_its_promise_after_the_round_trip(
    name: str, domain: Domain, unit: Unit
) -> None:
    policy = policy_of(name, domain, unit)
    again = Policy.parse(policy.text())
    assert again == policy
    held = mechanism_of(again).guarantee(3, unit, DELTA.get(name, 0.0))
    assert held.within(2.0, DELTA.get(name, 0.0))


@pytest.mark.parametrize(("name", "domain"), PAIRS, ids=str)
def test_every_policy_as_published_promises_nothing_and_comes_back(
    name: str, domain: Domain
) -> None:
    target = target_of(name, Unit.ANSWER)
    sound = {"randomized-response", "null-randomized-response"}
    published = hasattr(MECHANISMS[name], "as_published")
    if name not in sound and not published:
        with pytest.raises(UsageError, match="no published calibration"):
            make_policy(domain, name, target, calibration=Calibration.AS_PUBLISHED)
        return
    policy = make_policy(domain, name, target, calibration=Calibration.AS_PUBLISHED)
    again = Policy.parse(policy.text())
    assert mechanism_of(again).as_json() == policy.mechanism
    assert (again.promise is None) is (name not in sound)


def test_a_sample_is_drawn_per_worker_only() -> None:
    sampled = make_policy(LABELS, "randomized-response", Target(2.0, Unit.WORKER, 0.0, 50))
    whole = make_policy(LABELS, "randomized-response", Target(2.0, Unit.WORKER, 0.0, 50, sample=50))
    assert (sampled.name, whole.name) == ("sampled", "randomized-response")
    with pytest.raises(UsageError, match="drop sample="):
        make_policy(LABELS, "randomized-response", Target(2.0, Unit.ANSWER, 0.0, 50, sample=2))


def test_a_mechanism_that_needs_all_answers_is_not_sampled() -> None:
    target = Target(2.0, Unit.WORKER, 0.0, 50)
    assert make_policy(NUMBERS, "matrix-factorization", target).name == "matrix-factorization"
    with pytest.raises(UsageError, match="needs all answers"):
        make_policy(NUMBERS, "matrix-factorization", Target(2.0, Unit.WORKER, 0.0, 50, sample=2))


@pytest.mark.parametrize(("name", "domain"), PAIRS, ids=str)
def test_hiding_participation_is_kept_or_refused(name: str, domain: Domain) -> None:
    try:
        policy = make_policy(domain, name, target_of(name, Unit.ANSWER, hide_participation=True))
    except UsageError as refusal:
        said = str(refusal)
    else:
        assert mechanism_of(policy).hides_participation
        return
    assert "cannot hide participation" in said


def test_a_parameter_cannot_undo_hiding() -> None:
    with pytest.raises(UsageError, match="do not hide participation"):
        make_policy(NUMBERS, "laplace", Target(1.0, hide_participation=True), null="absent")


@pytest.mark.parametrize(
    ("name", "domain", "parameters", "message"),
    [
        ("laplace", NUMBERS, {"size": 1}, "no parameter 'size'; its parameters are: null"),
        ("piecewise", NUMBERS, {"size": 1}, "its parameters are: none"),
        ("laplace", NUMBERS, {"unit": "worker"}, "no parameter 'unit'"),
        ("laplace", NUMBERS, {"null": "maybe"}, "null must be absent"),
        ("subset-selection", NUMBERS, {"bins": "x"}, "bins must be an integer, not 'x'"),
        ("subset-selection", NUMBERS, {"bins": 1}, "bins must be an integer from 2"),
        ("subset-selection", LABELS, {"null": "true"}, "null must be true or false"),
        ("matrix-factorization", NUMBERS, {"dimension": 0}, "dimension must be an integer from 1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_by_their_field(
    name: str, domain: Domain, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        make_policy(domain, name, Target(1.0), **parameters)


@pytest.mark.parametrize(
    ("name", "domain", "message"),
    [
        ("randomised-response", LABELS, "no mechanism 'randomised-response': did you mean rand"),
        ("sampled", LABELS, "no mechanism 'sampled'"),
        ("laplace", LABELS, "takes numeric or ordinal answers, not categorical ones"),
        ("two-layer", NUMBERS, "takes categorical or ordinal answers, not numeric ones"),
        ("randomized-response", Domain.categorical("a"), "labels must be an integer from 2"),
        ("null-randomized-response", Domain.categorical(["NULL", "b"]), "another name"),
        ("laplace", Domain.numeric(0), "public range"),
    ],
)
def test_a_mechanism_and_a_domain_that_do_not_fit_are_refused(
    name: str, domain: Domain, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        make_policy(domain, name, Target(1.0))


def test_errors_about_a_guessed_domain_quote_none_of_its_labels() -> None:
    with pytest.raises(UsageError) as refusal:
        make_policy(Domain.categorical(["CANARY", "b"]), "laplace", Target(1.0))
    assert "CANARY" not in str(refusal.value)


def weights_in(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The field that holds a mechanism's integers."""
    if isinstance(document, dict):
        return [at for key, value in document.items() for at in weights_in(value, (*path, key))]
    if isinstance(document, list):
        return [at for i, value in enumerate(document) for at in weights_in(value, (*path, i))]
    is_number = isinstance(document, int) and not isinstance(document, bool)
    return [path] if is_number or (isinstance(document, str) and document.isdigit()) else []


@given(st.sampled_from(PAIRS), st.sampled_from(Unit), st.data())
def test_tampered_integers_never_break_the_promise(
    pair: tuple[str, Domain], unit: Unit, data: st.DataObject
) -> None:
    policy = policy_of(*pair, unit)
    document = json.loads(policy.text())
    path = data.draw(st.sampled_from(weights_in(document["mechanism"])))
    place = document["mechanism"]
    for step in path[:-1]:
        place = place[step]
    old = int(place[path[-1]])
    far = st.integers(1, max(2, 2 * old))
    new = data.draw(st.integers(max(0, old - 3), old + 3) | far | st.just(WORDS - 1))
    place[path[-1]] = str(new) if isinstance(place[path[-1]], str) else new
    try:
        mechanism = mechanism_of(Policy.of_json(document))
    except UsageError:
        return
    promise = policy.promise
    assert promise is not None
    held = mechanism.guarantee(promise.answers, promise.unit, promise.delta)
    assert held.within(promise.epsilon, promise.delta)


def test_less_noise_than_promised_is_refused() -> None:
    document = make_policy(LABELS, "randomized-response", Target(1.0)).as_json()
    document["mechanism"]["other"] = str(int(document["mechanism"]["other"]) - 10**13)
    with pytest.raises(UsageError, match="it cannot be trusted"):
        mechanism_of(Policy.of_json(document))


@pytest.mark.parametrize(("name", "domain"), PAIRS, ids=str)
def test_a_mechanism_made_for_another_domain_is_refused(name: str, domain: Domain) -> None:
    document = json.loads(policy_of(name, domain, Unit.ANSWER).text())
    if domain.is_numeric:
        document["domain"]["step"] = "0.1"
    else:
        document["domain"]["labels"].append(6)
    with pytest.raises(UsageError, match="is made for"):
        mechanism_of(Policy.of_json(document))


def test_a_label_named_null_is_refused_where_null_is_a_report() -> None:
    document = make_policy(LABELS, "null-randomized-response", Target(1.0)).as_json()
    document["domain"]["labels"][0] = "NULL"
    with pytest.raises(UsageError, match="another name"):
        mechanism_of(Policy.of_json(document))


def test_a_sample_of_samples_is_refused_however_deep() -> None:
    document = make_policy(LABELS, "randomized-response", Target(1.0)).as_json()
    for _ in range(400):
        document["mechanism"] = {"name": "sampled", "answers": 1, "of": document["mechanism"]}
    with pytest.raises(UsageError, match="sample once"):
        mechanism_of(Policy.parse(json.dumps(document)))


@pytest.mark.parametrize("change", [{"labels": True}, {"labels": None}, {"other": 3}, {"new": 1}])
def test_a_mechanism_with_wrong_fields_is_refused(change: dict[str, Any]) -> None:
    document = make_policy(LABELS, "randomized-response", Target(1.0)).as_json()
    document["mechanism"] |= change
    with pytest.raises(UsageError):
        mechanism_of(Policy.of_json(document))


def test_a_sound_policy_must_promise_something() -> None:
    document = make_policy(LABELS, "randomized-response", Target(1.0)).as_json()
    document["promise"] = None
    with pytest.raises(UsageError, match="must promise something"):
        mechanism_of(Policy.of_json(document))


@pytest.mark.parametrize("policy", [None, "policy.json", {"format": "sottovoce-policy/1"}])
def test_what_is_no_policy_is_refused(policy: Any) -> None:
    with pytest.raises(UsageError, match="not a Policy"):
        mechanism_of(policy)


@pytest.mark.parametrize(("domain", "target"), [("categorical", Target(1.0)), (LABELS, 1.0)])
def test_a_policy_is_made_of_a_domain_and_a_target(domain: Any, target: Any) -> None:
    with pytest.raises(UsageError, match="made of a Domain, a mechanism's name and a Target"):
        make_policy(domain, "randomized-response", target)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": "1.0"}, "epsilon must be a number, not '1.0'"),
        ({"epsilon": None}, "epsilon must be a number, not None"),
        ({"epsilon": True}, "epsilon must be a number, not True"),
        ({"epsilon": 1.0, "delta": "0"}, "delta must be a number, not '0'"),
        ({"epsilon": 1.0, "answers": 2.5}, "answers must be an integer, not 2.5"),
        ({"epsilon": 1.0, "unit": "wrker"}, "the unit must be 'answer' or 'worker', not 'wrker'"),
    ],
)
def test_a_target_of_the_wrong_type_is_refused_at_birth(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Target(**wrong)


@pytest.mark.parametrize("calibration", list(Calibration))
def test_when_draws_are_shown_changes_the_policy_and_not_its_mechanism(
    calibration: Calibration,
) -> None:
    before, later = (
        make_policy(LABELS, "two-layer", Target(1.0, show_draw=way), calibration=calibration)
        for way in ShowDraw
    )
    assert later.show_draw is ShowDraw.AFTER_SEND
    assert later.hash != before.hash
    assert mechanism_of(later) == mechanism_of(before)


@pytest.mark.parametrize("way", ["after_send", "never", None])
def test_a_target_names_when_draws_are_shown(way: Any) -> None:
    with pytest.raises(UsageError, match=r"show_draw must be ShowDraw\.BEFORE_SEND or"):
        Target(1.0, show_draw=way)


@pytest.mark.parametrize("name", sorted(RELEASES))
def test_a_unit_may_be_given_by_its_name(name: str) -> None:
    kind = RELEASES[name]
    domain = Domain.categorical("abc") if Kind.CATEGORICAL in kind.takes else Domain.numeric(0, 8)
    delta = DELTA.get(name, 0.0)
    made = make_policy(domain, name, Target(2.0, "worker", delta, answers=4))
    assert made == make_policy(domain, name, Target(2.0, Unit.WORKER, delta, answers=4))
    release = release_of(made)
    for unit in Unit:
        assert release.guarantee(4, unit.value, delta) == release.guarantee(4, unit, delta)
        assert release.delta(1.0, 4, unit.value) == release.delta(1.0, 4, unit)
    for wrong in ("wrker", "", None):
        with pytest.raises(UsageError, match="the unit must be 'answer' or 'worker'"):
            release.guarantee(4, wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="the unit must be 'answer' or 'worker'"):
            release.delta(1.0, 4, wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="the unit must be 'answer' or 'worker'"):
            kind.calibrated(domain, 1.0, unit=wrong, delta=delta)  # type: ignore[arg-type]
