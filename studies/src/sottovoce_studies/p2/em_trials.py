"""Trials of P2's private EM: compared with the plain EM at every scale L (P2 §6.2), or attacked.

Both EMs use the same answers. The server attacks a run, and the attack is scored by the labels
recovered from the totals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.api.simulate_private_em import private_terms, simulate_private_em
from sottovoce.datasets import SeededRandomness
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference import LatentLabel
from sottovoce.model import FloatArray, Reports, Result
from sottovoce.model.reports import Repeats
from sottovoce.securesum.em.contributor import contributor_of
from sottovoce.securesum.em.planner import planner_of
from sottovoce.securesum.em.simulation import run_rounds
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.em.transcript import Transcript
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.p2.attack.transcript_attack import recover_labels
from sottovoce_studies.p2.crowds import TableSource, against_theorem_1
from sottovoce_studies.p2.real_transcripts import attacked_dataset, gold_answers

__all__ = [
    "CLIP",
    "EXPONENTS",
    "NOISES",
    "PARAMETERS",
    "TIES",
    "Setting",
    "attacked",
    "attacked_real",
    "trial",
]


EXPONENTS = tuple(range(15))
"""P2 §6.2: L = 10^0 … 10^14."""
PARAMETERS = ("alpha", "beta", "mu", "p")
ROUNDS = 200

TASKS = 159
"""The number of tasks in P2's experiments."""

NOISES: Mapping[str, Mapping[str, Any]] = {
    "epsilon 1, counts": {"epsilon": 1.0},
    "epsilon 4, 2 more rounds": {"epsilon": 4.0, "delta": 1e-6, "weighted_rounds": 2},
}


TIES = ("label 0", "label 1", "half")
"""Tied votes go to a label, or count as half right."""
CLIP = 10**6
"""Probabilities stay within [1/clip, 1 - 1/clip]; P2 does not say how it avoids ln 0."""


def trial(
    source: TableSource, seed: int, clip: int = CLIP, fixed: tuple[int, ...] = ()
) -> dict[str, Any]:
    """Statistics of the data, the accuracy of each method, and the effect of each scale on the EM.

    Sums are computed in plain form; sealed sums have the same integers. `fixed` are exponents of
    scales at which the error of mu is also measured with as many rounds as the plain EM takes.
    """
    answers, truths = source.draw(seed)
    plain = LatentLabel(max_rounds=ROUNDS, floor=1 / clip).fit(LocalEngine(answers))
    votes = _votes(answers, truths)
    return {
        "workers": len(answers.workers),
        "tasks": len(answers.tasks),
        "answers": len(answers),
        "gold by label": np.bincount(truths, minlength=2).tolist(),
        "answers by label": np.bincount(answers.value, minlength=2).tolist(),
        "rounds": plain.rounds,
        "plain EM": float(np.mean(plain.truths == truths)),
        "majority vote": votes[TIES[0]],
        "votes": votes,
        "scales": [_at(10**exponent, answers, plain, truths, clip) for exponent in EXPONENTS],
        "same rounds": {str(each): _mu_error(10**each, answers, plain, clip) for each in fixed},
    }


def _votes(answers: Reports, truths: npt.NDArray[Any]) -> dict[str, float]:
    """The accuracy of the majority vote by tie rule."""
    ones = np.bincount(answers.task, answers.value, len(answers.tasks))
    twice = 2 * ones - np.bincount(answers.task, minlength=len(answers.tasks))
    right = {
        "label 0": np.where(twice == 0, truths == 0, (twice > 0) == truths),
        "label 1": np.where(twice == 0, truths == 1, (twice > 0) == truths),
    }
    found = {rule: float(np.mean(each)) for rule, each in right.items()}
    return {**found, "half": (found["label 0"] + found["label 1"]) / 2}


def _mu_error(scale: int, answers: Reports, plain: Result, clip: int) -> float:
    """The error of mu when the private EM takes the rounds of the plain one."""
    run = simulate_private_em(
        answers,
        suite="plain",
        mode="as_published",
        scale=scale,
        clip=clip,
        rounds=plain.rounds,
        tolerance=10**15,
    )
    known = _parameters(plain, np.asarray(plain.confusions))["mu"]
    return relative_error(known, _parameters(run.result, np.stack(list(run.skills.values())))["mu"])


def relative_error(known: FloatArray, found: FloatArray) -> float:
    """||ln x - ln x~|| / ||ln x|| (P2 §6.2.1).

    >>> round(relative_error(np.array([0.1, 0.1]), np.array([0.01, 0.1])), 4)
    0.7071
    """
    distance = np.linalg.norm(np.log(known) - np.log(found))
    return float(distance / np.linalg.norm(np.log(known)))


