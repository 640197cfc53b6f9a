"""Reports that arrive become codes, or are refused without being quoted."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.mechanisms import Laplace, NullRandomizedResponse, RandomizedResponse
from sottovoce.mechanisms.codes import admitted_codes, code_type, longest_report
from sottovoce.mechanisms.policies import Target, make_policy, mechanism_of
from sottovoce.model import Alphabet, Domain, Policy

LABELS, SCALE = Domain.categorical(["no", "yes"]), Domain.ordinal([1, 2, 3])
NUMBERS = Domain.numeric(-1, 1, step=0.1)
MANY = Domain.categorical([f"label {i}" for i in range(64)])

POLICIES = [
    make_policy(LABELS, "randomized-response", Target(1.0)),
    make_policy(LABELS, "null-randomized-response", Target(1.0)),
    make_policy(SCALE, "randomized-response", Target(1.0)),
    make_policy(MANY, "subset-selection", Target(1.0)),
    make_policy(NUMBERS, "laplace", Target(1.0)),
    make_policy(NUMBERS, "piecewise", Target(1.0)),
    make_policy(NUMBERS, "duchi", Target(1.0)),
    make_policy(NUMBERS, "threshold", Target(1.0)),
    make_policy(NUMBERS, "random-variance-gaussian", Target(1.0, delta=1e-3)),
    make_policy(NUMBERS, "matrix-factorization", Target(1.0)),
]


def admitted(policy: Policy, *reports: Any) -> list[Any]:
    codes: list[Any] = admitted_codes(reports, mechanism_of(policy), policy.domain).tolist()
    return codes


def test_labels_become_their_places() -> None:
    assert admitted(POLICIES[0], "yes", "no") == [1, 0]
    assert admitted(POLICIES[2], 3, 1) == [2, 0]


def test_null_is_a_label_where_the_mechanism_has_it() -> None:
    assert admitted(POLICIES[1], "NULL", "no") == [2, 0]
    with pytest.raises(UsageError, match="report 1 is not one"):
        admitted(POLICIES[0], "NULL")


@pytest.mark.parametrize("report", ["3", 3.0, True, 0, 4])
def test_a_label_is_its_type_too(report: Any) -> None:
    with pytest.raises(UsageError, match="report 2 is not one"):
        admitted(POLICIES[2], 3, report)


def test_points_lie_on_the_grid() -> None:
    assert admitted(POLICIES[4], -1, -0.9, 1.0, 0.30000000000000004) == [0, 1, 20, 13]
    with pytest.raises(UsageError, match="report 2 is not one"):
        admitted(POLICIES[4], 0, 0.05)


def test_points_lie_within_reach_of_the_noise() -> None:
    mechanism = Laplace.calibrated(NUMBERS, 1.0)
    edge = round(1 + mechanism.beyond * 0.1, 10)
    assert admitted_codes([edge, -edge], mechanism, NUMBERS).tolist() == [
        20 + mechanism.beyond, -mechanism.beyond,
    ]  # fmt: skip
    with pytest.raises(UsageError, match="report 1 is not one"):
        admitted_codes([edge + 0.1], mechanism, NUMBERS)


def test_a_subset_has_each_member_once_and_as_many_as_drawn() -> None:
    size = mechanism_of(POLICIES[3]).size  # type: ignore[attr-defined]
    members = [str(i) for i in range(size)]
    assert admitted(POLICIES[3], " ".join(members)) == [(1 << size) - 1]
    wrong = [members[:-1], [*members, members[-1]], [*members, "63"], [*members[:-1], "64"]]
    for some in wrong:
        with pytest.raises(UsageError, match="report 1 is not one"):
            admitted(POLICIES[3], " ".join(some))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.mechanism["name"])
@given(report=st.text() | st.integers() | st.floats() | st.none() | st.booleans())
def test_anything_is_admitted_or_refused_without_a_word_of_it(policy: Policy, report: Any) -> None:
    said, codes = None, []
    try:
        codes = admitted(policy, report)
    except UsageError as error:
        said = str(error)
    assert said in (
        None,
        "report 1 is not one that this policy's mechanism can send",
        "a report is too large a number",
    )
    packed = np.array(codes).astype(code_type(mechanism_of(policy).alphabet))
    assert packed.tolist() == codes


@pytest.mark.parametrize("number", [1e308, -1e308, 1e22, 10**400, -(10**30), float("inf")])
@pytest.mark.parametrize("policy", POLICIES[4:], ids=lambda policy: policy.mechanism["name"])
def test_a_number_out_of_reach_is_refused(policy: Policy, number: float) -> None:
    with pytest.raises(UsageError):
        admitted(policy, number)


def test_how_codes_are_packed() -> None:
    kinds = {alphabet: code_type(alphabet).str for alphabet in Alphabet}
    assert kinds.pop(Alphabet.SUBSETS) == "<u8"
    assert kinds.pop(Alphabet.NUMBERS) == "<f8"
    assert set(kinds.values()) == {"<i4"}


def test_the_longest_report_is_as_long_as_json_makes_it() -> None:
    domain = Domain.categorical(["no", "🌳" * 40])
    mechanism = RandomizedResponse.calibrated(domain, 1.0)
    assert longest_report(mechanism, domain) == len(json.dumps("🌳" * 40)) == 482
    hiding = NullRandomizedResponse.calibrated(LABELS, 1.0)
    assert longest_report(hiding, LABELS) == len('"NULL"')
