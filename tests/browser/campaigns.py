"""Campaigns of every kind that a worker's page must serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Unit
from sottovoce.requester.terms import AskedTerms
from sottovoce.testing.server_thread import RunningServer

__all__ = ["KINDS", "drafted", "opened"]

TREES = Domain.categorical(["oak", "birch", "lime"])
TEMPERATURE = Domain.numeric(-10, 40, step=0.5)
FEW = 5
"""Tasks of a campaign unless said otherwise, and answers of a worker that it promises for."""

KINDS: Mapping[str, AskedTerms] = {
    "yes-no": {"domain": Domain.categorical(["no", "yes"]), "target": Target(2.0, answers=FEW)},
    "labels": {"domain": TREES, "target": Target(2.0, answers=FEW)},
    "ordinal": {
        "domain": Domain.ordinal(["never", "seldom", "often", "always"]),
        "target": Target(2.0, answers=FEW),
    },
    "hidden": {
        "domain": TREES,
        "target": Target(2.0, answers=FEW, hide_participation=True),
        "mechanism": "null-randomized-response",
    },
    "subset": {
        "domain": Domain.categorical([f"species {i}" for i in range(12)]),
        "target": Target(1.0, answers=FEW),
        "mechanism": "subset-selection",
    },
    "sampled": {"domain": TREES, "target": Target(2.0, Unit.WORKER, answers=FEW, sample=2)},
    "laplace": {
        "domain": TEMPERATURE, "target": Target(2.0, answers=FEW), "mechanism": "laplace",
        "unit": "°C",
    },
    "piecewise": {
        "domain": TEMPERATURE, "target": Target(2.0, answers=FEW), "mechanism": "piecewise",
        "unit": "°C",
    },
    "duchi": {
        "domain": TEMPERATURE, "target": Target(1.0, answers=FEW), "mechanism": "duchi",
        "unit": "°C",
    },
    "threshold": {
        "domain": TEMPERATURE, "target": Target(1.0, answers=FEW), "mechanism": "threshold",
        "unit": "°C",
    },
}  # fmt: skip
"""The terms of each kind: domains, mechanisms, and what workers are promised."""


def drafted(
    server: RunningServer,
    kind: str = "yes-no",
    tasks: int | Sequence[str] = FEW,
    question: str = "What do you see?",
    **others: Unpack[AskedTerms],
) -> str:
    """Make a draft of this kind, with a number of tasks or with these tasks; returns its id."""
    names = [f"t{i}" for i in range(tasks)] if isinstance(tasks, int) else tasks
    rows = [{"task": name, "text": f"Picture {name}"} for name in names]
    terms: AskedTerms = {**KINDS[kind], **others}
    return str(server.requester.create(question, rows, **terms)["id"])


def opened(
    server: RunningServer,
    kind: str = "yes-no",
    tasks: int | Sequence[str] = FEW,
    question: str = "What do you see?",
    **others: Unpack[AskedTerms],
) -> tuple[str, str]:
    """The same, open; returns its id and a link with which any number of workers may answer."""
    campaign = drafted(server, kind, tasks, question, **others)
    server.requester.open(campaign, over_budget=True)
    [link] = server.requester.invite(campaign)
    return campaign, link
