"""Contributions that the pages and the library must both make, byte for byte.

`python -m tests.securesum.sealing_vectors` writes tests/vectors/sealing.json. `entropy` is all
randomness, in the order in which it is drawn: the signing seed; the coefficients of the bits, of
the zero-sharings and of the masks, 8 bytes each, of which 61 bits count and p itself is drawn
again; then the ephemeral key of each sealed share.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.securesum.bad_sealed_policies import refused_policies
from tests.securesum.rfc9180 import seal_base
from tests.securesum.sealed_policies import KEYS, POLICIES

from sottovoce.model import Domain, Label, Policy, Unit
from sottovoce.securesum.ballot import ballot_codes
from sottovoce.securesum.committee import worker
from sottovoce.securesum.committee.terms import Session, committee_of
from sottovoce.securesum.envelope import b64

__all__ = ["PATH", "Entropy", "contribution", "text"]

PATH = Path(__file__).parents[1] / "vectors" / "sealing.json"
CAMPAIGN, WORKER = "leaf0", "wörker \N{OWL}"
SEED_BYTES = 32
COUNTS = (1, 7, 20)

# In the order of UTF-16 the owl, a pair of surrogates, would come before the ligature.
NAMES = (
    "a", "é", "\N{LATIN SMALL LIGATURE FI}", "\N{OWL}", "task 1", "task 10", 'q"\\', "日本", "</b>",
)  # fmt: skip


class Entropy:
    """Known bytes; some elements among them must be drawn again."""

    def __init__(self, given: bytes | random.Random) -> None:
        self._given, self.drawn = given, b""

    def __call__(self, count: int) -> bytes:
        start = len(self.drawn)
        if isinstance(self._given, bytes):
            content = self._given[start : start + count]
            assert len(content) == count, "more is drawn than expected"
        else:
            content = self._given.randbytes(count)
            if start and self._given.random() < 0.5:
                content = b"\xff" * 8 + content[8:]
        self.drawn += content
        return content


def contribution(
    policy: Policy, answers: Sequence[tuple[str, Label | None]], tasks: Sequence[str],
    entropy: Entropy,
) -> bytes:  # fmt: skip
    """The library's contribution from this entropy; ephemeral keys are drawn from it too."""
    session = Session(CAMPAIGN, policy, tuple(tasks))
    by_task = dict(answers)
    given = sorted(tasks if session.sealed.hidden else by_task)
    codes = ballot_codes([by_task.get(task) for task in given], policy.domain, session.ballot)

    def seal(public_key: bytes, plaintext: bytes, info: bytes) -> bytes:
        return seal_base(entropy(SEED_BYTES), public_key, info, plaintext)

    with patch.object(worker, "entropy", entropy), patch.object(worker, "seal", seal):
        return worker.contribute(CAMPAIGN, policy, WORKER, given, codes)


def _answers(domain: Domain, drawn: random.Random) -> Iterator[Label]:
    """Every label, or ends and middles of steps, then any."""
    if not domain.is_numeric:
        yield from drawn.sample(domain.labels, len(domain.labels))
        while True:
            yield drawn.choice(domain.labels)
    low, high = domain.low, domain.high
    yield from (low, high, (low + high) / 2, low + (high - low) / 8, low + 3 * (high - low) / 8)
    while True:
        yield round(drawn.uniform(low, high), 3)


def _draws(title: str, policy: Policy) -> Iterator[dict[str, Any]]:
    """One answer, some answers in any order, and none where that is hidden."""
    drawn = random.Random(title)  # noqa: S311
    hidden = committee_of(policy).hidden
    for count, given in (
        (len(NAMES), len(NAMES) - 2),
        (1, 1),
        *(((1, 0), (2, 1)) if hidden else ()),
    ):
        tasks = drawn.sample(NAMES, count)
        answers = list(zip(tasks[:given], _answers(policy.domain, drawn), strict=False))
        entropy = Entropy(drawn)
        made = contribution(policy, answers, tasks, entropy)
        yield {
            "campaign": CAMPAIGN,
            "worker": WORKER,
            "tasks": tasks,
            "answers": [[task, dict(answers).get(task)] for task in tasks],
            "entropy": entropy.drawn.hex(),
            "contribution": made.decode("ascii"),
        }


def _case(title: str, policy: Policy) -> dict[str, Any]:
    sealed = committee_of(policy)
    return {
        "title": title,
        "policy": policy.as_json(),
        "hash": policy.hash,
        "fingerprints": [keyholder.fingerprint for keyholder in sealed.keyholders],
        "guarantees": [
            {
                "answers": count,
                "perAnswer": sealed.guarantee(count, Unit.ANSWER).epsilon,
                "perWorker": sealed.guarantee(count, Unit.WORKER).epsilon,
            }
            for count in COUNTS
        ],
        "draws": list(_draws(title, policy)),
    }


def vectors() -> dict[str, Any]:
    """The whole document. Private keys are included so that readers can open the sealed shares."""
    return {
        "keyholders": [
            {
                "name": keys.name,
                "sealing": b64(keys.sealing.private_bytes_raw()),
                "signing": b64(keys.signing.private_bytes_raw()),
            }
            for keys in KEYS
        ],
        "policies": [_case(title, policy) for title, policy in POLICIES.items()],
        "refused": list(refused_policies()),
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
