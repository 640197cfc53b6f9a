"""Campaigns with crowds that report: real mechanisms, real submissions, the service's own desk."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence

import numpy as np

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.mechanisms.codes import names_of, written_reports
from sottovoce.model import Cells, Grid, Policy, Submission, Task, Terms, assigned, pseudonym
from sottovoce.model.campaign import Assignment
from sottovoce.server.campaigns.drafts import create_draft
from sottovoce.server.campaigns.invites import InviteKind, invite
from sottovoce.server.campaigns.lifecycle import open_campaign
from sottovoce.server.campaigns.submissions import ReportAdmission
from sottovoce.server.service import Service


def opened(
    service: Service,
    policy: Policy,
    tasks: Sequence[str],
    assignment: Assignment = Assignment.HASH,
) -> tuple[str, str]:
    """An open campaign and an invite to it."""
    terms = Terms("Leaves", "Which one?", policy, assignment=assignment)
    id = create_draft(service, terms, [Task(name, f"What is {name}?") for name in tasks]).id
    open_campaign(service, id)
    (link,) = invite(service, id, InviteKind.OPEN, public_url="http://x")
    return id, link.partition("#")[2]


def report(
    service: Service, id: str, invite: str, *, workers: int, seed: int, right: float = 0.8
) -> list[tuple[str, str]]:
    """Let workers report on their tasks; returns their receipts and reports' identifiers.

    The truth of the i-th task is the i-th answer of the domain, round and round; a worker is right
    about it with chance `right`, else answers anything. Noise is seeded: nobody is protected here.
    """
    admission = service.reception.admission(id)
    assert isinstance(admission, ReportAdmission)
    rng, randomness = np.random.default_rng(seed), SeededRandomness(seed)
    sent, submissions = [], []
    for _ in range(workers):
        receipt = "svr_" + secrets.token_urlsafe(32)
        submissions.append(_submission(admission, receipt, rng, randomness, right))
        sent.append((receipt, secrets.token_hex(16)))
    send(service, id, invite, sent, submissions)
    return sent


def send(
    service: Service,
    id: str,
    invite: str,
    sent: Sequence[tuple[str, str]],
    submissions: Sequence[Submission],
) -> None:
    """Have submissions received, each with its receipt and identifier."""
    admission, reception = service.reception.admission(id), service.reception

    async def all_of_them() -> None:
        await asyncio.gather(*(
            reception.receive(admission, report_id, invite, receipt, submission.text().encode())
            for (receipt, report_id), submission in zip(sent, submissions, strict=True)
        ))  # fmt: skip

    asyncio.run(all_of_them())


def _submission(
    admission: ReportAdmission,
    receipt: str,
    rng: np.random.Generator,
    randomness: SeededRandomness,
    right: float,
) -> Submission:
    campaign, names, mechanism = admission.campaign, admission.names, admission.mechanism
    policy, worker = campaign.terms.policy, pseudonym(campaign.id, receipt)
    places = np.array(assigned(campaign.id, worker, len(names), campaign.block))
    places = places[np.argsort([names[place] for place in places])]
    answers = Grid.over(policy.domain).steps + 1 if policy.domain.is_numeric else policy.domain.size
    truth = places % answers
    codes = np.where(rng.random(len(places)) < right, truth, rng.integers(0, answers, len(places)))
    tasks = [names[place] for place in places]
    cells = Cells(
        np.zeros(len(places), np.int32), np.arange(len(places), dtype=np.int32),
        codes.astype(np.int32), names_of([worker]), names_of(tasks),
    )  # fmt: skip
    reports = mechanism.perturb(cells, mechanism.draw(1, randomness), randomness)
    order = np.argsort(reports.task)
    written = written_reports(reports.code[order], mechanism.alphabet, policy.domain)
    sent = [tasks[task] for task in reports.task[order]]
    return Submission(policy.hash, worker, tuple(sent), tuple(written))
