"""`sottovoce theorem`."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Run

from sottovoce.cli.app import load_command
from sottovoce_studies.theorems import THEOREMS

BARE = {"name", "list_all", "json"}


@pytest.mark.parametrize("arguments", [(), ("--list",)])
def test_all_names_are_listed(call: Run, arguments: tuple[str, ...]) -> None:
    done = call("theorem", *arguments)
    assert done.returncode == 0
    assert all(f" {name} " in done.stdout for name in THEOREMS)


def test_the_list_in_json_has_the_parameters(call: Run) -> None:
    listed = json.loads(call("theorem", "--json").stdout)["theorems"]
    assert [each["name"] for each in listed] == list(THEOREMS)
    assert listed[0]["parameters"] == dict(THEOREMS["p1-theorem-6.2"].defaults)


def test_every_parameter_of_a_theorem_is_an_option_and_every_option_a_parameter() -> None:
    options = {option.name for option in load_command("theorem").params} - BARE
    assert options == {key for each in THEOREMS.values() for key in each.defaults}


def test_a_theorem_alone_is_evaluated_at_the_papers_example(call: Run) -> None:
    said = call("theorem", "p4-theorem-2").stdout
    assert "14.1298" in said
    assert "The paper prints 14.13 for this example." in said
    assert "--density 0.1 --epsilon 1" in said


@pytest.mark.parametrize("name", THEOREMS)
def test_the_parameters_that_are_shown_can_be_typed(name: str, call: Run) -> None:
    usual = call("theorem", name).stdout
    [shown] = [line for line in usual.splitlines() if line.startswith("Here: ")]
    assert call("theorem", name, *shown.removeprefix("Here: ").split()).stdout == usual


def test_options_change_the_parameters(call: Run) -> None:
    asked = ("p1-theorem-6.3", "--answers-per-worker", "5", "--json")
    found = json.loads(call("theorem", *asked).stdout)
    assert found["parameters"]["answers_per_worker"] == 5
    sound = [figure["sound"] for figure in found["figures"]]
    assert sound == [pytest.approx(1.6805, abs=5e-5), pytest.approx(3.7096, abs=5e-5)]


def test_no_finite_bound_is_null_in_json(call: Run) -> None:
    value, null = json.loads(call("theorem", "p4-theorem-4", "--json").stdout)["figures"]
    assert (value["sound"], value["holds"]) == (0.9, True)
    assert (null["sound"], null["holds"]) == (None, False)


def test_important_workers_are_listed(call: Run) -> None:
    asked = ("p1-importance", "--accuracies", "0.6,0.95,0.1", "--importance-share", "0.4")
    assert "important workers: 2,3\n" in call("theorem", *asked).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["p1-them-6.3"], "no theorem 'p1-them-6.3': did you mean p1-theorem-6.3?"),
        (["p1-eq-6", "--flip", "0.1"], "p1-eq-6 does not depend on --flip; it takes --accuracies"),
        (["p1-eq-6", "--accuracies", "0.9;0.8"], "--accuracies takes numbers such as 0.9,0.8"),
        (["p1-eq-6", "--accuracies", "1.2"], "--accuracies must lie between 0 and 1, not 1.2"),
        (["--flip", "0.1"], "--flip needs the NAME of a theorem"),
        (["p3-theorem-4.8", "--epsilon", "0"], "--epsilon takes a number above 0, not '0'"),
        (["p3-eq-12", "--seed", "-1"], "--seed must be at least 0, not -1"),
    ],
)
def test_bad_usage_is_one_line(call: Run, arguments: list[str], message: str) -> None:
    done = call("theorem", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sottovoce: {message}")
    assert done.stderr.count("\n") == 1
