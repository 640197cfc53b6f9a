"""Vectors that the randomiser of the pages and the library must agree on, made by the library.

`python -m tests.server.web.randomizer_vectors` writes tests/vectors/randomizer.json. Words are
whole 64-bit words in the order in which they are drawn: for a sample one key a task, then task by
task in the order of their names.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from tests.server.web.bad_policies import refused_policies
from tests.server.web.browser_policies import POLICIES

from sottovoce.errors import UsageError
from sottovoce.mechanisms import RandomizedResponse
from sottovoce.mechanisms.codes import answer_codes, names_of, written_reports
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.mechanisms.sampling import Sampled, sampled_rows
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.model import (
    NULL,
    WORDS,
    Cells,
    Domain,
    Label,
    Policy,
    Submission,
    Unit,
    Words,
    pseudonym,
)
from sottovoce.seams import Mechanism

__all__ = ["PATH", "Scripted", "inner", "submission", "text", "written"]

PATH = Path(__file__).parents[2] / "vectors" / "randomizer.json"
COUNTS = (1, 2, 7, 40)
MOST_ROWS = 120
WORKER = "wörker \N{OWL}"

# In the order of UTF-16 the owl, a pair of surrogates, would come before the ligature.
NAMES = (
    "a",
    "é",
    "\N{LATIN SMALL LIGATURE FI}",
    "\N{OWL}",
    "task 1",
    "task 10",
    'q"\\',
    "\x7f",
    "日本",
)

Answers: TypeAlias = Mapping[str, Label | None]


class Scripted:
    """Words that are known beforehand."""

    simulated = True

    def __init__(self, words: Sequence[int]) -> None:
        self._left = list(words)

    def words(self, count: int) -> Words:
        taken, self._left = self._left[:count], self._left[count:]
        assert len(taken) == count, "more words are drawn than expected"
        return np.array(taken, np.uint64)

    def one(self) -> int:
        return int(self.words(1)[0])

    @property
    def left(self) -> int:
        return len(self._left)


def inner(mechanism: Mechanism) -> Any:
    """The mechanism itself, where only a sample of the answers is sent to it."""
    return mechanism.mechanism if isinstance(mechanism, Sampled) else mechanism


def submission(
    policy: Policy, worker: str, answers: Answers, tasks: Sequence[str], words: Scripted
) -> Submission:
    """The submission that the library makes from these words, task by task."""
    mechanism = mechanism_of(policy)
    given = sorted(tasks if mechanism.hides_participation else answers)
    codes = answer_codes([answers.get(task) for task in given], policy.domain)
    rows = np.arange(len(given))
    if isinstance(mechanism, Sampled):
        rows = sampled_rows(np.zeros(len(given), np.int32), mechanism.answers, words)
    none = np.zeros(1, np.int32)
    reports = [
        _reported(
            Cells(none, none, codes[row : row + 1], names_of([worker]), names_of([given[row]])),
            inner(mechanism), words,
        )
        for row in rows
    ]  # fmt: skip
    named = tuple(given[row] for row in rows)
    return Submission(policy.hash, worker, named, tuple(written(reports, policy)))


def written(reports: Sequence[int], policy: Policy) -> list[Any]:
    """Codes of reports as they are sent."""
    mechanism = mechanism_of(policy)
    is_set = inner(mechanism).name == "subset-selection"
    codes: Any = np.array(reports, np.uint64 if is_set else np.int32)
    return written_reports(codes, mechanism.alphabet, policy.domain)


def _reported(cell: Cells, mechanism: Any, words: Scripted) -> int:
    """The report on one cell."""
    if isinstance(mechanism, RandomizedResponse | NullRandomizedResponse | Threshold):
        first = [words.one()] if getattr(mechanism, "coin", False) and cell.code[0] == NULL else []
        symbols = len(mechanism.channel().reports)
        words = Scripted([*first, *_piecemeal(words.one(), symbols)])
    return int(mechanism.perturb(cell, None, words).code[0])


def _piecemeal(word: int, symbols: int) -> list[int]:
    """A word as the library draws it for randomised response: its first 8 or 16 bits, the rest."""
    rest = (word << 16) % WORDS
    return [word >> 48, rest] if symbols > 16 else [word >> 56, word >> 48 & 255, rest]


def _answer(domain: Domain, drawn: random.Random) -> Label:
    if not domain.is_numeric:
        return drawn.choice(domain.labels)
    step = domain.step or (domain.high - domain.low) / 1000
    # Off the grid by less than half a step: the nearest point counts.
    return min(
        domain.low + step * (drawn.randint(0, round((domain.high - domain.low) / step)) + 0.25),
        domain.high,
    )


def _edges(mechanism: Mechanism) -> list[int]:
    """Words at which a law changes its mind, or nearly."""
    weights = [int(text) for text in inner(mechanism).as_json().values() if _is_weight(text)]
    sums = [*weights, *(WORDS - weight for weight in weights), WORDS, 1 << 63, 0]
    return sorted({(edge + shift) % WORDS for edge in sums for shift in (-1, 0, 1)})


def _is_weight(text: object) -> bool:
    return isinstance(text, str) and text.isdigit()


def _draws(policy: Policy, drawn: random.Random) -> Iterator[dict[str, Any]]:
    """Whole submissions, and single reports at the edges of the law."""
    mechanism = mechanism_of(policy)
    edges = _edges(mechanism)
    for first in ([], edges):
        tasks = drawn.sample(NAMES, len(NAMES))
        answers = {task: _answer(policy.domain, drawn) for task in tasks[3:]}
        yield _draw(policy, answers, tasks, first[: len(answers)], drawn)
    for edge in edges:
        skipped = mechanism.hides_participation and edge % 2
        answers = {} if skipped else {"a": _answer(policy.domain, drawn)}
        yield _draw(policy, answers, ["a"], [edge], drawn)


def _draw(
    policy: Policy, answers: Answers, tasks: Sequence[str], first: list[int], drawn: random.Random
) -> dict[str, Any]:
    script = [*first, *(drawn.getrandbits(64) for _ in range(60))]
    words = Scripted(script)
    made = submission(policy, WORKER, answers, tasks, words)
    return {
        "worker": WORKER,
        "tasks": list(tasks),
        "answers": [[task, answer] for task, answer in answers.items()],
        "words": [str(word) for word in script[: len(script) - words.left]],
        "submission": made.text(),
    }


def _rows(policy: Policy) -> Iterator[dict[str, Any]]:
    """The shares of all reports given the first and the last answer, and none."""
    mechanism, domain = inner(mechanism_of(policy)), policy.domain
    try:
        channel = mechanism.channel()
    except UsageError:  # it would fill the memory
        return
    if len(channel.reports) > MOST_ROWS:
        return
    ends = (
        [domain.low, domain.high] if domain.is_numeric else [*domain.labels[:1], domain.labels[-1]]
    )
    # The channel of a threshold is about sides of it, and here the last answer is the threshold.
    sides = isinstance(mechanism, Threshold)
    codes = [0, 1] if sides else answer_codes(ends, domain).tolist()
    rows: list[tuple[Label | None, int]] = list(zip(ends, codes, strict=True))
    for answer, row in [*rows, (None, NULL)] if mechanism.hides_participation else rows:
        shares = [weight / channel.total for weight in channel.weights[row]]
        yield {
            "answer": answer,
            "threshold": ends[1] if sides else None,
            "shares": list(zip(written(channel.reports, policy), shares, strict=True)),
        }


def _case(title: str, policy: Policy) -> dict[str, Any]:
    mechanism, drawn = mechanism_of(policy), random.Random(title)  # noqa: S311
    return {
        "title": title,
        "policy": policy.as_json(),
        "hash": policy.hash,
        "guarantees": [
            {
                "answers": count,
                "perAnswer": mechanism.guarantee(count, Unit.ANSWER).epsilon,
                "perWorker": mechanism.guarantee(count, Unit.WORKER).epsilon,
            }
            for count in COUNTS
        ],
        "rows": list(_rows(policy)),
        "draws": list(_draws(policy, drawn)),
    }


def _thresholds() -> Iterator[dict[str, Any]]:
    for title in ("threshold", "threshold with null", "threshold with windows"):
        policy = POLICIES[title]
        mechanism, domain = inner(mechanism_of(policy)), policy.domain
        for task in NAMES:
            none = np.zeros(1, np.int32)
            cell = Cells(none, none, none, names_of([WORKER]), names_of([task]))
            code = int(mechanism.thresholds(cell)[0])
            asked = 10.0 * code if domain.is_numeric else domain.labels[code]
            yield {"policy": policy.as_json(), "worker": WORKER, "task": task, "asked": asked}


def vectors() -> dict[str, Any]:
    """All of it."""
    receipts = ("svr_" + "A" * 43, "svr_" + "_-9" * 14 + "z")
    return {
        "policies": [_case(title, policy) for title, policy in POLICIES.items()],
        "refused": list(refused_policies()),
        "thresholds": list(_thresholds()),
        "pseudonyms": [
            {"campaign": campaign, "receipt": receipt, "name": pseudonym(campaign, receipt)}
            for campaign in ("leaf0", "k7vw2m9q")
            for receipt in receipts
        ],
    }


def text() -> str:
    """The file: one line for each vector."""
    parts = (
        f'"{name}": [\n' + ",\n".join(json.dumps(each) for each in listed) + "\n]"
        for name, listed in vectors().items()
    )
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="ascii")
