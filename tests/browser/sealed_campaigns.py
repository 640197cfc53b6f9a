"""Sealed campaigns on a real server, and keyholders in this process that do what it asks."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import httpx
from playwright.sync_api import Page
from tests.browser.campaigns import FEW
from tests.securesum.sealed_policies import KEYS, FixedKeys

from sottovoce.keyholder.client import KeyholderClient, KeyholderLink
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Credential, Domain, Label, Policy, pseudonym
from sottovoce.randomness import SystemRandomness
from sottovoce.requester.terms import Sealing
from sottovoce.securesum.ballot import Ballot, ballot_codes
from sottovoce.securesum.committee.keyholder import KeyholderKeys, KeyholderSession, Reply
from sottovoce.securesum.committee.messages import WorkKind
from sottovoce.securesum.committee.terms import committee_of
from sottovoce.securesum.committee.worker import contribute
from sottovoce.testing.server_thread import RunningServer

__all__ = ["SEATED", "SealedCampaign", "sealed_campaign", "seated", "send_alike", "timed_sealing"]

SEATED: Sequence[FixedKeys] = KEYS[:3]
"""Keyholders whose private keys are known."""


SEAL = """async (policy) => {
  const { verifySealed, seal } = await import("../static/seal.js");
  const verified = await verifySealed(policy);
  const tasks = Array.from({ length: verified.answers }, (_, i) => `task ${i}`);
  const answers = new Map(tasks.map((task, i) => [task, verified.domain.labels[i % 2]]));
  const begin = performance.now();
  const { submission } = await seal(verified, "leaf0", "someone", answers, tasks);
  return [(performance.now() - begin) / 1000, submission];
}"""


@dataclass(frozen=True, slots=True)
class SealedCampaign:
    """An open one: its id, a link for any number of workers, and its policy."""

    id: str
    link: str
    policy: Policy


@dataclass
class SeatedKeyholder:
    """One keyholder at its server."""

    coordinator: KeyholderClient
    session: KeyholderSession

    def work(self) -> WorkKind:
        """Do what there is to do; says what it was."""
        work = self.coordinator.work(0)
        if work.kind in (WorkKind.DEAL, WorkKind.CHECK, WorkKind.CONFIRM, WorkKind.OPEN):
            self.coordinator.send(self._step(work.kind, work.number).message)
        return work.kind

    def _step(self, kind: WorkKind, number: int) -> Reply:
        if kind is WorkKind.DEAL:
            return self.session.deal(SystemRandomness())
        if kind is WorkKind.OPEN:
            closing = self.coordinator.closing()
            return self.session.open(closing.close, closing.confirms)
        batch = self.coordinator.batch(number)
        if kind is WorkKind.CHECK:
            return self.session.check(batch.propose, batch.items)
        return self.session.confirm(number, batch.checks)


@dataclass
class Committee:
    """All keyholders of a campaign."""

    keyholders: list[SeatedKeyholder]

    def work(self) -> set[WorkKind]:
        """Everything that there is to do now, until nobody has anything; says what is left."""
        while True:
            done = {keyholder.work() for keyholder in self.keyholders}
            if done <= {WorkKind.WAIT, WorkKind.DONE, WorkKind.DEAD}:
                return done


def sealed_campaign(
    server: RunningServer,
    domain: Domain,
    target: Target,
    tasks: int = FEW,
    minimum: int = 10,
    names: Sequence[str] = (),
) -> SealedCampaign:
    """An open sealed campaign with three keyholders, under other names if some are given."""
    rows = [{"task": f"t{i}", "text": f"Picture t{i}"} for i in range(tasks)]
    cards = [keys.keyholder for keys in SEATED]
    if names:
        cards = [replace(card, name=name) for card, name in zip(cards, names, strict=True)]
    sealing = Sealing(cards, minimum=minimum)
    id = server.requester.create("Which bird?", rows, domain=domain, target=target, sealed=sealing)[
        "id"
    ]
    server.requester.open(id, over_budget=True)
    [link] = server.requester.invite(id)
    return SealedCampaign(id, link, Policy.of_json(server.requester.campaign(id)["policy"]))


def send_alike(
    server: RunningServer, campaign: SealedCampaign, answers: Mapping[str, Label], workers: int
) -> None:
    """Let workers send the same answers, sealed by the library, each under its own name."""
    tasks = sorted(answers)
    ballot = Ballot.of(committee_of(campaign.policy))
    codes = ballot_codes([answers[task] for task in tasks], campaign.policy.domain, ballot)
    invite = campaign.link.partition("#")[2]
    with httpx.Client(base_url=f"{server.url}/api/v1/campaigns/{campaign.id}/") as http:
        for _ in range(workers):
            receipt = Credential.RECEIPT + secrets.token_urlsafe(32)
            worker = pseudonym(campaign.id, receipt)
            http.put(
                f"reports/{secrets.token_hex(16)}",
                content=contribute(campaign.id, campaign.policy, worker, tasks, codes),
                headers={"Authorization": f"Bearer {invite}", "Sottovoce-Receipt": receipt},
            ).raise_for_status()


@contextmanager
def seated(
    server: RunningServer, campaign: str, links: Sequence[str] | None = None
) -> Iterator[Committee]:
    """The keyholders of a campaign, with these links, or with new ones of its requester."""
    given = links or [each["link"] for each in server.requester.keyholder_links(campaign)]
    with ExitStack() as stack:
        keyholders = []
        for keys, link in zip(SEATED, given, strict=True):
            coordinator = stack.enter_context(KeyholderClient(KeyholderLink.parse(link)))
            session, _ = coordinator.session()
            own = KeyholderKeys(keys.sealing, keys.signing)
            keyholders.append(SeatedKeyholder(coordinator, KeyholderSession(session, own)))
        yield Committee(keyholders)


def timed_sealing(page: Page, policy: Policy) -> tuple[float, str]:
    """Seconds in which a page of the server seals as many labels as a policy promises for.

    Also what was sealed: the first and the second label by turns.
    """
    seconds, submission = page.evaluate(SEAL, policy.as_json())
    return seconds, submission
