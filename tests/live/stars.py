"""Live sessions without a server: offers, terms, and a coordinator at the other end of a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.live.member_client import LiveLink
from sottovoce.live.offer import LiveOffer
from sottovoce.live.worker import LiveAnswers, OwnKeys
from sottovoce.securesum.em.planner import planner_of
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.envelope import Ed25519PrivateKey, public_text
from sottovoce.securesum.masked.server import MaskedServer
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.terms import StarTerms, Suite

LINK = LiveLink.parse("https://answers.example/l/leaf0#svl_" + "A" * 43)
TASKS, LABELS = ("t0", "t1", "t2"), ("no", "yes")
SERVER_KEY = Ed25519PrivateKey.generate()


def offer_document(**changes: Any) -> dict[str, Any]:
    """A server's offer, as it sends it."""
    return {
        "id": "leaf0", "state": "gathering", "joined": 0, "coordinator": public_text(SERVER_KEY),
        "title": "Leaves", "tasks": list(TASKS), "labels": list(LABELS), "suite": "masked",
        "mode": "log_odds", "workers": 4, "scale": 1000, "rounds": 2, "patience": 60.0,
        "threshold": None, "minimum": None, "epsilon": None, "delta": None,
        "weighted_rounds": None, "bits": None, "s": None, "dealer": None, **changes,
    }  # fmt: skip


def offered(**changes: Any) -> LiveOffer:
    return LiveOffer.parse(LINK, offer_document(**changes))


def purpose(**changes: Any) -> EMTerms:
    return EMTerms(**{"tasks": TASKS, "labels": LABELS, "mode": Mode.LOG_ODDS, "scale": 1000,
                      "rounds": 2, **changes})  # fmt: skip


def agreed(keys: Sequence[OwnKeys], about: EMTerms | None = None, **changes: Any) -> StarTerms:
    """The terms that an honest server makes of the offer."""
    members = tuple(each.member(number) for number, each in enumerate(keys, 1))
    fields = {
        "name": "leaf0", "suite": Suite.MASKED, "purpose": (about or purpose()).as_json(),
        "threshold": 4, "minimum": 4, "coordinator": public_text(SERVER_KEY), "members": members,
    }  # fmt: skip
    return StarTerms(**{**fields, **changes})


def coordinator(terms: StarTerms) -> CoordinatorSession:
    planner = planner_of(EMTerms.of_json(terms.purpose))
    return CoordinatorSession(terms, SERVER_KEY, planner, MaskedServer())


def some_answers(seed: int) -> LiveAnswers:
    labels = np.random.default_rng(seed).integers(0, len(LABELS), len(TASKS))
    return LiveAnswers(np.arange(len(TASKS)), labels)
