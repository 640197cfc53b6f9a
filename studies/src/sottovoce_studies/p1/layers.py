"""One and two layers of noise on the same answers, with P1's methods and ours.

One cell is one trial: its answers, its noise words, and the error of every method to the truth.
`error_changes` evaluates them. P1 leaves open how its methods break ties and a few other points
(`OPEN`); all studies of P1 use `AS_PRINTED`, the setting under which Table 3 comes out, and
`settings_at` has the errors under any other.

Another kind of cell has TD's weights of workers before and after two layers of noise. There the
flip probabilities are known: they are drawn, and then set for one worker at a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.inference.steps.arithmetic import TIE
from sottovoce.mechanisms.codes import answer_cells, report_table
from sottovoce.mechanisms.policies import policy_of
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import WORDS, Domain, FloatArray, Policy, Private, Reports, Result, Unit
from sottovoce.planning.pipelines import AWARE
from sottovoce.planning.trials import best_constant, error_of, trial_seed
from sottovoce.seams import Release
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Dataset, Source

__all__ = [
    "AS_PRINTED",
    "FLIPS",
    "METHODS",
    "OPEN",
    "OURS",
    "PICKED",
    "PUBLISHED",
    "Setting",
    "clean_errors",
    "drawn",
    "errors_at",
    "most_answers",
    "noise_seed",
    "one_layer",
    "read_as_printed",
    "same_guarantee",
    "settings_at",
    "two_layer",
    "weights_after",
    "weights_at",
]


READERS: Mapping[str, str] = MappingProxyType({"MV": "majority-vote", "TD": "td", "aware": AWARE})
"""Inference methods: P1's majority vote and truth discovery, and noise-aware inference."""

PUBLISHED = ("one-layer MV", "one-layer TD", "two-layer MV", "two-layer TD")
"""P1's four methods, as its tables name them."""
OURS = ("one-layer aware", "two-layer aware", "equal TD", "equal aware")
"""Ours on the same reports, and one layer at the true guarantee of two (`equal`)."""
METHODS = (*PUBLISHED, *OURS)

OPEN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "tie rule": ("label 0", "random"),
        "divisor": ("answered", "all questions"),
        "rounds": ("10", "20", "100"),
        "clipping": ("0.02", "1e-06"),
    }
)
"""The points of majority vote and TD that P1 does not state, with the choices tried.

- Tie rule: argmax chooses label 0 among tied labels, in the rounds of TD too; or a tie is broken at
  random, and tied labels share the agreement in the rounds.
- P1 divides the matches of a worker by the number of all questions (Eq. 2), but calls the quotient
  the probability of a correct answer, which is over the questions answered.
- P1 iterates until convergence, without a rule; 100 rounds are enough for weights to converge.
- The log-odds of an accuracy of 0 or 1 are infinite, so accuracies must be kept away from them.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """One choice for each of the open points, in the order of `OPEN`."""

    ties: str = "label 0"
    divisor: str = "answered"
    rounds: str = "20"
    clipping: str = "0.02"

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Setting:
        """The setting of a choice."""
        return cls(*(values[point] for point in OPEN))

    @property
    def values(self) -> dict[str, str]:
        """The choices by the name of the point."""
        chosen = (self.ties, self.divisor, self.rounds, self.clipping)
        return dict(zip(OPEN, chosen, strict=True))

    @property
    def parameters(self) -> dict[str, str | int | float]:
        """The parameters of our TD."""
        return {
            "round_ties": "first" if self.ties == "label 0" else "shared",
            "divide_by": "answered" if self.divisor == "answered" else "tasks",
            "max_rounds": int(self.rounds),
            "floor": float(self.clipping),
        }


AS_PRINTED = Setting()
"""The setting under which P1's Table 3 comes out (study `p1-table-3`)."""

_ANSWERS, _NOISE = 0, 1

FLIPS = (0.46, 0.01)
"""The flip probabilities that P1 names below Figure 2: a large one and a small one."""

PICKED = 6
"""The number of workers picked at random in a trial."""


def errors_at(source: Source, epsilon: float, trial: int, seed: int) -> dict[str, float]:
    """The error of each method to the truth in one trial at a nominal epsilon, which may be 0.

    The result also has the error of each method on the answers themselves (`clean MV`, …), and of
    the best constant. All methods have the same answers and the same noise words, and the setting
    `AS_PRINTED`: ties go to label 0.
    """
    answers, truths = drawn(source, trial, seed)
    noise = noise_seed(epsilon, trial, seed)
    policies = _policies(answers.domain, epsilon, most_answers(answers))
    errors = {}
    for layer, policy in policies.items():
        reports = perturb(answers, policy, SeededRandomness(noise))
        for reader, method in READERS.items():
            if f"{layer} {reader}" in METHODS:
                read = _read(reports, method, AS_PRINTED, policy)
                errors[f"{layer} {reader}"] = error_of(read, truths)
    clean = clean_errors(source, trial, seed)
    known = {f"clean {reader}": error for reader, error in clean.items()}
    return {**errors, **known, CONSTANT: best_constant(truths).error}


