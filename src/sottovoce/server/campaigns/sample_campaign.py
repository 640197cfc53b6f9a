"""The sample campaign: open at once, and answered by simulated workers within seconds.

It lets a requester try the service: tasks about leaves, and simulated answers. Its reports pass the
same checks, writer and inference as real ones, but carry the simulated stamp, which cannot be
removed. No person answered, so nothing has to be hidden from the server that computes it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
from sqlalchemy import Connection

from sottovoce.datasets.crowds import CategoricalCrowd
from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.codes import names_of, written_reports
from sottovoce.mechanisms.policies import Target, mechanism_of
from sottovoce.model import (
    Campaign,
    Cells,
    Codes,
    Credential,
    Domain,
    State,
    Submission,
    Task,
    Terms,
    assigned,
    digest,
    pseudonym,
)
from sottovoce.server.campaigns.drafts import new_id
from sottovoce.server.campaigns.guarantees import calibrated_policy
from sottovoce.server.credentials import new_secret
from sottovoce.server.database.campaigns import (
    add_campaign,
    change_campaign,
    note_event,
    set_tasks,
    the_campaign,
)
from sottovoce.server.database.hashed_credentials import add_invites
from sottovoce.server.service import Service

LEAVES = {
    "oak": (
        "rounded lobes and a short stalk",
        "an edge like soft waves, narrow at the base",
        "four blunt lobes on each side",
        "leathery, with deep round bays",
    ),
    "birch": (
        "small and triangular, with a double row of teeth",
        "a long thin tip and fine teeth",
        "a diamond no longer than a thumb",
        "pale green, toothed, on a thin stalk",
    ),
    "maple": (
        "five pointed lobes, like an open hand",
        "deep points and a long red stalk",
        "a star with five large teeth",
        "lobes with sharp ends, wider than long",
    ),
    "lime": (
        "a lopsided heart with a fine saw edge",
        "heart-shaped, with tufts where the veins meet",
        "round, with a sudden little tip",
        "soft and broad, one half larger than the other",
    ),
}
PLACES = (
    "by the gate", "under the bridge", "on the bench", "near the pond", "in the long grass",
    "on the steps", "near the well", "in the ditch", "by the fountain", "on the playground",
    "behind the kiosk", "at the crossing", "in the rose bed", "along the wall", "on the lawn",
)  # fmt: skip

DOMAIN = Domain.categorical(LEAVES)

WORKERS, TASKS, ANSWERS = 80, 60, 20

EPSILON = 2.0
"""Per answer: about 71 of 100 answers are sent unchanged."""

SEED = 20

KIND = "simulated"
"""The kind of the invite: not one of the counted kinds, because nobody was invited."""

LENGTH = 6.0
"""Seconds from the first report to the last."""

log = logging.getLogger("sottovoce.campaign")


class SampleCrowd:
    """Tasks with a known right answer, and workers of mixed ability who answer them.

    One worker in seven guesses, some tasks are hard for all. Answers and noise come from the seed.

    >>> crowd = SampleCrowd(workers=3, tasks=60, seed=1)
    >>> print(crowd.tasks[0].name, "|", crowd.tasks[0].text)
    leaf-01 | A leaf found by the gate: rounded lobes and a short stalk.
    """

    def __init__(self, *, workers: int, tasks: int, seed: int) -> None:
        crowd = CategoricalCrowd(
            workers=workers,
            tasks=tasks,
            labels=DOMAIN.size,
            redundancy=workers,
            ability="spammers",
            share=1 / 7,
            accuracy=0.75,
            difficulty=0.4,
            seed=seed,
        )
        self._answers: Codes = np.empty((workers, tasks), np.int32)
        self.truths: Codes = np.empty(tasks, np.int32)
        for block in crowd.blocks():
            self._answers[block.worker, block.task] = block.value
            self.truths[block.first : block.first + len(block.truth)] = block.truth
        self.tasks = _tasks(self.truths)
        self._randomness = SeededRandomness(seed)

    def __len__(self) -> int:
        return len(self._answers)

    def submission(self, campaign: Campaign, number: int, worker: str) -> Submission:
        """The submission of the worker with this number and pseudonym, stamped as simulated.

        Noise depends on the seed and on the workers who reported before.
        """
        policy = campaign.terms.policy
        mechanism, randomness = mechanism_of(policy), self._randomness
        places = assigned(campaign.id, worker, campaign.tasks, campaign.block)
        tasks, count = [self.tasks[place].name for place in places], len(places)
        names = names_of([worker]), names_of(tasks)
        answers, order = self._answers[number, places], np.arange(count, dtype=np.int32)
        cells = Cells(np.zeros(count, np.int32), order, answers, *names)
        drawn = mechanism.perturb(cells, mechanism.draw(1, randomness), randomness)
        written = written_reports(drawn.code, mechanism.alphabet, policy.domain)
        return Submission(
            policy.hash, worker, tuple(tasks), tuple(written), simulated=randomness.simulated
        )


def _tasks(truths: Codes) -> Sequence[Task]:
    """Descriptions of leaves; names sorted, as in a submission."""
    kinds, digits = tuple(LEAVES.values()), len(str(len(truths)))
    tasks = []
    for i, truth in enumerate(truths.tolist()):
        looks = kinds[truth][i % len(kinds[truth])]
        text = f"A leaf found {PLACES[i % len(PLACES)]}: {looks}."
        tasks.append(Task(f"leaf-{i + 1:0{digits}}", text))
    return tasks


def rehearse(service: Service) -> Campaign:
    """Make a simulated campaign, already open; its workers report in the background.

    They stop early when the campaign is closed or deleted, or when the service stops.
    """
    return service.rehearsals.start(lambda: _prepared(service)).campaign


def _prepared(service: Service) -> _Rehearsal:
    crowd = SampleCrowd(workers=WORKERS, tasks=TASKS, seed=SEED)
    policy = calibrated_policy(DOMAIN, Target(EPSILON, answers=ANSWERS))
    terms = Terms("Sample: leaves in the park", "Which tree has this leaf?", policy)
    id, invite = new_id(), new_secret(Credential.INVITE)

    def work(connection: Connection) -> Campaign:
        return _make(connection, id, terms, crowd, invite, service.today())

    return _Rehearsal(service, service.change(work), crowd, invite, LENGTH / len(crowd))


def _make(
    connection: Connection, id: str, terms: Terms, crowd: SampleCrowd, invite: str, today: date
) -> Campaign:
    """The campaign with its tasks, and the hidden link that its workers use."""
    number = add_campaign(connection, id, terms, today, simulated=True).number
    set_tasks(connection, number, crowd.tasks)
    change_campaign(connection, number, state=State.OPEN, opened_on=today)
    add_invites(connection, number, KIND, [digest(invite)], None)
    note_event(connection, "campaign.opened", today, id)
    return the_campaign(connection, id).campaign


@dataclass(frozen=True, slots=True)
class _Rehearsal:
    """A campaign and its simulated workers, who report one after another."""

    service: Service
    campaign: Campaign
    crowd: SampleCrowd
    invite: str = field(repr=False)
    pause: float

    def run(self, ending: threading.Event) -> None:
        """Send reports until all workers have reported or reports are no longer accepted."""
        try:
            with asyncio.Runner() as runner:
                for number in range(len(self.crowd)):
                    sent = self._sent(number)
                    while not ending.wait(self.pause):
                        if runner.run(self._taken(*sent)):
                            break
                    else:
                        return
        except Refused as refused:
            log.info("a rehearsal ended early", extra={"reason": str(refused.reason)})
        except Exception as error:
            # The message could contain data: only the type of the error is logged.
            log.warning("a rehearsal failed", extra={"error": type(error).__name__})

    def _sent(self, number: int) -> tuple[str, bytes]:
        """A worker's receipt, which is not stored, and its submission."""
        receipt = new_secret(Credential.RECEIPT)
        worker = pseudonym(self.campaign.id, receipt)
        return receipt, self.crowd.submission(self.campaign, number, worker).text().encode()

    async def _taken(self, receipt: str, content: bytes) -> bool:
        """Whether the reception accepts it now; not while it is busy."""
        reception, report_id = self.service.reception, secrets.token_hex(16)
        admission = reception.known_admission(self.campaign.id)
        if admission is None:
            admission = await asyncio.to_thread(reception.admission, self.campaign.id)
        try:
            await reception.receive(admission, report_id, self.invite, receipt, content)
        except Refused as refused:
            if refused.reason is not Reason.BUSY:
                raise
            return False
        return True
