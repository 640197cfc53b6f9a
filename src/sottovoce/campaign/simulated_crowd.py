"""The workers of a sample campaign: leaves to tell apart, and simulated answers to them.

Nobody answered anything here, so that nothing has to be hidden from the server that computes it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.datasets.crowds import CategoricalCrowd
from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.mechanisms.codes import names_of, written_reports
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Campaign, Cells, Codes, Domain, Submission, Task, assigned

__all__ = ["DOMAIN", "SimulatedCrowd"]

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
    "by the gate", "under the bridge", "on the bench", "beside the pond", "in the long grass",
    "on the steps", "near the well", "in the ditch", "by the fountain", "on the playground",
    "behind the kiosk", "at the crossing", "in the rose bed", "along the wall", "on the lawn",
)  # fmt: skip

DOMAIN = Domain.categorical(LEAVES)


class SimulatedCrowd:
    """Tasks whose texts show what is right, and workers of mixed ability who answer them.

    One worker in seven guesses, some tasks are hard for all. Answers and noise come from the seed.

    >>> crowd = SimulatedCrowd(workers=3, tasks=60, seed=1)
    >>> print(crowd.tasks[0].name, "|", crowd.tasks[0].text)
    leaf-01 | A leaf found by the gate: rounded lobes and a short stalk.
    """

    def __init__(self, *, workers: int, tasks: int, seed: int) -> None:
        crowd = CategoricalCrowd(
            workers=workers, tasks=tasks, labels=DOMAIN.size, redundancy=workers,
            ability="spammers", share=1 / 7, accuracy=0.75, difficulty=0.4, seed=seed,
        )  # fmt: skip
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
        """What the worker of this number and pseudonym reports, stamped as simulated.

        Noise follows from the seed and from who reported before.
        """
        policy = campaign.terms.policy
        mechanism, randomness = mechanism_of(policy), self._randomness
        places = assigned(campaign.id, worker, campaign.tasks, campaign.block)
        tasks, count = [self.tasks[place].name for place in places], len(places)
        cells = Cells(
            np.zeros(count, np.int32), np.arange(count, dtype=np.int32),
            self._answers[number, places], names_of([worker]), names_of(tasks),
        )  # fmt: skip
        drawn = mechanism.perturb(cells, mechanism.draw(1, randomness), randomness)
        written = written_reports(drawn.code, mechanism.alphabet, policy.domain)
        return Submission(
            policy.hash, worker, tuple(tasks), tuple(written), simulated=randomness.simulated
        )


def _tasks(truths: Codes) -> Sequence[Task]:
    """Leaves as somebody might describe them; names in order, as a submission has them."""
    kinds, digits = tuple(LEAVES.values()), len(str(len(truths)))
    tasks = []
    for i, truth in enumerate(truths.tolist()):
        looks = kinds[truth][i % len(kinds[truth])]
        text = f"A leaf found {PLACES[i % len(PLACES)]}: {looks}."
        tasks.append(Task(f"leaf-{i + 1:0{digits}}", text))
    return tasks