def settings_at(
    source: Source, epsilon: float, trial: int, seed: int, settings: Sequence[Setting]
) -> list[dict[str, float]]:
    """The errors of P1's four methods under each setting, on the reports of `errors_at`.

    Each also has the errors without noise. Random ties are broken with the trial's seed; without
    noise they count in part, which is the mean over random choices.
    """
    answers, truths = drawn(source, trial, seed)
    noise = noise_seed(epsilon, trial, seed)
    policies = _policies(answers.domain, epsilon, most_answers(answers))
    reports = {
        layer: perturb(answers, policies[layer], SeededRandomness(noise))
        for layer in ("one-layer", "two-layer")
    }
    # Majority vote depends on the tie rule only.
    votes = {
        (layer, ties): error_of(_read(table, READERS["MV"], Setting(ties), seed=noise), truths)
        for layer, table in reports.items()
        for ties in dict.fromkeys(setting.ties for setting in settings)
    }
    found = []
    for setting in settings:
        clean = clean_errors(source, trial, seed, setting)
        errors = {f"clean {reader}": clean[reader] for reader in ("MV", "TD")}
        for layer, table in reports.items():
            read = _read(table, READERS["TD"], setting, seed=noise)
            errors[f"{layer} MV"] = votes[layer, setting.ties]
            errors[f"{layer} TD"] = error_of(read, truths)
        found.append(errors)
    return found


