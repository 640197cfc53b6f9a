"""A raw answer with a mark in it is looked for wherever it must not be."""

from __future__ import annotations

import io
import logging
import re
import traceback
from pathlib import Path
from typing import Any

import pytest

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Calibration, Domain, Policy
from sottovoce.worker import Answer, Budget, Ledger, SystemRandomness, respond

CANARY = "canary-7f3a"
NUMBER = 7351.25
LABELS = Domain.categorical(["a", "b", CANARY])
COIN = make_policy(LABELS, "randomized-response", Target(1.0, answers=2))
PUBLISHED = make_policy(LABELS, "two-layer", Target(1.0), calibration=Calibration.AS_PUBLISHED)
OTHERS = make_policy(Domain.categorical(["a", "b"]), "randomized-response", Target(1.0))
HIDING = make_policy(LABELS, "null-randomized-response", Target(1.0))
GRID = make_policy(Domain.numeric(0, 10, 0.5), "laplace", Target(1.0))
WORD, COUNT = Answer("t1", CANARY), Answer("t1", NUMBER)

REFUSED: dict[str, tuple[list[Answer], Policy, dict[str, Any]]] = {
    "an unknown label": ([WORD], OTHERS, {}),
    "a number for a label": ([COUNT], OTHERS, {}),
    "a text for a number": ([WORD], GRID, {}),
    "out of range": ([COUNT], GRID, {}),
    "out of range among others": ([Answer("t0", 3), COUNT, Answer("t2", 5.5)], GRID, {}),
    "answered twice": ([WORD, WORD], COIN, {}),
    "with a skipped task": ([WORD, Answer("t2", None)], COIN, {}),
    "all tasks missing": ([WORD], HIDING, {}),
    "not among the tasks": ([WORD], HIDING, {"tasks": ["t2"]}),
    "as published": ([WORD], PUBLISHED, {}),
    "too many": ([WORD, Answer("t2", CANARY), Answer("t3", CANARY)], COIN, {}),
    "beyond the budget": ([WORD, Answer("t2", CANARY)], COIN, {}),
    "no requester": ([WORD], COIN, {"requester": ""}),
    "seeded": ([WORD], COIN, {"randomness": SeededRandomness(3)}),
    "no policy": ([WORD], None, {}),  # type: ignore[dict-item]
    "no ledger": ([WORD], COIN, {"ledger": None}),
    "not answers": ([WORD, CANARY], COIN, {}),  # type: ignore[list-item]
}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl", Budget(worker_epsilon=1.5))


def send(given: list[Answer], policy: Policy, ledger: Ledger, /, **more: Any) -> object:
    chosen = {
        "ledger": ledger,
        "randomness": SystemRandomness(),
        "requester": "museum",
        "worker": "ada",
        **more,
    }
    return respond(given, policy, **chosen)


def assert_unmarked(text: str) -> None:
    assert CANARY not in text
    assert not re.search(r"\b7351\b", text)  # digits among those of a hash are a hash's


@pytest.mark.parametrize("case", REFUSED)
def test_no_refusal_quotes_an_answer(case: str, ledger: Ledger) -> None:
    given, policy, more = REFUSED[case]
    stream = io.StringIO()
    logger = logging.Logger("device")
    logger.addHandler(logging.StreamHandler(stream))
    with pytest.raises(SottovoceError) as caught:
        send(given, policy, ledger, **more)
    logger.error("could not respond to %s", given[:1], exc_info=caught.value)
    assert_unmarked(stream.getvalue())
    assert_unmarked("".join(traceback.format_exception(caught.value)))
    assert_unmarked(f"{caught.value!r} {vars(caught.value)}")
    assert len(ledger) == 0


def test_a_second_report_is_refused_without_quoting_the_first(ledger: Ledger) -> None:
    send([WORD], COIN, ledger)
    with pytest.raises(SottovoceError) as caught:
        send([WORD], COIN, ledger)
    assert_unmarked("".join(traceback.format_exception(caught.value)))


def test_a_damaged_ledger_is_refused_without_quoting_an_answer(
    ledger: Ledger, tmp_path: Path
) -> None:
    (tmp_path / "ledger.jsonl").write_text("damaged\n")
    with pytest.raises(SottovoceError) as caught:
        send([WORD], COIN, ledger)
    assert_unmarked("".join(traceback.format_exception(caught.value)))


def test_no_answer_is_in_the_ledgers_files(ledger: Ledger, tmp_path: Path) -> None:
    send([WORD], COIN, ledger)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "ledger.jsonl",
        "ledger.jsonl.head",
    ]
    for file in tmp_path.iterdir():
        assert_unmarked(file.read_text())
    assert_unmarked(repr((ledger, ledger.entries())))


def test_nothing_is_logged_or_printed(
    ledger: Ledger, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        send([WORD], COIN, ledger)
    assert (caplog.text, *capsys.readouterr()) == ("", "", "")
