"""The randomiser of the pages and the library, held to one file."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from tests.server.web.node import RANDOMIZER, check_stands_alone, randomizer
from tests.server.web.randomizer_vectors import PATH, Scripted, submission, text

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Policy, Submission, Unit, pseudonym

VECTORS: dict[str, Any] = json.loads(PATH.read_text(encoding="ascii"))
CASES: list[dict[str, Any]] = VECTORS["policies"]
EACH = pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])


@pytest.fixture(scope="module")
def verified() -> dict[str, Any]:
    """The randomiser's verification of every policy, by title."""
    found = randomizer(
        *(
            {
                "verify": case["policy"],
                "counts": [each["answers"] for each in case["guarantees"]],
                "rows": [
                    [row["answer"], *filter(lambda t: t is not None, [row["threshold"]])]
                    for row in case["rows"]
                ],
            }
            for case in CASES
        )
    )
    return {case["title"]: each for case, each in zip(CASES, found, strict=True)}


def test_the_module_stands_alone_and_touches_nothing_else() -> None:
    check_stands_alone(RANDOMIZER)


def test_the_module_is_small() -> None:
    assert len(gzip.compress(RANDOMIZER.read_bytes())) < 12_000


def rounded(vectors: str) -> Any:
    """The vectors with fractions to 14 digits: which logarithm a processor has decides the last."""
    return json.loads(vectors, parse_float=lambda digits: f"{float(digits):.13e}")


def test_the_file_is_what_the_library_makes_today() -> None:
    assert rounded(PATH.read_text(encoding="ascii")) == rounded(text())


@EACH
def test_policies_have_one_hash(case: dict[str, Any], verified: dict[str, Any]) -> None:
    assert verified[case["title"]]["hash"] == case["hash"]
    assert Policy.of_json(case["policy"]).hash == case["hash"]


@EACH
def test_policies_are_read_alike(case: dict[str, Any], verified: dict[str, Any]) -> None:
    found, policy = verified[case["title"]], Policy.of_json(case["policy"])
    mechanism = mechanism_of(policy)
    assert found["document"] == case["policy"]
    assert found["hidesParticipation"] == mechanism.hides_participation
    assert found["alphabet"] == mechanism.alphabet.value.replace(" ", "-").lower()
    assert found["sample"] == getattr(mechanism, "answers", None)
    assert found["showDraw"] == str(policy.show_draw)


@EACH
def test_guarantees_are_the_same(case: dict[str, Any], verified: dict[str, Any]) -> None:
    mechanism = mechanism_of(Policy.of_json(case["policy"]))
    for stated, found in zip(
        case["guarantees"], verified[case["title"]]["guarantees"], strict=True
    ):
        for name, unit in (("perAnswer", Unit.ANSWER), ("perWorker", Unit.WORKER)):
            # Logarithms and quotients of integers are rounded differently in their last digit.
            assert found[name] == pytest.approx(stated[name], rel=1e-12)
            ours = mechanism.guarantee(stated["answers"], unit).epsilon
            assert ours == pytest.approx(stated[name], rel=1e-14)


@EACH
def test_shares_are_the_same(case: dict[str, Any], verified: dict[str, Any]) -> None:
    for stated, rows in zip(case["rows"], verified[case["title"]]["rows"], strict=True):
        found = {_text(row["report"]): row["share"] for row in rows}
        assert found == pytest.approx(
            {_text(report): share for report, share in stated["shares"]}, rel=1e-12
        )


def _text(report: object) -> str:
    return str(float(report)) if isinstance(report, int | float) else str(report)


def test_the_same_words_give_the_same_submissions() -> None:
    jobs = [
        {"randomize": case["policy"], **draw, "submission": None}
        for case in CASES
        for draw in case["draws"]
    ]
    stated = [draw["submission"] for case in CASES for draw in case["draws"]]
    made = randomizer(*jobs)
    for job, wanted, found in zip(jobs, stated, made, strict=True):
        assert found["submission"] == wanted, job
        assert found["unread"] == 0, job


def test_submissions_say_what_was_reported() -> None:
    draw = CASES[1]["draws"][0]
    [found] = randomizer({"randomize": CASES[1]["policy"], **draw})
    sent = Submission.parse(found["submission"].encode())
    assert [(each["task"], each["report"]) for each in found["reports"]] == list(
        zip(sent.tasks, sent.reports, strict=True)
    )


@EACH
def test_the_library_draws_what_the_file_says(case: dict[str, Any]) -> None:
    policy = Policy.of_json(case["policy"])
    for draw in case["draws"]:
        words = Scripted([int(word) for word in draw["words"]])
        made = submission(policy, draw["worker"], dict(draw["answers"]), draw["tasks"], words)
        assert (made.text(), words.left) == (draw["submission"], 0)


def test_thresholds_are_the_same() -> None:
    jobs = [
        {"threshold": each["policy"], "worker": each["worker"], "task": each["task"]}
        for each in VECTORS["thresholds"]
    ]
    assert randomizer(*jobs) == [each["asked"] for each in VECTORS["thresholds"]]


def test_pseudonyms_are_the_same() -> None:
    stated = VECTORS["pseudonyms"]
    jobs = [{"pseudonym": [each["campaign"], each["receipt"]]} for each in stated]
    assert randomizer(*jobs) == [each["name"] for each in stated]
    assert [pseudonym(each["campaign"], each["receipt"]) for each in stated] == [
        each["name"] for each in stated
    ]


def test_bad_policies_are_refused_with_their_reason() -> None:
    bad = VECTORS["refused"]
    found = randomizer(*({"verify": each["policy"]} for each in bad))
    assert {
        each["title"]: reply.get("refused") for each, reply in zip(bad, found, strict=True)
    } == {each["title"]: each["code"] for each in bad}
    for reply in found:
        assert reply["message"].endswith(".")
        assert "\n" not in reply["message"]


@pytest.mark.parametrize("bad", VECTORS["refused"], ids=lambda bad: bad["title"])
def test_the_library_refuses_them_where_the_file_says_so(bad: dict[str, Any]) -> None:
    if bad["everywhere"]:
        with pytest.raises(UsageError):
            mechanism_of(Policy.of_json(bad["policy"]))
    else:
        mechanism_of(Policy.of_json(bad["policy"]))