def drawn(source: Source, trial: int, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
    """The answers of a trial and their truths; those of a dataset are the same in every trial."""
    return source.draw(_answers_seed(source, trial, seed))


def noise_seed(epsilon: float, trial: int, seed: int) -> int:
    """The seed of a trial's noise, different for every epsilon: P1's trials are independent."""
    return trial_seed(seed, _NOISE, trial, round(1_000_000 * epsilon))


def most_answers(answers: Reports) -> int:
    """The largest number of answers of a worker: a guarantee must hold for this worker too."""
    return int(np.bincount(answers.worker).max())


def one_layer(domain: Domain, epsilon: float) -> RandomizedResponse:
    """Randomised response at epsilon per answer (P1 Thm. 6.2); uniform over labels at 0."""
    if epsilon == 0:
        return RandomizedResponse(domain.size, WORDS // domain.size)
    return RandomizedResponse.calibrated(domain, epsilon)


def two_layer(domain: Domain, epsilon: float) -> TwoLayer:
    """P1's U(0, b) at its nominal epsilon (Thm. 6.3); at 0, two labels have U(0, 1)."""
    return TwoLayer.as_published(domain, epsilon)


def same_guarantee(domain: Domain, epsilon: float, answers: int) -> RandomizedResponse:
    """One layer with the true (ε, δ) per answer of two layers at nominal ε for k answers.

    At ε, randomised response with probability q of each other label has
    δ = 1 - (s - 1) q - e^ε q, and so

        q = (1 - δ) / (s - 1 + e^ε),   δ = δ_k(ε) of U(0, b)

    >>> found = same_guarantee(Domain.categorical("ab"), 1.0, 100)
    >>> promised = two_layer(Domain.categorical("ab"), 1.0).delta(1.0, 100, Unit.ANSWER)
    >>> abs(found.delta(1.0, 1, Unit.ANSWER) - promised) < 1e-12
    True
    """
    delta = two_layer(domain, epsilon).delta(epsilon, answers, Unit.ANSWER)
    others = domain.size - 1 + math.exp(epsilon)
    return RandomizedResponse(domain.size, round(WORDS * (1 - delta) / others))


def clean_errors(
    source: Source, trial: int, seed: int, setting: Setting = AS_PRINTED
) -> Mapping[str, float]:
    """The error of each method on the answers of a trial; random ties count in part.

    The aware method treats the answers as reports with flip probability 2⁻⁶⁴.
    """
    if isinstance(source, Dataset):
        return _errors_of_dataset(source, setting)
    return _errors_of_answers(*drawn(source, trial, seed), setting)


@lru_cache(maxsize=64)
def _errors_of_dataset(dataset: Dataset, setting: Setting) -> Mapping[str, float]:
    return _errors_of_answers(*dataset.draw(0), setting)


def _errors_of_answers(
    answers: Reports, truths: npt.NDArray[Any], setting: Setting
) -> Mapping[str, float]:
    faithful = policy_of(RandomizedResponse(answers.domain.size, 1), answers.domain, None)
    error = error_of if setting.ties == "label 0" else _in_part
    return {
        reader: error(_read(answers, method, setting, faithful, seed=0), truths)
        for reader, method in READERS.items()
        if setting == AS_PRINTED or method != AWARE
    }


def _answers_seed(source: Source, trial: int, seed: int) -> int:
    return 0 if isinstance(source, Dataset) else trial_seed(seed, _ANSWERS, trial)


@lru_cache(maxsize=64)
def _policies(domain: Domain, epsilon: float, answers: int) -> Mapping[str, Policy]:
    mechanisms: dict[str, Release] = {
        "one-layer": one_layer(domain, epsilon),
        "two-layer": two_layer(domain, epsilon),
        "equal": same_guarantee(domain, epsilon, answers),
    }
    return {name: policy_of(each, domain, None) for name, each in mechanisms.items()}


def _read(
    reports: Reports,
    method: str,
    setting: Setting,
    policy: Policy | None = None,
    seed: int | None = None,
) -> Result:
    parameters = setting.parameters if method == READERS["TD"] else {}
    random = setting.ties == "random"
    # Compiled kernels are faster for hundreds of fits, at any size.
    return infer(
        reports,
        method,
        parameters=parameters,
        policy=policy,
        ties="random" if random else "first",
        seed=seed if random else None,
        compiled=True,
    )


def read_as_printed(reports: Reports, method: str, policy: Policy | None) -> Result:
    """The result of a method on reports in the setting `AS_PRINTED`."""
    return _read(reports, method, AS_PRINTED, policy)


def _in_part(result: Result, truths: npt.NDArray[Any]) -> float:
    """The mean error when ties are broken at random."""
    if result.posterior is None:
        return error_of(result, truths)
    known = np.flatnonzero(truths >= 0)
    posterior = result.posterior[known]
    top = posterior.max(axis=1, keepdims=True)
    best = posterior >= top - TIE * np.abs(top)
    right = best[np.arange(len(known)), truths[known]] / best.sum(axis=1)
    return float(1 - right.mean())


def weights_at(source: Source, epsilon: float, trial: int, seed: int) -> dict[str, Any]:
    """Weights in one trial: without noise, with drawn flips, and with one worker's flips set.

    `set` has, for each of `FLIPS`, the weight of each picked worker when only this worker has that
    flip probability. `shown` has the weights of all picked workers when the second of them does.
    """
    answers, _ = drawn(source, trial, seed)
    noise = noise_seed(epsilon, trial, seed)
    workers = len(answers.workers)
    picked = np.random.default_rng(noise).choice(workers, PICKED, replace=False)
    flips = _drawn_flips(answers, epsilon, noise)
    found: dict[str, Any] = {
        "before": _td(answers).tolist(),
        "after": weights_after(answers, epsilon, flips, noise).tolist(),
        "flips": flips.tolist(),
        "picked": picked.tolist(),
        "set": [],
        "shown": [],
    }
    for flip in FLIPS:
        after = [weights_after(answers, epsilon, _with(flips, one, flip), noise) for one in picked]
        found["set"].append([float(w[one]) for w, one in zip(after, picked, strict=True)])
        found["shown"].append(after[1][picked].tolist())
    return found


def weights_after(
    answers: Reports, epsilon: float, flips: FloatArray | Sequence[float], seed: int
) -> FloatArray:
    """TD's weights when each worker flips its answers with a given probability."""
    mechanism = two_layer(answers.domain, epsilon)
    policy = policy_of(mechanism, answers.domain, None)
    private = Private(np.array([int(flip * WORDS) for flip in flips], np.uint64))
    cells = answer_cells(answers, policy.domain)
    reports = mechanism.perturb(cells, private, SeededRandomness(seed))
    table = report_table(reports, mechanism.alphabet, policy.domain, simulated=True)
    return _td(table)


def _td(table: Reports) -> FloatArray:
    return _read(table, READERS["TD"], AS_PRINTED).weights


def _drawn_flips(answers: Reports, epsilon: float, seed: int) -> FloatArray:
    # Different words from those of the second layer.
    drawn_words = two_layer(answers.domain, epsilon).draw(
        len(answers.workers), SeededRandomness(seed + 1)
    )
    return np.asarray(drawn_words.values / WORDS, np.float64)


def _with(flips: FloatArray, worker: int, flip: float) -> FloatArray:
    changed = flips.copy()
    changed[worker] = flip
    return changed
