"""Every mechanism: an exact law, a written form, reports in their order, errors with reasons."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms import Laplace, RandomVarianceGaussian, Sampled, Threshold
from sottovoce.mechanisms.registry import MECHANISMS, mechanism_from
from sottovoce.model import NULL, WORDS, Cells, Domain, Kind, Unit
from sottovoce.seams import Mechanism

if TYPE_CHECKING:
    from tests.contracts.conftest import Case, Untouchable

NAMES = [*MECHANISMS, Sampled.name]
WEIGHTS = {"other", "include", "outside", "centre", "ratio", "high", "rate"}
"""Fields that hold a weight over 2⁶⁴, and may not be 0."""


def domain_for(kind: type[Mechanism]) -> Domain:
    if Kind.CATEGORICAL in kind.takes:
        return Domain.categorical(range(3))
    return Domain.numeric(0, 3, step=1)


def test_every_mechanism_is_held_to_these_contracts(mechanisms: list[Mechanism]) -> None:
    assert {mechanism.name for mechanism in mechanisms} == set(NAMES)


def test_the_weights_of_every_answer_add_up_exactly(finite: Case) -> None:
    channel = finite.mechanism.channel()
    assert all(sum(row) == channel.total for row in channel.weights)
    assert all(len(row) == len(channel.reports) for row in channel.weights)
    assert len(set(channel.reports)) == len(channel.reports)


def test_no_report_is_impossible_under_any_answer(finite: Case) -> None:
    assert all(min(row) > 0 for row in finite.mechanism.channel().weights)


def test_the_channel_says_whether_null_is_an_answer(finite: Case) -> None:
    assert finite.mechanism.channel().null == finite.mechanism.hides_participation


def test_the_likelihood_is_that_of_the_channel(finite: Case) -> None:
    mechanism, channel = finite.mechanism, finite.mechanism.channel()
    answers = finite.answers
    if isinstance(mechanism, Threshold):  # whose likelihood is that of a side
        answers = [0, 1, NULL] if mechanism.null else [0, 1]
        rows = list(range(len(channel.weights)))
    else:
        rows = finite.rows_of_channel(answers)
    found = mechanism.log_likelihood(np.array(channel.reports)[None, :], np.array(answers)[:, None])
    assert np.exp(found) == pytest.approx(channel.matrix()[rows], rel=1e-12)


@pytest.mark.parametrize("null", ["absent", "random"])
@pytest.mark.parametrize(("steps", "epsilon"), [(1000, 0.01), (1000, 3.0), (1 << 16, 1.0)])
def test_the_chances_of_a_fine_grid_add_up_to_one(steps: int, epsilon: float, null: str) -> None:
    law = Laplace.calibrated(Domain.numeric(0, steps, step=1), epsilon, null=null)
    reports = np.arange(-law.law.beyond, law.law.last + 1)
    for answer in (0, steps // 3, steps, *([NULL] if null == "random" else [])):
        total = math.fsum(np.exp(law.log_likelihood(reports, answer)).tolist())
        assert total == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("rate", [WORDS, WORDS // 100])
def test_the_chances_of_gaussian_reports_add_up_to_one(rate: int) -> None:
    law = RandomVarianceGaussian(9, rate)
    reports = np.arange(-10_000, 10_000)
    assert np.exp(law.log_likelihood(reports, 4)).sum() == pytest.approx(1, abs=1e-9)
    for variance in (0.01, 3.0, 1e4):
        given = np.exp(law.log_likelihood_given(reports, 4, variance))
        assert given.sum() == pytest.approx(1, abs=1e-9)


def test_the_end_of_gaussian_reports_has_all_that_lies_beyond() -> None:
    law = RandomVarianceGaussian(1 << 16, 1)  # noise of 2⁴⁷ steps: nearly all of it is cut off
    ends = np.array([-(1 << 30), 1 << 30])
    assert np.exp(law.log_likelihood(ends, 0)).sum() == pytest.approx(1, abs=1e-4)


def test_the_written_form_is_read_back_as_the_same(case: Case) -> None:
    written = json.loads(json.dumps(case.mechanism.as_json()))
    assert mechanism_from(written) == case.mechanism
    assert type(case.mechanism).of_json(written) == case.mechanism


def test_the_written_form_has_no_floats_and_no_large_integers(case: Case) -> None:
    def check(value: Any) -> None:
        assert value is None or isinstance(value, str | int | bool | list | dict)
        assert not isinstance(value, int) or abs(value) < 1 << 53
        if isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                check(inner)

    check(case.mechanism.as_json())


def test_a_form_that_lacks_a_field_is_refused(case: Case) -> None:
    form = case.mechanism.as_json()
    for field in form:
        rest = {key: value for key, value in form.items() if key != field}
        if field in ("step", "bins", "others"):  # which only some of a kind have
            continue
        with pytest.raises(UsageError, match=field):
            mechanism_from(rest)


def test_a_form_with_a_field_that_nobody_knows_is_refused(case: Case) -> None:
    with pytest.raises(UsageError, match=r"unknown fields: .*colour"):
        mechanism_from({**case.mechanism.as_json(), "colour": "red"})


@pytest.mark.parametrize("wrong", [None, 1.5, [], {}, "¾", "-1", -1, True, math.nan], ids=str)
def test_a_form_with_a_field_of_another_type_is_refused(case: Case, wrong: Any) -> None:
    form = case.mechanism.as_json()
    for field in form:
        if field in ("salt", "low", "windows") or wrong == form[field] or wrong is form[field]:
            continue  # any text is a salt, -1 is a low end, {} are windows
        if (field, wrong) in (("null", True), ("coin", True), ("step", None)):
            continue
        with pytest.raises(UsageError):
            mechanism_from({**form, field: wrong})


def test_weights_that_are_no_weights_are_refused(case: Case) -> None:
    form = case.mechanism.as_json()
    for field in WEIGHTS & form.keys():
        for wrong in ("0", str(WORDS**2 + 1), "1e3", " 7", "٣"):
            with pytest.raises(UsageError, match=field):
                mechanism_from({**form, field: wrong})


@pytest.mark.parametrize("document", [None, [], "laplace", {}, {"name": 3}, {"name": "noise"}])
def test_what_is_no_form_is_refused(document: Any) -> None:
    with pytest.raises(UsageError, match="mechanism"):
        mechanism_from(document)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", NAMES)
def test_an_epsilon_that_is_none_is_refused(name: str, epsilon: float) -> None:
    kind = MECHANISMS.get(name, Sampled)
    with pytest.raises(UsageError, match="epsilon must be above 0 and finite"):
        kind.calibrated(domain_for(kind), epsilon, delta=0.1)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2.0, math.nan, math.inf])
@pytest.mark.parametrize("name", NAMES)
def test_a_delta_that_is_none_is_refused(name: str, delta: float) -> None:
    kind = MECHANISMS.get(name, Sampled)
    with pytest.raises(UsageError, match="delta must be at least 0 and below 1"):
        kind.calibrated(domain_for(kind), 1.0, delta=delta)


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("name", NAMES)
def test_no_answers_are_refused(name: str, unit: Unit) -> None:
    kind = MECHANISMS.get(name, Sampled)
    with pytest.raises(UsageError, match=r"answers must be .*1.*, not 0"):
        kind.calibrated(domain_for(kind), 1.0, unit=unit, delta=0.1, answers=0)


@pytest.mark.parametrize("name", NAMES)
def test_a_domain_of_one_label_is_refused(name: str) -> None:
    kind = MECHANISMS.get(name, Sampled)
    with pytest.raises(UsageError, match=r"at least two labels|labels must be an integer from 2"):
        kind.calibrated(Domain.ordinal(["only"]), 1.0, delta=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_without_a_range_or_no_numbers_are_refused(name: str) -> None:
    kind = MECHANISMS.get(name, Sampled)
    with pytest.raises(UsageError, match=r"public range|takes labels, not numbers"):
        kind.calibrated(Domain.numeric(), 1.0, delta=0.1)


@pytest.mark.parametrize("unit", Unit)
def test_questions_about_no_answers_are_refused(promising: Case, unit: Unit) -> None:
    with pytest.raises(UsageError, match=r"answers must be .* 1"):
        promising.mechanism.guarantee(0, unit)
    with pytest.raises(UsageError, match=r"answers must be .* 1"):
        promising.mechanism.guarantee(0, unit, 0.1)
    with pytest.raises(UsageError, match=r"answers must be .* 1"):
        promising.mechanism.delta(1.0, 0, unit)


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_questions_about_an_impossible_delta_are_refused(promising: Case, delta: float) -> None:
    for unit in Unit:
        with pytest.raises(UsageError, match="delta must be"):
            promising.mechanism.guarantee(2, unit, delta)


@pytest.mark.parametrize("epsilon", [-0.1, math.nan])
def test_questions_about_an_impossible_epsilon_are_refused(promising: Case, epsilon: float) -> None:
    for unit in Unit:
        with pytest.raises(UsageError, match="epsilon must be"):
            promising.mechanism.delta(epsilon, 2, unit)


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("epsilon", [50.0, 800.0, 1e300, math.inf])
def test_no_epsilon_is_too_large_to_ask_about(promising: Case, epsilon: float, unit: Unit) -> None:
    found = promising.mechanism.delta(epsilon, 1, unit)
    gaussian = isinstance(promising.mechanism, RandomVarianceGaussian)
    assert found == 0 or (gaussian and found < 1e-6)


@pytest.mark.parametrize("unit", Unit)
def test_no_delta_is_too_small_to_ask_about(promising: Case, unit: Unit) -> None:
    pure = promising.mechanism.guarantee(2, unit).epsilon
    found = promising.mechanism.guarantee(2, unit, 1e-300).epsilon
    assert found == pytest.approx(pure, rel=1e-9, abs=1e-9)


def test_answers_outside_the_domain_are_refused_and_not_quoted(
    case: Case, untouchable: Untouchable
) -> None:
    mechanism = _unsampled(case)
    private = mechanism.draw(1, SeededRandomness(1))
    for wrong in (case.values, -77, 7777, 2**31 - 1):
        with pytest.raises(DataError, match="answer 2 is not in the domain") as refusal:
            mechanism.perturb(case.cells([[0, wrong, 0]]), private, untouchable)
        assert refusal.value.row == 2
        assert wrong == case.values or str(abs(wrong)) not in str(refusal.value)


def test_null_is_refused_where_it_is_no_answer(case: Case, untouchable: Untouchable) -> None:
    mechanism = _unsampled(case)
    if mechanism.hides_participation:
        pytest.skip("takes NULL")
    private = mechanism.draw(1, SeededRandomness(1))
    with pytest.raises(DataError, match=r"answer 1 is not in the domain .* and no NULL"):
        mechanism.perturb(case.cells([[NULL, 0]]), private, untouchable)


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.uint64, np.int16])
def test_answers_of_another_type_are_refused(
    case: Case, kind: Any, untouchable: Untouchable
) -> None:
    mechanism, cells = _unsampled(case), case.cells([[0, 1]])
    private = mechanism.draw(1, SeededRandomness(1))
    with pytest.raises(DataError, match="answers must be 4-byte codes"):
        mechanism.perturb(cells.reporting(cells.code.astype(kind)), private, untouchable)


def test_workers_that_drew_nothing_are_refused(case: Case, untouchable: Untouchable) -> None:
    mechanism = _unsampled(case)
    if mechanism.draw(1, SeededRandomness(1)) is None:
        pytest.skip("draws nothing")
    for private in (None, mechanism.draw(2, SeededRandomness(1))):
        with pytest.raises(UsageError, match="draw"):
            mechanism.perturb(case.cells([[0, 1]]), private, untouchable)


def test_a_sample_refuses_what_its_mechanism_refuses(case: Case) -> None:
    if not isinstance(case.mechanism, Sampled):
        pytest.skip("is no sample")
    sampled = Sampled(case.mechanism.mechanism, 3)
    private = sampled.draw(1, SeededRandomness(1))
    with pytest.raises(DataError, match="is not in the domain"):
        sampled.perturb(case.cells([[0, 7, 0]]), private, SeededRandomness(1))


def test_nobody_gets_no_reports(case: Case) -> None:
    mechanism, nothing = case.mechanism, np.zeros(0, np.int32)
    cells = Cells(nothing, nothing, nothing, np.zeros(0, object), np.zeros(0, object))
    reports = mechanism.perturb(cells, mechanism.draw(0, SeededRandomness(1)), SeededRandomness(1))
    assert len(reports) == 0


def test_answers_are_left_alone(case: Case) -> None:
    cells = case.cells([[case.answers[i % len(case.answers)] for i in range(12)]] * 3)
    columns = (cells.worker, cells.task, cells.code)
    before = [column.copy() for column in columns]
    for column in columns:
        column.flags.writeable = False
    private = case.mechanism.draw(3, SeededRandomness(1))
    if private is not None:
        private.values.flags.writeable = False
    case.mechanism.perturb(cells, private, SeededRandomness(2))
    assert all((now == then).all() for now, then in zip(columns, before, strict=True))


def test_reports_stand_where_their_answers_stood(case: Case) -> None:
    cells = case.cells([[0] * 12] * 5)
    private = case.mechanism.draw(5, SeededRandomness(1))
    reports = case.mechanism.perturb(cells, private, SeededRandomness(2))
    sent = list(zip(reports.worker.tolist(), reports.task.tolist(), strict=True))
    given = list(zip(cells.worker.tolist(), cells.task.tolist(), strict=True))
    assert sent == [cell for cell in given if cell in set(sent)]
    kept = case.mechanism.answers if isinstance(case.mechanism, Sampled) else 12
    assert np.bincount(reports.worker).tolist() == [kept] * 5


def test_the_same_seed_gives_the_same_reports(case: Case) -> None:
    def reports() -> Any:
        randomness = SeededRandomness(3)
        private = case.mechanism.draw(4, randomness)
        return case.mechanism.perturb(case.cells([[0] * 12] * 4), private, randomness).code

    assert reports().tobytes() == reports().tobytes()


def test_what_a_worker_reports_depends_on_nobody_else(case: Case) -> None:
    def first(others: int) -> Any:
        randomness = SeededRandomness(4)
        private = case.mechanism.draw(3, randomness)
        rows = [[case.answers[i % len(case.answers)] for i in range(12)], *[[others] * 12] * 2]
        reports = case.mechanism.perturb(case.cells(rows), private, randomness)
        return reports.code[reports.worker == 0]

    assert first(0) == pytest.approx(first(case.values - 1), rel=1e-12)


def _unsampled(case: Case) -> Any:
    """A sample looks at answers only once it is drawn."""
    found = case.mechanism
    return found.mechanism if isinstance(found, Sampled) else found
