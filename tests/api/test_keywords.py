"""Keywords that are spelled out for people, checked, and handed to the method or the reader."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import pytest

import sottovoce
from sottovoce import METHODS, UsageError
from sottovoce.api.keywords import InferKeywords, MethodParameters, ReadingOptions
from sottovoce.inference.aggregator import settings_of
from sottovoce.inference.noise_aware.registry import AWARE_METHODS
from sottovoce.tables import read_reports

ANSWERS = {
    "worker": ["ann", "bob", "cy"] * 2,
    "task": ["q1"] * 3 + ["q2"] * 3,
    "answer": ["yes", "yes", "no", "no", "no", "no"],
}
READING = ["columns", "domain", "repeats", "bad_rows", "format"]
FUNCTIONS = [
    "read", "infer", "infer_into", "compare", "inspect", "agreement", "perturb", "perturb_into",
    "read_under", "pack", "sum_answers", "simulate_sealed", "simulate_private_em",
]  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_signature_shows_every_keyword(name: str) -> None:
    shown = inspect.signature(getattr(sottovoce, name)).parameters
    assert set(READING) <= set(shown)
    assert not any(each.kind is each.VAR_KEYWORD for each in shown.values())
    assert shown["repeats"].default == "first"
    assert ("max_rounds" in shown) == name.startswith("infer")


def test_every_public_function_of_the_api_is_spelled_out() -> None:
    for name in sottovoce.__all__:
        value = getattr(sottovoce, name)
        if inspect.isfunction(value) and value.__module__.startswith("sottovoce.api."):
            kinds = {each.kind for each in inspect.signature(value).parameters.values()}
            assert inspect.Parameter.VAR_KEYWORD not in kinds, name


def test_the_shared_keywords_are_those_of_the_reader_and_of_all_methods() -> None:
    reader = inspect.signature(read_reports).parameters
    assert list(ReadingOptions.__annotations__) == READING
    for name, shown in inspect.signature(sottovoce.read).parameters.items():
        assert shown.default == reader[name].default
    hints, known = get_type_hints(MethodParameters), set[str]()
    for method in (*METHODS.values(), *AWARE_METHODS.values()):
        fields = get_type_hints(method)
        for name in settings_of(method):
            assert hints[name] == fields[name], (method, name)
            known.add(name)
    assert known == set(hints)
    assert set(InferKeywords.__annotations__) == {*READING, *known}


def test_completion_offers_the_keywords() -> None:
    completer = pytest.importorskip("IPython.core.completer")
    found = completer.IPCompleter(use_jedi=True, namespace={"sottovoce": sottovoce})
    with completer.provisionalcompleter():
        offered = {each.text for each in found.completions("sottovoce.infer(", 16)}
    assert {"columns=", "domain=", "repeats=", "max_rounds="} <= offered


def test_parameters_of_a_method_are_plain_keywords() -> None:
    result = sottovoce.infer(ANSWERS, "dawid-skene", max_rounds=4, repeats="last")
    assert result.provenance.parameters["max_rounds"] == 4
    same = sottovoce.infer(ANSWERS, "dawid-skene", parameters={"max_rounds": 4}, bound="answers")
    assert same.provenance.parameters == result.provenance.parameters
    assert sottovoce.infer(ANSWERS, max_rounds=4).rounds <= 4


@pytest.mark.parametrize(
    ("method", "keywords", "words"),
    [
        ("dawid-skene", {"max_round": 4}, "'max_round': did you mean max_rounds?"),
        ("dawid-skene", {"colums": {}}, "'colums': did you mean columns?"),
        (
            "dawid-skene",
            {"colums": {}},
            "dawid-skene takes max_rounds, tolerance, precision, bound",
        ),
        ("mean", {"max_rounds": 4}, "mean takes no parameters; reading a table takes columns"),
        ("auto", {"zzz": 4}, "no keyword 'zzz'; the method takes max_rounds"),
        (sottovoce.MajorityVote(), {"max_rounds": 4}, "an aggregator takes no parameters here"),
        ("dawid-skene", {"max_rounds": 4, "parameters": {"max_rounds": 4}}, "is given twice"),
        ("aware-labels", {"max_rond": 4}, "aware-labels takes max_rounds, tolerance, model"),
        ("auto", {"metod": "td"}, "infer has no keyword 'metod': did you mean method?"),
        ("auto", {"parameters": "max_rounds=3"}, 'takes a mapping, such as {"max_rounds": 3}'),
        (sottovoce.TD, {}, "object with name, takes and fit(engine), not the class TD"),
        (object(), {}, "object with name, takes and fit(engine), not object"),
        ("auto", {"policy": "policy.json"}, "not a Policy: read_policy(path) reads one"),
        ("auto", {"policy": {}}, "not a Policy: read_policy(path) reads one"),
        ("auto", {"domain": ["yes", "no"]}, "ordinal, numeric, not ['yes', 'no']"),
        ("auto", {"domain": "number"}, "takes a Domain, a Kind or one of categorical, ordinal"),
    ],
)
def test_a_wrong_keyword_of_infer_says_which_are_right(
    method: Any, keywords: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        sottovoce.infer(ANSWERS, method, **keywords)
    assert words in str(caught.value)


def test_an_unknown_keyword_of_reading_says_which_there_are() -> None:
    for call in (sottovoce.read, sottovoce.inspect):
        with pytest.raises(UsageError, match="'colums' for reading a table: did you mean columns"):
            call(ANSWERS, colums={"worker": "w"})  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="there are columns, domain, repeats, bad_rows, format"):
        sottovoce.read(ANSWERS, zzz=1)  # type: ignore[call-arg]