def _at(
    scale: int, answers: Reports, plain: Result, truths: npt.NDArray[Any], clip: int
) -> dict[str, float]:
    """The private EM at one scale compared with the plain one."""
    run = simulate_private_em(
        answers, suite="plain", mode="as_published", scale=scale, clip=clip, rounds=ROUNDS
    )
    known = _parameters(plain, np.asarray(plain.confusions))
    found = _parameters(run.result, np.stack(list(run.skills.values())))
    return {
        **{name: relative_error(known[name], found[name]) for name in PARAMETERS},
        "rounds": run.rounds,
        "changed": int(np.sum(run.result.truths != plain.truths)),
        "accuracy": float(np.mean(run.result.truths == truths)),
    }


def _parameters(result: Result, confusions: FloatArray) -> dict[str, FloatArray]:
    """P2's parameters: both skills of every worker, probabilities of label 1, and their mean."""
    posterior, prior = result.posterior, result.prior
    if posterior is None or prior is None:
        raise UsageError(f"{result.provenance.method} gives no posterior")
    return {
        "alpha": confusions[:, 1, 1],
        "beta": confusions[:, 0, 0],
        "mu": posterior[:, 1],
        "p": prior[1:],
    }


@dataclass(frozen=True, slots=True)
class Setting:
    """A crowd whose workers answer a share of the tasks, and the mode in which sums are opened.

    `known` is whether the server knows which tasks a worker had. P2's Protocol 1 treats them as
    secret inputs; a server that assigns and pays for tasks knows them.
    """

    workers: int
    share: float
    mode: str
    scale: int | None = None
    noise: str | None = None
    known: bool = True

    @property
    def answered(self) -> str:
        """The share of tasks that a worker answers, as text."""
        return "all" if self.share == 1 else f"{100 * self.share:.0f} %"

    def terms(self, answers: Reports) -> EMTerms:
        """The terms of the session; everything not named here has its default."""
        noise = NOISES[self.noise] if self.noise else {}
        return private_terms(answers, self.mode, scale=self.scale, **noise)

    def draw(self, seed: int) -> Reports:
        """The answers: random tasks for each worker, and 40 % of the workers good.

        Of 159 tasks those are left for which P2 Theorem 1 promises something.
        """
        answered = round(self.share * TASKS)
        drawn = LabelCrowd(self.workers, TASKS, answered, 2, "heterogeneous").draw(seed)[0]
        rows = np.flatnonzero(~against_theorem_1(drawn)[drawn.task])
        tasks, task = np.unique(drawn.task[rows], return_inverse=True)
        return Reports.of(
            drawn.worker[rows],
            task,
            drawn.value[rows],
            domain=drawn.domain,
            workers=drawn.workers,
            tasks=drawn.tasks[tasks],
        )


def attacked(setting: Setting, trial: int, seed: int) -> dict[str, int]:
    """The score of the server's attack on one run of the private EM."""
    place = [seed, trial, setting.workers, round(100 * setting.share)]
    answers = setting.draw(int(np.random.default_rng(place).integers(1 << 62)))
    transcript = transcript_of(answers, setting.terms(answers), trial, known=setting.known)
    recovery = recover_labels(transcript)
    score = recovery.score(answers)
    return {
        "rounds": len(transcript.opened),
        "tasks": len(answers.tasks),
        "rank": recovery.rank,
        "needed": recovery.needed,
        "exact": score.exact,
        "named": score.owned,
        "answers": score.answers,
        "right": score.right,
        "guessed": score.guessed,
    }


def attacked_real(
    name: str, repeats: Repeats, model: str, scale: int, sha256: tuple[str, ...]
) -> dict[str, Any]:
    """The attack on a dataset's transcript, and how many tasks are against Theorem 1's condition.

    `sha256` is the hash of its files, so that cached results are not used for other files.
    """
    found = attacked_dataset(name, repeats, model, scale=scale)
    return {**found, "against": int(against_theorem_1(gold_answers(name, repeats)).sum())}


def transcript_of(answers: Reports, terms: EMTerms, seed: int, *, known: bool = True) -> Transcript:
    """The server's view of a run, with seeded noise if any, and its assignments if known."""
    rows = [np.flatnonzero(answers.worker == worker) for worker in range(len(answers.workers))]
    label = answers.value.astype(np.int64)
    workers = [
        contributor_of(terms, answers.task[own], label[own], SeededRandomness(1000 * seed + number))
        for number, own in enumerate(rows)
    ]
    opened = run_rounds(planner_of(terms), workers)
    assigned = {
        str(name): [terms.tasks[task] for task in answers.task[own]]
        for name, own in zip(answers.workers, rows, strict=True)
    }
    return Transcript(terms, len(workers), opened, assigned if known else None)
